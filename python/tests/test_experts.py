# ===- test_experts.py - Products of rows by groups ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts: each row is multiplied by the matrix of the expert to which it is routed."""
import copy
import os

import helpers
import luminal
import pytest
import torch
from luminal._backend import backend


def test_the_ops_of_transformers_that_the_importer_knows():
    pytest.importorskip("transformers.integrations.moe")
    product = torch.ops.transformers.grouped_mm_fallback
    x, w = torch.randn(6, 4), torch.randn(3, 4, 5)
    ends = torch.tensor([2, 2, 6], dtype=torch.int32)
    helpers.same(torch.compile(product, backend=backend, fullgraph=True)(x, w, ends), product(x, w, ends))


def test_grouped_products():
    """Rows for every group, for some groups, and for one group only, without a graph break."""
    x, w = torch.randn(24, 16).bfloat16(), torch.randn(4, 32, 16).bfloat16()
    function = torch.compile(lambda x, w, ends: torch._grouped_mm(x, w.mT, offs=ends), backend=backend, fullgraph=True)
    for cuts in ([3, 9, 10, 24], [0, 20, 20, 24], [24] * 4, [0, 0, 0, 24]):
        ends = torch.tensor(cuts, dtype=torch.int32)
        helpers.same(function(x, w, ends), torch._grouped_mm(x, w.mT, offs=ends))


@pytest.mark.parametrize("tokens", [1, 5, 40])
def test_a_block_of_experts_is_one_program(tokens):
    """Each expert's rows form a group; there is no graph break, and no expert is selected in Python."""
    moe = pytest.importorskip("transformers.models.qwen3_moe.modeling_qwen3_moe")
    config = pytest.importorskip("transformers.models.qwen3_moe.configuration_qwen3_moe").Qwen3MoeConfig(
        hidden_size=32, moe_intermediate_size=24, num_experts=6, num_experts_per_tok=2, norm_topk_prob=True)
    config._experts_implementation = "grouped_mm"
    torch.manual_seed(tokens)
    block = moe.Qwen3MoeSparseMoeBlock(config).eval()
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    x = torch.randn(1, tokens, 32)
    with torch.no_grad():
        helpers.same(luminal.compile(block, (x,))(x), block(x))
        helpers.same(torch.compile(block, backend=backend, fullgraph=True)(x), block(x))


def module_of(name):
    """The class and configuration of a small block of experts of a transformers model."""
    import importlib
    folder, config, block, sizes = {
        "mixtral": ("mixtral", "MixtralConfig", "MixtralSparseMoeBlock",
                    {"intermediate_size": 24, "num_local_experts": 6, "num_experts_per_tok": 2}),
        "deepseek_v3": ("deepseek_v3", "DeepseekV3Config", "DeepseekV3MoE",
                        {"moe_intermediate_size": 24, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 4,
                         "topk_group": 2, "n_shared_experts": 1}),
        "gpt_oss": ("gpt_oss", "GptOssConfig", "GptOssMLP",
                    {"intermediate_size": 24, "num_local_experts": 6, "num_experts_per_tok": 2}),
        "llama4": ("llama4", "Llama4TextConfig", "Llama4TextMoe",
                   {"intermediate_size": 24, "intermediate_size_mlp": 24, "num_local_experts": 6, "num_experts_per_tok": 1}),
    }[name]
    module = f"transformers.models.{folder}"
    config = getattr(pytest.importorskip(f"{module}.configuration_{folder}"), config)(hidden_size=32, **sizes)
    return getattr(importlib.import_module(f"{module}.modeling_{folder}"), block), config


@pytest.mark.parametrize("implementation", ["batched_mm", "grouped_mm"])
@pytest.mark.parametrize("name", ["mixtral", "deepseek_v3", "gpt_oss", "llama4"])
def test_experts_of_models(name, implementation):
    """The variants of transformers, batched and grouped, including biases, clamps, shared experts and groups of experts.
    """
    block, config = module_of(name)
    config._experts_implementation = implementation
    torch.manual_seed(0)
    block = block(config).eval()
    for tensor in [*block.parameters(), *(b for b in block.buffers() if b.is_floating_point())]:
        torch.nn.init.normal_(tensor, std=0.3)
    x = torch.randn(1, 10, 32)
    with torch.no_grad():
        helpers.same(luminal.compile(block, (x,))(x), block(x))


