#!/usr/bin/env python3
# ===- call_overhead.py - What a call through torch.compile costs ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of models that read or write many tensors: through torch.compile by a backend that computes nothing, by the same
behind AOTAutograd's wrapper, and by Luminal; and through the callable of luminal.compile. The second is what Luminal compiled
with its function replaced: guards in other memory would differ by more than a call takes. The programs are so small that
what is timed is the way to them. Forms take turns; each number is the fastest of many calls. `added` is what Luminal adds
to AOTAutograd's wrapper, the kernel of the program included: the median of the rounds, for the speed of a machine changes from
one to the next by more than that. What a call cannot go without is timed alone: `memory` for its
results, the `counting` of writes where AOTAutograd's wrapper does not count them, on a GPU the `launch` of its kernels. `own`
is what is left of `added`, and `whole` of the callable; of one kernel the launch stays in. `asked` is what each may take. Code
that runs between two calls costs more than it does alone, for guards have filled the caches: `in place` is what a call of Luminal
takes longer than one in whose place a backend makes that memory and, on a GPU, launches the same graph."""
import argparse
import copy
import ctypes
import operator
import pathlib
import statistics
import sys
import time
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "utils/testing"))

import models
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


class Decode(models.DecodeStep):
    """One token through so many layers of a decoder, each with two states: for the launch of a large graph. Small, unless
    `sizes` says more."""

    sizes = {}

    def __init__(self, count):
        super().__init__(layers=count, **self.sizes)


class Llama(Decode):
    """The same with the layers of Llama-3-8B in bf16, and a cache of 512 tokens."""

    sizes = dict(vocabulary=128256, width=4096, heads=32, groups=8, head=128, hidden=14336, length=512)


def inputs_of(model, device):
    if isinstance(model, Decode):
        return torch.zeros(1, 1, dtype=torch.int64, device=device), torch.zeros(1, dtype=torch.int64, device=device)
    return (torch.rand(4, device=device),)


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


class Replaceable:
    """A model compiled by Luminal, whose graph is run by `run`."""

    def __init__(self, model, args):
        from luminal._backend import backend
        from luminal._runner import GraphRunner

        direct, graphs = GraphRunner.direct, []

        def noted(runner):
            graphs.append(direct(runner))

            def call(given):
                return self.run(given)

            call._boxed_call = True
            return call

        def keep(given):
            self.kept = graphs[0](given)
            return self.kept

        self.form, self.args, self.run = torch.compile(model, backend=backend), args, keep
        with unittest.mock.patch.object(GraphRunner, "direct", noted):
            self.form(*args)
        self.luminal, = graphs

    def call(self):
        self.run = self.luminal
        return self.form(*self.args)

    def call_nothing(self):
        self.run = lambda given: self.kept
        return self.form(*self.args)

    def call_least(self, *functions):
        """Calls these in the place of Luminal."""
        def run(given):
            for function in functions:
                function()
            return self.kept

        self.run = run
        return self.form(*self.args)


def measure(model, rounds, seconds, device):
    """Seconds of a call by form; on a GPU those of the host, which waits for nothing."""
    import luminal

    torch._dynamo.reset()
    model = model.to(device, torch.bfloat16) if isinstance(model, Llama) else model.to(device)
    args = inputs_of(model, device)
    with torch.no_grad():
        first, compiled, whole = torch.compile(model, backend=trivial), Replaceable(model, args), luminal.compile(model, args)
        forms = {"trivial": lambda: first(*args), "wrapper": compiled.call_nothing, "luminal": compiled.call, "callable": lambda: whole(*args)}
        twin = copy.deepcopy(model)
        tolerance = dict(rtol=0.05, atol=0.05) if isinstance(model, Llama) else (
            dict(rtol=1e-3, atol=1e-4) if isinstance(model, Decode) else {})
        torch.testing.assert_close(forms["luminal"](), twin(*args), **tolerance)
        torch.testing.assert_close(forms["callable"](), twin(*args), **tolerance)
        for form in forms.values():
            form()
        calls = dict(forms)
        calls["memory"], calls["counting"] = torchs_own(model, whole, args)
        num_nodes = 1
        if device == "cuda":
            calls["launch"], num_nodes = launch_of(whole, args)
        least = [calls[name] for name in ("memory", "launch") if name in calls]
        calls["least"] = lambda: compiled.call_least(*least)
        # Where more was started than a device holds, a call waits for it, which is none of its own time.
        settle = torch.cuda.synchronize if device == "cuda" else lambda: None
        by_round = timing.fastest_by_round(calls, rounds, seconds, settle)
        if device == "cuda" and isinstance(model, Decode):
            for name in ("luminal", "callable"):
                print(f"{name:>9}: " + ", ".join(f"{1e3 * time:.3f} ms {how}" for how, time in wait_for(calls[name]).items()))
    times = {name: min(of_rounds) for name, of_rounds in by_round.items()}
    for name, other in (("added", "wrapper"), ("in place", "least")):
        times[name] = statistics.median(map(operator.sub, by_round["luminal"], by_round[other]))
    count = len([*model.parameters(), *model.buffers(), *args])
    launch = times["launch"] if num_nodes > 1 else 0
    return times | rest(times, launch, count, 3e-6 if device == "cpu" else 8e-6)


def wait_for(call, count=50, rounds=5):
    """Seconds of a call among many that follow each other, and of one that is waited for."""
    def one(waits):
        began = time.perf_counter()
        for _ in range(count):
            call()
            if waits:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
        return (time.perf_counter() - began) / count

    return {how: min(one(waits) for _ in range(rounds)) for how, waits in (("back to back", False), ("with a wait after each", True))}


def generated(cache, device, count=32, rounds=10):
    """Seconds a token of transformers' generate() on a small model: PyTorch's, that with its forward compiled by Luminal, and of
    the latter those inside of what Luminal compiled: without them it is what a backend that does nothing takes. On a GPU, whose
    work takes less than the host's here, both are the host's."""
    import transformers
    from luminal._backend import backend
    from luminal._runner import GraphRunner

    torch._dynamo.reset()
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=8, num_attention_heads=4, num_key_value_heads=2, vocab_size=256,
        max_position_embeddings=128)).eval().to(device)
    ids, inside, direct = torch.arange(1, 8, device=device)[None], 0.0, GraphRunner.direct

    def timed(runner):
        run = direct(runner)

        def call(given):
            nonlocal inside
            began = time.perf_counter()
            results = run(given)
            inside += time.perf_counter() - began
            return results

        call._boxed_call = True
        return call

    def generate():
        return model.generate(ids, max_new_tokens=count, do_sample=False, pad_token_id=0, eos_token_id=None,
                              disable_compile=True, **({"cache_implementation": cache} if cache else {}))

    def fastest():
        nonlocal inside
        times = []
        for _ in range(rounds):
            began, inside = time.perf_counter(), 0.0
            generate()
            times.append(((time.perf_counter() - began) / count, inside / count))
        return min(times)

    with torch.no_grad():
        expected = generate()
        eager, _ = fastest()
        model.forward = torch.compile(model.forward, backend=backend)
        with unittest.mock.patch.object(GraphRunner, "direct", timed):
            got = generate()
            if not torch.equal(got, expected):
                raise RuntimeError("other tokens than PyTorch's")
            return eager, *fastest()


def rest(times, launch, count, least):
    """What is Luminal's of a call on so many tensors, and what is asked."""
    return {"own": times["added"] - times["memory"] - launch, "asked": least + 1e-8 * count,
            "whole": times["callable"] - times["memory"] - times["counting"] - launch, "asked ": 1e-5 + 1e-8 * count}


