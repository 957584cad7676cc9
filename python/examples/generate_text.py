# ===- generate_text.py - generate() of transformers, unchanged -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the forward of a decoder; ``generate`` calls it for the prompt and for each token, with its cache."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

model = LlamaForCausalLM(LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                                     num_key_value_heads=2, vocab_size=256, max_position_embeddings=128)).eval()
prompt = torch.randint(1, 256, (1, 7))
settings = {"max_new_tokens": 20, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}

with torch.no_grad():
    expected = model.generate(prompt, **settings)
    model.forward = torch.compile(model.forward, backend="luminal")
    tokens = model.generate(prompt, **settings)
assert torch.equal(tokens, expected)
print("prompt", prompt[0].tolist())
print("tokens", tokens[0, 7:].tolist())
