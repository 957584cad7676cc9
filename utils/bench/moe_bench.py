#!/usr/bin/env python3
# ===- moe_bench.py - A mixture of experts beside PyTorch --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a block of experts on a GPU by luminal.compile, and by torch.compile's Inductor, in one process.

The block is Qwen3-30B-A3B's by default: 2,048 wide, 128 experts of 768, 8 a token, bf16. Times are medians of calls, by
CUDA events, of CUDA graphs where the framework captures one. Routers see new tokens at each call: the experts change.
"""
import argparse
import statistics

import torch
from transformers.models.qwen3_moe import modeling_qwen3_moe as modeling
from transformers.models.qwen3_moe.configuration_qwen3_moe import Qwen3MoeConfig

import luminal


def make_block(arguments, implementation):
    config = Qwen3MoeConfig(hidden_size=arguments.width, moe_intermediate_size=arguments.expert,
                            num_experts=arguments.experts, num_experts_per_tok=arguments.each, norm_topk_prob=True)
    config._experts_implementation = implementation
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        block = modeling.Qwen3MoeSparseMoeBlock(config).eval()
    torch.manual_seed(0)
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter, std=0.02)
    return block


def capture(call, x):
    """A CUDA graph of a call on the memory of x."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call(x)
    return graph, result


def measure(call, x, calls):
    """Microseconds of a call: a median of those of ten calls."""
    inputs = [torch.randn_like(x) for _ in range(4)]
    try:
        graph, _ = capture(call, x)
        once = graph.replay
    except RuntimeError:
        torch.cuda.synchronize()

        def once():
            call(x)
    times = []
    for i in range(calls):
        x.copy_(inputs[i % len(inputs)])
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(10):
            once()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 100)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, nargs="+", default=[1, 16, 256, 4096])
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--expert", type=int, default=768)
    parser.add_argument("--experts", type=int, default=128)
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--inductor", action="store_true")
    parser.add_argument("--steps", action="store_true", help="print the steps of Luminal's program")
    arguments = parser.parse_args()
    print(torch.cuda.get_device_name(), flush=True)
    with torch.no_grad():
        block = make_block(arguments, "grouped_mm")
        for tokens in arguments.tokens:
            x = torch.randn(1, tokens, arguments.width, dtype=torch.bfloat16, device="cuda")
            expected = block(x)
            model = luminal.compile(block, (x,))
            difference = (model(x) - expected).float().norm() / expected.float().norm()
            line = f"{tokens} tokens: error {difference:.1e}, luminal {measure(model, x, arguments.calls):.1f} us"
            print(line, flush=True)
            if arguments.steps:
                print(model.profile(), flush=True)
            if arguments.inductor:
                torch._dynamo.reset()
                compiled = torch.compile(block)
                compiled(x)
                print(f"{tokens} tokens: inductor {measure(compiled, x, arguments.calls):.1f} us", flush=True)


if __name__ == "__main__":
    main()
