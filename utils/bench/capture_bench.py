#!/usr/bin/env python3
# ===- capture_bench.py - Small steps on a GPU, called and captured -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a recommendation model by batch and number of tables, whose step is a few microseconds: calls that follow each other
without a wait, and calls that are captured into one CUDA graph of the caller's; `bare` is a graph of as many launches of the
kernel of a call, each of which may start before the one before it ends.

    python utils/bench/capture_bench.py [BATCHxTABLES...] [--calls=20] [--peers=eager,inductor,reduce-overhead] [--jobs=N]

Needs a GPU and the library (LUMINAL_LIBRARY, or an installed package). Microseconds a call. `nothing` is a backend that
returns the same outputs at each call, behind AOTAutograd; `added` is what torch.compile takes longer, the median of rounds in
which forms take turns. Each cell is a process of its own: N of them compile at once, and are then timed one after another. Exit
code 1 where Luminal is wrong, behind in a capture, or takes more than 1.15 of `bare`; 2 where there is no GPU.
"""
import argparse
import ctypes
import multiprocessing
import operator
import os
import pathlib
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("utils/bench", "utils/testing", "python")]

import torch

import call_overhead
import models

CELLS = [f"{batch}x{tables}" for batch in (256, 1024, 2048, 4096) for tables in (3, 8, 16)]


def time_calls(calls, count=100, rounds=20):
    """Microseconds of a call of each form by name, in each of the rounds, in which forms take turns."""
    times = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(20):
            call()
    for _ in range(rounds):
        for name, call in calls.items():
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(count):
                call()
            torch.cuda.synchronize()
            times[name].append(1e6 * (time.perf_counter() - began) / count)
    return times


def time_captured(call, calls):
    """Microseconds of a call in a graph of so many."""
    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [call() for _ in range(calls)]
    return time_replays(graph.replay, calls), kept[-1]


def time_replays(replay, calls, replays=50, rounds=7):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(rounds + 1):
        begin.record()
        for _ in range(replays):
            replay()
        end.record()
        torch.cuda.synchronize()
        times.append(1e3 * begin.elapsed_time(end) / replays / calls)
    return statistics.median(times[1:])


class _KernelNode(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""
    _fields_ = [("function", ctypes.c_void_p), ("sizes", ctypes.c_uint * 7), ("parameters", ctypes.c_void_p), ("extra", ctypes.c_void_p),
                ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]


def time_bare(call, calls):
    """Microseconds of a launch of a call's kernel, in a graph of so many; None where a call has more than one node."""
    call()
    captured, driver = torch.cuda.CUDAGraph(keep_graph=True), ctypes.CDLL("libcuda.so.1")

    def check(status):
        if status:
            raise RuntimeError(f"the driver refuses a graph: {status}")

    with torch.cuda.graph(captured):
        kept = call()
    source, count, node = ctypes.c_void_p(captured.raw_cuda_graph()), ctypes.c_size_t(), ctypes.c_void_p()
    check(driver.cuGraphGetNodes(source, None, ctypes.byref(count)))
    if count.value != 1:
        return None
    check(driver.cuGraphGetNodes(source, ctypes.byref(node), ctypes.byref(count)))
    kernel, graph, launched, last = _KernelNode(), ctypes.c_void_p(), ctypes.c_void_p(), None
    check(driver.cuGraphKernelNodeGetParams_v2(node, ctypes.byref(kernel)))
    check(driver.cuGraphCreate(ctypes.byref(graph), 0))
    programmatic = (ctypes.c_uint8 * 8)(1, 0, 1)  # from the kernel's own event, as Luminal's edges
    for _ in range(calls):
        added = ctypes.c_void_p()
        check(driver.cuGraphAddKernelNode_v2(ctypes.byref(added), graph, None, ctypes.c_size_t(0), ctypes.byref(kernel)))
        check(driver.cuGraphKernelNodeCopyAttributes(added, node))
        if last is not None:
            check(driver.cuGraphAddDependencies_v2(graph, ctypes.byref(last), ctypes.byref(added), programmatic, ctypes.c_size_t(1)))
        last = added
    check(driver.cuGraphInstantiateWithFlags(ctypes.byref(launched), graph, ctypes.c_ulonglong(0)))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return time_replays(lambda kept=kept: driver.cuGraphLaunch(launched, stream), calls)


