#!/usr/bin/env python3
# ===- gpu_bench.py - Kernels beside PyTorch's on a GPU -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times kernels of Luminal beside PyTorch's, each as a graph of launches over rotating buffers larger than the L2 cache.

    build/venv/bin/python utils/bench/gpu_bench.py --prepare=DIR [NAME...]     (where the compiler is)
    python utils/bench/gpu_bench.py DIR [NAME...] [--table=FILE]               (where the GPU is: utils/ and DIR; needs PyTorch)

A time is that of one replay over the number of launches, the median of several replays. Beside it: the rate, over the
copy rate C (or, for what writes next to nothing, the read rate R) of the same run. Results are compared with PyTorch's in
float64. --table appends each row, with that run's R and C, to a file of one JSON object a line, so that a table grows
over many short runs.

Exit code 1 where Luminal fails or is wrong.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

import torch
import torch.nn.functional as F

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))

import cuda_program

f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64


class Row:
    """A function of tensors of fixed shapes: `shapes` are pairs of shape and dtype, or a range for indices."""

    def __init__(self, function, *shapes, traffic=None, reads=False):
        self.function, self.shapes, self.reads, self.traffic = function, shapes, reads, traffic

    def make(self, device, seed=0):
        generator = torch.Generator(device).manual_seed(seed)
        tensors = []
        for shape, dtype in self.shapes:
            if isinstance(dtype, int):
                tensors.append(torch.randint(dtype, shape, device=device, generator=generator))
            else:
                tensors.append(torch.randn(shape, device=device, generator=generator, dtype=f32).to(dtype))
        return tensors

    def empty(self):
        return tuple(torch.empty(s, dtype=torch.int64 if isinstance(d, int) else d) for s, d in self.shapes)

    def bytes(self, tensors, outputs):
        """Each input read once, each output written once, unless the row says what is touched."""
        return self.traffic or sum(t.nbytes for t in [*tensors, *outputs])


def rms_norm(x, scale):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * scale


def layer_norm(x, scale, shift):
    return F.layer_norm(x, x.shape[-1:], scale, shift)


def swiglu(x):
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def softmax(x):
    return torch.softmax(x, -1)


def sin_sqrt(a, b):
    return (a + b).sin().sqrt()


def transpose(x):
    return x.t().contiguous()


def gather(table, index):
    return table[index]


def scatter(table, index, rows):
    table.index_copy_(0, index, rows)


def gemv(x, w):
    return x @ w.t()


