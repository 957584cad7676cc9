#!/usr/bin/env python3
# ===- call_overhead.py - What a call through torch.compile costs ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of models that read or write many tensors: through torch.compile by a backend that computes nothing, by the same
behind AOTAutograd's wrapper, and by Luminal; and through the callable of luminal.compile. The programs are so small that
what is timed is the way to them. Forms take turns; each number is the fastest of many calls. `added` is what Luminal adds
to AOTAutograd's wrapper, the kernel of the program included."""
import argparse
import copy
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


class States(nn.Module):
    """Adds to so many states of four elements, in place."""

    def __init__(self, count):
        super().__init__()
        self.states = nn.ParameterList(nn.Parameter(torch.zeros(4), requires_grad=False) for _ in range(count))

    def forward(self, x):
        return sum(state.add_(x) for state in self.states)


def trivial(module, inputs):
    """A backend of dynamo that returns the same outputs at each call."""
    outputs = tuple(torch.empty(4, device=inputs[0].device) for _ in module.graph.output_node().args[0])
    return lambda *args: outputs


def wrapped(module, inputs):
    """The same behind AOTAutograd."""
    def compiler(graph, _):
        outputs = [torch.empty(4, device=inputs[0].device) for _ in graph.graph.output_node().args[0]]

        def call(args):
            return outputs

        call._boxed_call = True
        return call

    with torch.no_grad():
        return aot_module_simplified(module, inputs, fw_compiler=compiler, inference_compiler=compiler,
                                     keep_inference_input_mutations=True)


def measure(model, rounds, seconds, device):
    """Seconds of a call by form; on a GPU those of the host, which waits for nothing."""
    import luminal
    from luminal._backend import backend

    torch._dynamo.reset()
    x, model = torch.rand(4, device=device), model.to(device)
    forms = {"trivial": torch.compile(model, backend=trivial), "wrapper": torch.compile(model, backend=wrapped),
             "luminal": torch.compile(model, backend=backend), "callable": luminal.compile(model, (x,))}
    twin = copy.deepcopy(model)
    with torch.no_grad():
        torch.testing.assert_close(forms["luminal"](x), twin(x))
        torch.testing.assert_close(forms["callable"](x), twin(x))
        calls = {}
        for name, form in forms.items():
            form(x)
            calls[name] = lambda form=form: form(x)
        minima = timing.fastest_by_round(calls, rounds, seconds)
    return {name: min(times) for name, times in minima.items()}


def time_torch(args):
    """What a call cannot go without: an allocation of an output, the counting of a write, a launch of a kernel."""
    x, y = torch.rand(4, device=args.device), torch.rand(4, device=args.device)
    allocate = getattr(torch._C._dynamo.guards, f"_empty_strided_{args.device}")
    calls = {"allocation": lambda: allocate((4,), (1,), torch.float32),
             "counting of a write": lambda: torch.autograd.graph.increment_version([x]),
             "torch's own kernel, in place": lambda: x.add_(y)}
    with torch.no_grad():
        for name, times in timing.fastest_by_round(calls, args.rounds, args.seconds).items():
            print(f"{name}: {1e6 * min(times):.2f} us")


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each form")
    parser.add_argument("--tensors", type=int, nargs="*", default=[2, 16, 64, 300])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    args = parser.parse_args()
    if args.device != "cpu":
        time_torch(args)
    names = "trivial", "wrapper", "luminal", "callable"
    print(f"{'us':>12}" + "".join(f"{name:>10}" for name in names) + f"{'added':>10}")
    for kind in (Sum, States):
        for count in args.tensors:
            times = measure(kind(count).eval(), args.rounds, args.seconds, args.device)
            times["added"] = times["luminal"] - times["wrapper"]
            print(f"{kind.__name__:>8}{count:>4}" + "".join(f"{1e6 * times[name]:>10.2f}" for name in (*names, "added")))


if __name__ == "__main__":
    main()
