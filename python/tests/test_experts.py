# ===- test_experts.py - Products of rows by groups ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts: each row is multiplied with the matrix that it is sent to."""
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
    """With rows for every group, for some, and for one alone; the graph is not cut."""
    x, w = torch.randn(24, 16).bfloat16(), torch.randn(4, 32, 16).bfloat16()
    function = torch.compile(lambda x, w, ends: torch._grouped_mm(x, w.mT, offs=ends), backend=backend, fullgraph=True)
    for cuts in ([3, 9, 10, 24], [0, 20, 20, 24], [24] * 4, [0, 0, 0, 24]):
        ends = torch.tensor(cuts, dtype=torch.int32)
        helpers.same(function(x, w, ends), torch._grouped_mm(x, w.mT, offs=ends))


@pytest.mark.parametrize("tokens", [1, 5, 40])
def test_a_block_of_experts_is_one_program(tokens):
    """Rows of one expert are a group; no graph is cut, and no expert is chosen in Python."""
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