SMALL = {"vocab_size": 96, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
MODELS = {
    "mixtral": {"num_local_experts": 6, "num_experts_per_tok": 2},
    "qwen3_moe": {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "head_dim": 8},
    "deepseek_v3": {"first_k_dense_replace": 0, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 4, "topk_group": 2,
                    "moe_intermediate_size": 24, "n_shared_experts": 1, "q_lora_rank": 16, "kv_lora_rank": 16,
                    "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "num_key_value_heads": 4},
    "gpt_oss": {"num_local_experts": 6, "num_experts_per_tok": 2, "head_dim": 8, "layer_types": ["full_attention"],
                "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
    "gemma4_text": {"enable_moe_block": True, "num_experts": 6, "top_k_experts": 2, "moe_intermediate_size": 24, "head_dim": 8,
                    "global_head_dim": 8, "hidden_size_per_layer_input": 0, "layer_types": ["full_attention"],
                    "num_kv_shared_layers": 0},
}


def send_to_few(model):
    """Makes the logits of all experts multiples of one number, so that tokens go to the first or the last experts only.
    """
    routers = [p for n, p in model.named_parameters() if n.endswith(("mlp.gate.weight", "router.weight", "router.proj.weight"))]
    assert routers
    for weight in routers:
        weight.copy_(torch.outer(torch.linspace(1, -1, len(weight)), 0.2 * torch.randn(weight.shape[1])))


# The other models' blocks are tested above; LUMINAL_ALL_ARCHITECTURES=1 tests all models.
CHOSEN = list(MODELS) if os.environ.get("LUMINAL_ALL_ARCHITECTURES") else ["deepseek_v3", "gpt_oss", "gemma4_text"]


@pytest.mark.parametrize("name", CHOSEN)
def test_models_with_experts(name, compiles):
    """generate() returns eager's tokens even if most experts get none, without recompiling; bf16 is as accurate as in
    eager mode."""
    transformers = pytest.importorskip("transformers")
    try:
        config = transformers.AutoConfig.for_model(name, **SMALL | MODELS[name])
    except ValueError:
        pytest.skip(f"transformers {transformers.__version__} has no {name}")
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    arguments = {"max_new_tokens": 6, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    ids = torch.randint(3, 96, (2, 7))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.2)
        eager, compiled = model.forward, helpers.compile(model.forward, fullgraph=True)
        for change in (lambda model: None, send_to_few):
            change(model)
            model.forward = eager
            expected = model.generate(ids, **arguments)
            model.forward = compiled
            seen = len(compiles)
            assert torch.equal(model.generate(ids, **arguments), expected)
        assert len(compiles) == seen > 0
        model.forward = eager
        narrow = copy.deepcopy(model).bfloat16()
        exact = copy.deepcopy(narrow).float()(ids, use_cache=False).logits
        got = luminal.compile(narrow, (ids,), {"use_cache": False})(ids, use_cache=False).logits
        # A token for which two experts are equally good may be routed differently.
        error = (got - exact).norm(dim=-1).median()
        limit = 4 * (narrow(ids, use_cache=False).logits - exact).norm(dim=-1).median()
        assert error <= limit < exact.norm(dim=-1).median() / 4


def test_llama4_whole():
    """Llama 4 rotates positions by complex numbers."""
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model("llama4_text", **SMALL | {
        "num_local_experts": 6, "intermediate_size_mlp": 48, "head_dim": 8})
    model, ids = transformers.AutoModelForCausalLM.from_config(config).eval(), torch.randint(3, 96, (2, 7))
    with torch.no_grad():
        expected = model(ids, use_cache=False).logits
        helpers.same(helpers.compile(model, fullgraph=True)(ids, use_cache=False).logits, expected)
        helpers.same(luminal.compile(model, (ids,), {"use_cache": False})(ids, use_cache=False).logits, expected)


def of_each_token(x, experts, weights, up, down):
    """Gathers a matrix for each of a token's experts, in a single product."""
    rows = torch.einsum("th,tehi->tei", x, up[experts]).relu()
    return torch.einsum("tei,teih,te->th", rows, down[experts], weights.to(x.dtype))


def of_each_row(x, experts, weights, up, down):
    """The same for a list of rows, as transformers writes it for few rows."""
    rows = x.repeat_interleave(experts.shape[1], 0)[:, None]
    rows = torch.bmm(torch.bmm(rows, up[experts.flatten()]).relu(), down[experts.flatten()])
    return (rows.view(*experts.shape, -1) * weights.to(x.dtype)[..., None]).sum(1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("function", [of_each_token, of_each_row])
def test_gathered_experts_are_grouped(function, dtype, compiles):
    """One program serves any routing, including all tokens going to one expert."""
    compiled = helpers.compile(function, fullgraph=True)
    up, down = (torch.randint(-1, 2, (5, *shape)).to(dtype) for shape in ((16, 8), (8, 16)))
    for used in (5, 2, 1, 5):
        x = torch.randint(-1, 2, (40, 16)).to(dtype)
        experts = torch.randperm(5)[torch.randint(0, used, (40, 2))]
        weights = 2.0 ** torch.randint(-2, 2, (40, 2))
        # Small integers times powers of two, so that every sum is exact.
        wide = (t.float() for t in (x, weights, up, down))
        x32, weights32, up32, down32 = wide
        expected = function(x32, experts, weights32, up32, down32)
        torch.testing.assert_close(compiled(x, experts, weights, up, down), expected.to(dtype), rtol=0, atol=0)
    assert len(compiles) == 1


def by_groups(x, experts, weights, up, down):
    """The weighted experts of each row, as models write it: with rows sorted by expert."""
    each = experts.shape[1]
    order = experts.flatten().argsort(stable=True)
    ends = torch.histc(experts.flatten()[order].float(), up.shape[0], 0, up.shape[0] - 1).cumsum(0).int()
    rows = torch._grouped_mm(torch._grouped_mm(x[order // each], up, offs=ends).relu(), down, offs=ends)
    rows = rows * weights.flatten()[order][:, None]
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order))
    return rows[back].view(len(x), each, -1).sum(1)


def test_random_routings():
    """One program serves 200 routings: experts without rows, one with all rows, and any assignment of rows."""
    torch.manual_seed(1)
    count, tokens, each = 7, 12, 3
    up, down = (torch.randint(-1, 2, (count, *shape)).bfloat16() for shape in ((16, 8), (8, 16)))
    function = torch.compile(by_groups, backend=backend, fullgraph=True)
    for number in range(200):
        x = torch.randint(-1, 2, (tokens, 16)).bfloat16()
        weights = 2.0 ** torch.randint(-2, 2, (tokens, each))
        used = 1 + number % count
        experts = torch.randperm(count)[torch.randint(0, used, (tokens, each))]
        # Small integers (in bf16 too) times powers of two, so that every sum is exact.
        expected = torch.stack([sum(weights[t, i] * (x[t].float() @ up[e].float()).relu() @ down[e].float()
                                    for i, e in enumerate(experts[t])) for t in range(tokens)])
        torch.testing.assert_close(function(x, experts, weights, up, down), expected, rtol=0, atol=0)


def test_scaled_grouped_products_are_refused_by_name():
    class Scaled(torch.nn.Module):
        def forward(self, x, w, rows, columns, ends):
            return torch._scaled_grouped_mm(x, w.mT, rows, columns, offs=ends, out_dtype=torch.bfloat16)

    x, w = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(2, 16, 32).to(torch.float8_e4m3fn)
    with pytest.raises(luminal.UnsupportedOpError, match="aten._scaled_grouped_mm"):
        luminal.compile(Scaled(), (x, w, torch.ones(16), torch.ones(2, 16), torch.tensor([4, 16], dtype=torch.int32)))