GATHERED = 2 * 65536 * 4096 + 65536 * 8
ROWS = {
    # The rows that plain CUDA C++ kernels were measured on.
    "sin_sqrt": Row(sin_sqrt, ((1 << 24,), f32), ((1 << 24,), f32)),
    "rms_norm": Row(rms_norm, ((8192, 4096), bf16), ((4096,), bf16)),
    "softmax": Row(softmax, ((8192, 4096), f32)),
    "row_sum": Row(lambda x: x.sum(-1), ((8192, 8192), f32), reads=True),
    "transpose": Row(transpose, ((8192, 8192), bf16)),
    "gather": Row(gather, ((1 << 20, 1024), f32), ((65536,), 1 << 20), traffic=GATHERED),
    "scatter": Row(scatter, ((1 << 20, 1024), f32), ((65536,), 1 << 20), ((65536, 1024), f32), traffic=GATHERED),
    "gemv": Row(gemv, ((1, 4096), bf16), ((28672, 4096), bf16), reads=True),
    # Odd shapes and types.
    "gelu_f16": Row(F.gelu, ((8192, 3072), f16)),
    "silu_bf16": Row(F.silu, ((8192, 3072), bf16)),
    "swiglu_bf16": Row(swiglu, ((4096, 2 * 11008), bf16)),
    "rope_bf16": Row(rope, ((4096, 32, 128), bf16), ((4096, 1, 128), bf16), ((4096, 1, 128), bf16)),
    "add_odd_f32": Row(torch.add, ((9973, 1999), f32), ((9973, 1999), f32)),
    "add_unaligned_f16": Row(lambda x, y: x[1:] + y[:-1], ((30000001,), f16), ((30000001,), f16)),
    "bias_relu_f64": Row(lambda x, b: torch.relu(x + b), ((4096, 2049), f64), ((2049,), f64)),
    "softmax_few_long_f32": Row(softmax, ((16, 1 << 20), f32)),
    "softmax_short_f32": Row(softmax, ((1 << 20, 33), f32)),
    "softmax_odd_bf16": Row(softmax, ((12007, 1537), bf16)),
    "softmax_vocabulary_f16": Row(softmax, ((512, 50257), f16)),
    "log_softmax_f32": Row(lambda x: torch.log_softmax(x, -1), ((4096, 5000), f32)),
    "rms_norm_odd_f32": Row(rms_norm, ((5000, 2047), f32), ((2047,), f32)),
    "layer_norm_f16": Row(layer_norm, ((16384, 1024), f16), ((1024,), f16), ((1024,), f16)),
    "layer_norm_wide_f32": Row(layer_norm, ((1024, 20000), f32), ((20000,), f32), ((20000,), f32)),
    "sum_columns_f32": Row(lambda x: x.sum(0), ((65536, 1000), f32), reads=True),
    "sum_all_bf16": Row(lambda x: x.sum(), ((1 << 27,), bf16), reads=True),
    "sum_short_f32": Row(lambda x: x.sum(-1), ((1 << 21, 31), f32), reads=True),
    "max_middle_f32": Row(lambda x: x.amax(1), ((256, 500, 513), f32), reads=True),
    "mean_var_f32": Row(lambda x: torch.var_mean(x, -1), ((8192, 6000), f32), reads=True),
    "cumulative_mask_f32": Row(lambda x: torch.where(x > 0, x, -x).exp(), ((7001, 4099), f32)),
    "transpose_odd_f32": Row(transpose, ((5001, 4003), f32)),
    "transpose_heads_f16": Row(lambda x: x.transpose(1, 2).contiguous(), ((16, 2048, 12, 64), f16)),
    "cat_f32": Row(lambda a, b: torch.cat([a, b], 1), ((8192, 1000), f32), ((8192, 1500), f32)),
    "cast_f32_bf16": Row(lambda x: x.to(bf16), ((1 << 26,), f32)),
    "gather_narrow_f16": Row(gather, ((1 << 20, 100), f16), ((1 << 19,), 1 << 20), traffic=(1 << 19) * 408),
}


