# ===- experts.py - A block of experts for one token ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""experts.py FILE: the archive of a small block of experts of transformers' Qwen3, for one token."""
import sys

import torch
from transformers.models.qwen3_moe import modeling_qwen3_moe as modeling
from transformers.models.qwen3_moe.configuration_qwen3_moe import Qwen3MoeConfig

config = Qwen3MoeConfig(hidden_size=256, moe_intermediate_size=128, num_experts=32, num_experts_per_tok=4, norm_topk_prob=True)
config._experts_implementation = "grouped_mm"
torch.set_default_dtype(torch.bfloat16)
block = modeling.Qwen3MoeSparseMoeBlock(config).eval()
for parameter in block.parameters():
    torch.nn.init.normal_(parameter)
torch.export.save(torch.export.export(block, (torch.randn(1, 1, 256),)), sys.argv[1])
