#!/usr/bin/env python3
# ===- call_overhead.py - What a call through torch.compile costs ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of a model with 2, 16 and 64 parameters through torch.compile: by a backend that computes nothing, by the same
behind AOTAutograd's wrapper, and by Luminal. The program is so small that what is timed is the way to it. Forms take
turns; each number is the fastest of many calls, and the last column is what Luminal adds to AOTAutograd's wrapper, as a
part of that call."""
import argparse
import pathlib
import sys

import timing

import torch
from torch import nn
from torch._functorch.aot_autograd import aot_module_simplified


class Sum(nn.Module):
    """Multiplies and adds so many parameters of four elements."""

    def __init__(self, count):
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.rand(4)) for _ in range(count))

    def forward(self, x):
        for i in range(0, len(self.weights), 2):
            x = x * self.weights[i] + self.weights[i + 1]
        return x


def trivial(module, inputs):
    """A backend of dynamo that returns the same outputs at each call."""
    outputs = tuple(torch.empty(4) for _ in module.graph.output_node().args[0])
    return lambda *args: outputs


def wrapped(module, inputs):
    """The same behind AOTAutograd."""
    def compiler(graph, _):
        outputs = [torch.empty(4) for _ in graph.graph.output_node().args[0]]

        def call(args):
            return outputs

        call._boxed_call = True
        return call

    with torch.no_grad():
        return aot_module_simplified(module, inputs, fw_compiler=compiler, inference_compiler=compiler,
                                     keep_inference_input_mutations=True)


def measure(count, rounds, seconds):
    """Seconds of a call by form."""
    from luminal._backend import backend

    torch._dynamo.reset()
    model = Sum(count).eval()
    x = torch.rand(4)
    forms = {"trivial": torch.compile(model, backend=trivial), "wrapper": torch.compile(model, backend=wrapped),
             "luminal": torch.compile(model, backend=backend)}
    with torch.no_grad():
        torch.testing.assert_close(forms["luminal"](x), model(x))
        calls = {}
        for name, form in forms.items():
            form(x)
            calls[name] = lambda form=form: form(x)
        minima = timing.fastest_by_round(calls, rounds, seconds)
    return {name: min(times) for name, times in minima.items()}


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each form")
    parser.add_argument("--parameters", type=int, nargs="*", default=[2, 16, 64])
    args = parser.parse_args()
    print(f"{'parameters':>10}{'trivial us':>12}{'wrapper us':>12}{'luminal us':>12}{'added':>8}")
    for count in args.parameters:
        times = measure(count, args.rounds, args.seconds)
        added = times["luminal"] / times["wrapper"] - 1
        print(f"{count:>10}{1e6 * times['trivial']:>12.2f}{1e6 * times['wrapper']:>12.2f}"
              f"{1e6 * times['luminal']:>12.2f}{added:>8.3f}")


if __name__ == "__main__":
    main()
