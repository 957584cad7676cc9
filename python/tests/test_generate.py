# ===- test_generate.py - generate() of transformers with caches -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import helpers
import pytest
import torch
import transformers

SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 256,
         "max_position_embeddings": 128}
MODELS = {
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, num_key_value_heads=2)),
    "qwen3": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=16)),
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_embd=64, n_layer=2, n_head=4, vocab_size=256, n_positions=128, bos_token_id=0, eos_token_id=0)),
}


GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=GPU)])
@pytest.mark.parametrize("name, cache", [("llama", None), ("llama", "static"), ("qwen3", None), ("gpt2", None)])
def test_thirty_greedy_tokens(name, cache, device, compiles):
    model = MODELS[name]().eval().to(device)
    ids = torch.randint(1, 256, (1, 7), device=device)
    # On a GPU, transformers would itself compile the static cache with Inductor.
    kwargs = {"max_new_tokens": 30, "do_sample": False, "pad_token_id": 0, "eos_token_id": None, "disable_compile": True}
    with torch.no_grad():
        expected = model.generate(ids, **kwargs)
        model.forward = helpers.compile(model.forward)
        got = model.generate(ids, **kwargs, **({"cache_implementation": cache} if cache else {}))
        assert torch.equal(got, expected)
        assert len(compiles) <= 3
        # A second prompt of the same length compiles nothing new.
        seen = len(compiles)
        model.generate(ids.flip(1), **kwargs, **({"cache_implementation": cache} if cache else {}))
        assert len(compiles) == seen