def torchs_own(model, form, args):
    """What makes the memory of the results of a call, and what counts its writes to the model's tensors."""
    tensors = [*model.parameters(), *model.buffers()]
    before = [tensor._version for tensor in tensors]
    results = form(*args)
    results = results if isinstance(results, (list, tuple)) else [results]
    written = [tensor for tensor, version in zip(tensors, before) if tensor._version != version]
    allocate = getattr(torch._C._dynamo.guards, f"_empty_strided_{args[0].device.type}")
    kinds = [(tuple(result.shape), result.stride(), result.dtype) for result in results]
    count = torch.autograd.graph.increment_version
    return lambda: [allocate(*kind) for kind in kinds], (lambda: count(written)) if written else (lambda: None)


def launch_of(form, args):
    """Launches what a call launches, as one CUDA graph, by the driver alone; and how many nodes that has."""
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(captured):
        form(*args)
    driver, launched = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    if driver.cuGraphInstantiateWithFlags(ctypes.byref(launched), ctypes.c_void_p(captured.raw_cuda_graph()), ctypes.c_ulonglong(0)):
        raise RuntimeError("the graph of a call cannot be launched")
    function, stream, nodes = driver.cuGraphLaunch, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), ctypes.c_size_t()
    driver.cuGraphGetNodes(ctypes.c_void_p(captured.raw_cuda_graph()), None, ctypes.byref(nodes))
    return lambda kept=captured: function(launched, stream), nodes.value


def main():
    sys.path.insert(0, str(ROOT / "python"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help="in which forms take turns; 100, or 10 on a GPU, where each waits for all "
                                                   "that was started")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each form")
    parser.add_argument("--tensors", type=int, nargs="*", default=[2, 16, 64, 300])
    parser.add_argument("--layers", type=int, nargs="*", default=[], help="of a small decoder, each with two states")
    parser.add_argument("--llama", type=int, nargs="*", default=[], help="layers of the size of Llama-3-8B's: 32 are all")
    parser.add_argument("--generate", action="store_true", help="tokens of transformers' generate() in place of calls")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    args = parser.parse_args()
    if args.generate:
        for cache in ("dynamic", "static"):
            eager, luminal, inside = generated(cache if cache == "static" else None, args.device)
            print(f"{cache:>7} cache, us a token: {1e6 * eager:.0f} eager, {1e6 * luminal:.0f} luminal, of which {1e6 * inside:.1f} in "
                  f"compiled graphs and {1e6 * (luminal - inside):.0f} as with a backend that does nothing", flush=True)
        return
    names = ["trivial", "wrapper", "luminal", "callable", "memory", "counting", *(["launch"] if args.device == "cuda" else []),
             "added", "own", "in place", "asked", "whole", "asked "]
    kinds = [(kind, count) for kind in (Sum, States) for count in args.tensors] + [(Decode, count) for count in args.layers] + [
        (Llama, count) for count in args.llama]
    print(f"{'us':>12}" + "".join(f"{name:>10}" for name in names))
    for kind, count in kinds:
        with torch.device(args.device):
            model = kind(count).eval()
        times = measure(model, args.rounds or (100 if args.device == "cpu" else 10), args.seconds, args.device)
        print(f"{kind.__name__:>8}{count:>4}" + "".join(f"{1e6 * times[name]:>10.2f}" for name in names), flush=True)


if __name__ == "__main__":
    main()
