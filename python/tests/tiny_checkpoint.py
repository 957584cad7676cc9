#!/usr/bin/env python3
# ===- tiny_checkpoint.py - A checkpoint folder of a few kilobytes -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a causal language model with random weights as Hugging Face lays it out: a configuration, weights in shards with an
index, and a tokenizer that was trained on a page of text, with a template for chats.

    python python/tests/tiny_checkpoint.py FOLDER [llama|qwen3|gemma3|mixtral]
"""
import pathlib
import sys

import tokenizers
import torch
import transformers

TEXT = """A compiler reads a program and writes another that means the same. It may choose any that does: the one that is
fastest here, on this machine, today. What is equal is proved; what is fast is measured. The rain in the hills fills the
river, the river turns the wheel, and the wheel grinds the corn of the village, which is not a small thing for a river.
"""
TEMPLATE = ("{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}")
SPECIAL = ["<end>", "<|user|>", "<|system|>", "<|assistant|>"]
_SIZES = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "head_dim": 16, "max_position_embeddings": 256, "vocab_size": 320, "bos_token_id": None, "eos_token_id": 0,
          "pad_token_id": 0}
MODELS = {
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**_SIZES)),
    "qwen3": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**_SIZES)),
    "gemma3": lambda: transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(
        **_SIZES, sliding_window=16, layer_types=["sliding_attention", "full_attention"])),
    "mixtral": lambda: transformers.MixtralForCausalLM(transformers.MixtralConfig(
        **_SIZES, num_local_experts=4, num_experts_per_tok=2)),
}


def make_tokenizer():
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.train_from_iterator([TEXT], tokenizers.trainers.BpeTrainer(
        vocab_size=_SIZES["vocab_size"], special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>", pad_token="<end>",
                                                chat_template=TEMPLATE)


def write(folder, name="llama", seed=0):
    """Returns the model that the folder holds."""
    torch.manual_seed(seed)
    model = MODELS[name]().eval()
    with torch.no_grad():  # so that no token is the likeliest everywhere
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.3)
    model.save_pretrained(folder, max_shard_size="100KB")
    make_tokenizer().save_pretrained(folder)
    return model


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), *sys.argv[2:])