class Apply(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def prepare(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        cuda_program.compile(Apply(ROWS[name].function), ROWS[name].empty(), folder / f"{name}.lum")


def time_calls(calls, launches, replays):
    """Microseconds of one of the calls, which take turns in a graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(launches):
            calls[i % len(calls)]()
    graph.replay()
    times = []
    for _ in range(replays):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / launches)
    return statistics.median(times)


def measure_rates(args):
    """Bytes a microsecond: the best read and the best copy."""
    wide = torch.randn(1 << 29, device="cuda").view(-1, 1 << 14)
    read = max(wide.nbytes / time_calls([lambda f=f: f()], 4, args.replays)
               for f in (lambda: wide.sum(-1), lambda: wide.amax(-1), lambda: wide.view(-1, 1 << 16).amax(-1)))
    halves = wide.view(2, -1)
    copy = max(wide.nbytes / time_calls([f], 4, args.replays)
               for f in (lambda: torch.neg(halves[0], out=halves[1]), lambda: halves[1].copy_(halves[0])))
    return read, copy


def check(got, row, tensors):
    """The largest error of ours over PyTorch's own, both against float64; both zero: 0."""
    wide = [t.double() if t.is_floating_point() else t for t in tensors]
    flat = lambda value: [value] if isinstance(value, torch.Tensor) else list(value)
    copies = [t.clone() for t in tensors]
    # A function that gives nothing changes its first argument.
    exact, eager = row.function(*wide), row.function(*copies)
    exact = [t.clone() for t in flat(wide[0] if exact is None else exact)]
    eager = flat(copies[0] if eager is None else eager)
    del wide
    worst = 0.0
    for ours, theirs, right in zip(got, eager, exact, strict=True):
        error = lambda t: float((t.double() - right.double()).abs().nan_to_num(0).max())
        if not torch.equal(ours.isnan(), right.isnan()):
            return float("inf")
        mine, yours = error(ours), error(theirs)
        # An ulp of the largest result is never a fault.
        yours = max(yours, float(right.double().abs().nan_to_num(0).max()) * torch.finfo(ours.dtype).eps / 2)
        worst = max(worst, mine / yours if yours else mine)
    return worst


def run_row(name, row, args, rates):
    tensors = row.make("cuda")
    program = cuda_program.Program(args.artifacts / f"{name}.lum")
    first = [t.clone() for t in tensors]
    call = program.bind(first)
    call()
    torch.cuda.synchronize()
    error = check(call.outputs, row, tensors)
    if int(program.status):
        error = float("inf")
    moved = row.bytes(tensors, [] if row.reads else call.outputs)
    held = sum(t.nbytes for t in [*tensors, *call.outputs])
    sets = max(1, min(8, -(-args.rotate * (1 << 20) // moved)))
    if held * sets > 40 << 30 or row.traffic:
        sets = 1
    # Other tensors of the same kind; the first are as good as any.
    inputs = [first] + [row.make("cuda", seed) for seed in range(1, sets)]
    forms = {"luminal": [call] + [program.bind(i) for i in inputs[1:]]}
    if not args.only:
        forms["eager"] = [lambda i=i: row.function(*i) for i in inputs]
        try:
            torch._dynamo.reset()
            compiled = torch.compile(row.function, dynamic=False)
            compiled(*inputs[0])
            forms["inductor"] = [lambda i=i: compiled(*i) for i in inputs]
        except Exception as e:  # A peer's own refusal may be of any type.
            print(f"    inductor: {type(e).__name__}")
    result = {form: time_calls(calls, args.launches, args.replays) for form, calls in forms.items()}
    rate = rates[0] if row.reads else rates[1]
    share = moved / result["luminal"] / rate
    peers = [v for f, v in result.items() if f != "luminal"]
    ahead = min(peers) / result["luminal"] if peers else float("nan")
    wrong = not error <= 4
    print(f"{name:24s}" + "".join(f"{result.get(f, float('nan')):10.2f}" for f in ("luminal", "eager", "inductor")) +
          f"{share:8.3f} of {'R' if row.reads else 'C'}{ahead:8.2f}{error:8.2f}{'  WRONG' if wrong else ''}"
          f"   {len(program.steps)} kernels", flush=True)
    if args.table:
        with open(args.table, "a") as table:
            table.write(json.dumps({"name": name, "us": result, "share": share, "bytes": moved, "error": error,
                                    "kernels": len(program.steps), "read": rates[0], "copy": rates[1], "time": time.time(),
                                    "device": torch.cuda.get_device_name(), "torch": torch.__version__}) + "\n")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifacts", type=pathlib.Path, nargs="?")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--prepare", type=pathlib.Path, metavar="DIR", help="only write the artifacts")
    parser.add_argument("--table", type=pathlib.Path, help="a file that rows are appended to")
    parser.add_argument("--only", action="store_true", help="without the peers")
    parser.add_argument("--launches", type=int, default=100)
    parser.add_argument("--replays", type=int, default=9)
    parser.add_argument("--rotate", type=int, default=256, help="MiB of buffers that take turns (256)")
    args = parser.parse_args()
    if args.prepare and args.artifacts:  # A positional is a name then.
        args.names, args.artifacts = [str(args.artifacts), *args.names], None
    unknown = set(args.names) - set(ROWS)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    torch.set_grad_enabled(False)
    names = args.names or list(ROWS)
    if args.prepare:
        return prepare(args.prepare, names)
    if not args.artifacts:
        parser.error("either a folder of artifacts, or --prepare")
    rates = measure_rates(args)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: R {rates[0] / 1e6:.3f} TB/s, C {rates[1] / 1e6:.3f} TB/s")
    print(f"{'microseconds':24s}{'luminal':>10s}{'eager':>10s}{'inductor':>10s}{'rate':>13s}{'ahead':>8s}{'error':>8s}")
    results = []
    for name in names:
        try:
            results.append(run_row(name, ROWS[name], args, rates))
        except torch.cuda.OutOfMemoryError as e:
            print(f"{name}: {str(e).splitlines()[0]}")
            results.append(False)
        torch.cuda.empty_cache()
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