class Cell:
    """One size, compiled in each form."""

    def __init__(self, cell, peers):
        import luminal
        from luminal._backend import backend

        self.peers = peers
        batch, tables = map(int, cell.split("x"))
        torch.manual_seed(0)
        model = models.RecommendationModel(tables, rows=100, width=4, hidden=8).eval().cuda()
        self.args = tuple(arg.cuda() for arg in models.recommendation(tables=tables, rows=100, batch=batch).args)
        self.expected = model.double()(*(arg.double() if arg.is_floating_point() else arg for arg in self.args))
        model.float()
        inductor = {"eager": model, "inductor": torch.compile(model), "reduce-overhead": torch.compile(model, mode="reduce-overhead")}
        self.forms = {"nothing": torch.compile(model, backend=call_overhead.wrapped), "torch.compile": torch.compile(model, backend=backend),
                      "luminal.compile": luminal.compile(model, self.args), **{name: inductor[name] for name in peers}}
        for form in self.forms.values():
            form(*self.args)
        torch.cuda.synchronize()

    def measure(self, calls):
        """Microseconds by form, called and captured, and whether what is captured is right."""
        by_round, captured, is_right = time_calls({name: lambda form=form: form(*self.args) for name, form in self.forms.items()}), {}, True
        # Other work of the host disturbs all but the fastest round.
        called = {name: min(times) for name, times in by_round.items()}
        called["added"] = statistics.median(map(operator.sub, by_round["torch.compile"], by_round["nothing"]))
        for name, form in self.forms.items():
            if name in ("nothing", "reduce-overhead"):
                continue  # The latter is a graph itself.
            captured[name], result = time_captured(lambda: form(*self.args), calls)
            error = (result.double() - self.expected).abs().max().item()
            is_right &= not error > 1e-4
        if (bare := time_bare(lambda: self.forms["luminal.compile"](*self.args), calls)) is not None:
            captured["bare"] = bare
        return called, captured, is_right


def work(cell, calls, peers, pipe):
    """A process of its own: compiles, and measures when it is told to."""
    torch.set_grad_enabled(False)
    compiled = Cell(cell, peers)
    pipe.send("ready")
    pipe.recv()
    pipe.send(compiled.measure(calls))


def measure(cells, calls, peers):
    """What each cell's process measures, in turn, when all have compiled; None where one failed."""
    spawn = multiprocessing.get_context("spawn")
    processes = []
    for cell in cells:
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=work, args=(cell, calls, peers, theirs))
        process.start()
        theirs.close()
        processes.append((process, ours))

    def receive(pipe):
        try:
            return pipe.recv()
        except EOFError:  # it has printed why
            return None

    ready = [receive(pipe) for _, pipe in processes]
    for cell, is_ready, (process, pipe) in zip(cells, ready, processes):
        if is_ready:
            pipe.send("go")
        yield cell, receive(pipe) if is_ready else None
        process.join()


def ours_of(captured):
    return max(captured["torch.compile"], captured["luminal.compile"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", default=CELLS)
    parser.add_argument("--calls", type=int, default=20, help="in a graph")
    parser.add_argument("--peers", default="eager,inductor,reduce-overhead")
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count() or 1), help="cells that compile at once")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        print("capture-bench: PyTorch finds no GPU", file=sys.stderr)
        return 2
    # Each of the processes would start as many that compile as there are cores.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    peers = [name for name in args.peers.split(",") if name]
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    bad = False
    batches = [args.cells[i:i + args.jobs] for i in range(0, len(args.cells), args.jobs)]
    for cell, measured in (found for batch in batches for found in measure(batch, args.calls, peers)):
        if measured is None:
            print(f"{cell:>8} failed", flush=True)
            bad = True
            continue
        called, captured, is_right = measured
        if "bare" in captured:
            bad |= ours_of(captured) > 1.15 * captured["bare"]
        best = min((time for name, time in captured.items() if name in peers), default=float("inf"))
        ours = ours_of(captured)
        bad |= not is_right or ours > min(best, called.get("reduce-overhead", best))
        print(f"{cell:>8} called: " + ", ".join(f"{name} {t:.1f}" for name, t in called.items()))
        print(f"{'':>8} captured: " + ", ".join(f"{name} {t:.2f}" for name, t in captured.items()) +
              ("" if is_right else "  WRONG"), flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
