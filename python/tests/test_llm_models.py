# ===- test_llm_models.py - Kinds of models that write text -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import luminal
import pytest
import tiny_checkpoint
import torch
import transformers
from luminal import llm
from luminal.llm import _pages
from test_serve import Client

PROMPT = "The river turns the wheel, and the rain"


# test_llm.py tests Llama. The other models consist of the parts of the chosen ones; LUMINAL_ALL_ARCHITECTURES=1 tests
# all.
CHOSEN = [name for name in tiny_checkpoint.MODELS if name not in ("llama", "gemma3", "mixtral", "qwen3_moe")
          or os.environ.get("LUMINAL_ALL_ARCHITECTURES") and name != "llama"]


@pytest.mark.parametrize("name", CHOSEN)
def test_greedy_text_is_that_of_transformers(name, tmp_path):
    """Greedy text of a checkpoint folder, from Python and over HTTP."""
    model = tiny_checkpoint.write(tmp_path, name)
    ours = llm.LLM(tmp_path, chunk=8, cache_length=128)
    done, ids = ours.generate(PROMPT, max_tokens=40), ours.encode(PROMPT)
    with torch.no_grad():
        want = model.generate(torch.tensor([ids]), max_new_tokens=40, do_sample=False)[0, len(ids):].tolist()
    assert done.tokens == want and len(set(want)) > 4
    assert done.text == ours.tokenizer.decode(want, skip_special_tokens=True)
    client = Client(ours)
    try:
        assert client.complete(prompt=PROMPT, max_tokens=40)["choices"][0]["text"] == done.text
    finally:
        client.close()


EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
WINDOW = {"sliding_window": 8}
MODELS = {
    "Gemma2": WINDOW, "Gemma3nText": {**WINDOW, "hidden_size_per_layer_input": 16, "num_kv_shared_layers": 2, "vocab_size_per_layer_input": 320,
                                      "intermediate_size": [96] * 4, "activation_sparsity_pattern": None, "laurel_rank": 8},
    "Llama4Text": {"attention_chunk_size": 8, "num_local_experts": 2, "intermediate_size_mlp": 96}, "GPT2": {}, "GPTNeoX": {}, "OPT": {},
    "Phi3": WINDOW, "Mistral": WINDOW, "Cohere2": WINDOW, "Olmo3": WINDOW, "SmolLM3": {}, "Exaone4": WINDOW, "StableLm": {},
    "Glm4Moe": {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_group": 1, "topk_group": 1},
    "Afmoe": {**WINDOW, **EXPERTS, "num_dense_layers": 1}, "MiMoV2Flash": WINDOW, "Granite": {}, "Bert": {"is_decoder": True},
}
SIZES = {**tiny_checkpoint._SIZES, "num_hidden_layers": 4}


def make(name):
    config = getattr(transformers, name + "Config")(**SIZES | (MODELS | REFUSED)[name])
    model = transformers.AutoModelForCausalLM.from_config(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.normal_(std=0.3) if parameter.dim() > 1 else parameter.add_(0.1 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("name", MODELS)
def test_a_step_is_the_model(name):
    """Two texts of different lengths, in pages in any order: the logits of each token equal those of the whole text at
    once."""
    model, ids = make(name), torch.randint(1, 300, (2, 24))
    with torch.no_grad():
        want = model(ids).logits.float()
        step = _pages.Step(model, 32, 4)
        table = torch.tensor([[3, 5, 1, 9, 12, 20], [2, 4, 6, 8, 10, 13]])
        lengths = [10, 13]
        for row, length in enumerate(lengths):
            logits, _ = step(ids[row:row + 1, :length], torch.arange(length)[None], table[row:row + 1, :4])
            torch.testing.assert_close(logits[0], want[row, length - 1], atol=1e-3, rtol=1e-3)
        for _ in range(10):
            logits, _ = step(torch.stack([ids[row, at:at + 1] for row, at in enumerate(lengths)]), torch.tensor(lengths)[:, None], table)
            torch.testing.assert_close(logits, torch.stack([want[row, at] for row, at in enumerate(lengths)]), atol=1e-3, rtol=1e-3)
            lengths = [at + 1 for at in lengths]


STATES = "keep more than keys and values"
REFUSED = {
    "Mamba2": {"num_heads": 8, "state_size": 16, "n_groups": 1}, "RecurrentGemma": {}, "MiniMax": {"num_local_experts": 2},
    "FalconH1": {"mamba_d_ssm": 64, "mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 16, "mamba_n_groups": 1},
    "Qwen3Next": {**EXPERTS, "shared_expert_intermediate_size": 32, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
                  "linear_key_head_dim": 16, "linear_value_head_dim": 16},
    "Bloom": {}, "GPTJ": {"rotary_dim": 8}, "Doge": {}, "DiffLlama": {},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_pages_cannot_hold_is_refused(name):
    """Each of these raises an error instead of giving wrong results."""
    message = {"Bloom": "4 of its 4 layers do not use transformers' AttentionInterface", "Doge": "its attention uses its own mask",
               "GPTJ": "4 of its 4 layers do not use", "DiffLlama": "a layer calls attention more than once"}.get(name, STATES)
    with pytest.raises(luminal.ArgumentError, match=f"{name}ForCausalLM cannot be run over pages: .*{message}"):
        _pages.Step(make(name), 8, 4)


def test_layers_that_share_keys_have_one_cache(monkeypatch):
    step = _pages.Step(tiny_checkpoint.MODELS["gemma4_shared"](), 8, 4)
    monkeypatch.setattr(_pages, "_find_layers", lambda model: [0])
    with pytest.raises(luminal.ArgumentError, match="share keys and values through transformers' cache alone"):
        _pages.Step(tiny_checkpoint.MODELS["llama"](), 8, 4)
    assert step.layers == [0, 1] and [step.pool.owners[i] for i in range(4)] == [0, 1, 0, 1]
    assert step.keys_0.shape == (32, 2, 16) and step.keys_1.shape == (32, 2, 32)


ROTATIONS = {
    "dynamic": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(
        **tiny_checkpoint._SIZES, rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4})),
    "longrope": lambda: transformers.Phi3ForCausalLM(transformers.Phi3Config(**tiny_checkpoint._SIZES, rope_parameters={
        "rope_type": "longrope", "short_factor": [1.5] * 8, "long_factor": [4.0] * 8, "rope_theta": 1e4},
        original_max_position_embeddings=64)),
}


@pytest.mark.parametrize("name", ROTATIONS)
def test_rotations_that_depend_on_the_length_of_a_text(name, tmp_path, monkeypatch):
    monkeypatch.setitem(tiny_checkpoint.MODELS, name, ROTATIONS[name])
    model = tiny_checkpoint.write(tmp_path, name)
    ours = llm.LLM(tmp_path, chunk=8, cache_length=64)
    ids = ours.encode(PROMPT)
    with torch.no_grad():
        want = model.generate(torch.tensor([ids]), max_new_tokens=30, do_sample=False)[0, len(ids):].tolist()
    assert ours.generate(ids, max_tokens=30).tokens == want
    if name == "longrope":
        with pytest.raises(luminal.ArgumentError, match="cache_length is 65: Phi3ForCausalLM rotates .* more than 64 tokens"):
            llm.LLM(tmp_path, cache_length=65)
