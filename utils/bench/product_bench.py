#!/usr/bin/env python3
# ===- product_bench.py - Products on a GPU beside PyTorch's -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times products by luminal.compile beside eager PyTorch's and Inductor's, weights stored as a Linear layer stores them.

    python utils/bench/product_bench.py [NAME...] [--dtype=bf16] [--no-inductor] [--steps]

Rows are 1 to 64 rows by weights of Llama-3-8B (up: 4096 to 28672 or 14336, down: 14336 to 4096), large products, and a gated
pair: silu(x Wg) * (x Wu). A name selects the rows that it begins. A time is that of one call, in microseconds, of calls that
were captured into one CUDA graph and take turns over weights that are larger than the L2 cache together; `ratio` is of the
best peer, and `rate` that of reading the operands, in TB/s, beside the rate of a sum over as many bytes in the same run.
`error` is the largest one over eager's, both beside the same in float64, of the first 64 rows. Exit code 1 where a row fails,
or is wrong by more than twice eager's error.
"""
import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "utils/bench"), str(ROOT / "python")]

import timing
import torch
import torch.nn.functional as F

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
CACHE = 64 << 20  # The largest L2 cache of a GPU of today is smaller.


class Linear(torch.nn.Module):
    def __init__(self, inputs, outputs, dtype):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(outputs, inputs, device="cuda").to(dtype))

    def forward(self, x):
        return F.linear(x, self.weight)


class Gated(torch.nn.Module):
    def __init__(self, inputs, outputs, dtype):
        super().__init__()
        self.gate, self.up = Linear(inputs, outputs, dtype), Linear(inputs, outputs, dtype)

    def forward(self, x):
        return F.silu(self.gate(x)) * self.up(x)


def make_rows():
    rows = {}
    for count in (1, 2, 4, 8, 16, 32, 64):
        rows[f"wide-{count}"] = (Linear, count, 4096, 28672)
        rows[f"down-{count}"] = (Linear, count, 14336, 4096)
        rows[f"gated-{count}"] = (Gated, count, 4096, 14336)
    rows["large-2048"] = (Linear, 2048, 4096, 4096)
    rows["large-8192"] = (Linear, 8192, 8192, 8192)
    rows["gated-2048"] = (Gated, 2048, 4096, 14336)
    return rows


def measure(kind, count, inputs, outputs, dtype, args):
    import luminal

    weights = inputs * outputs * dtype.itemsize * (2 if kind is Gated else 1)
    sets = 1 if count > 64 else max(2, -(-2 * CACHE // weights))
    models = [kind(inputs, outputs, dtype).eval() for _ in range(sets)]
    x = torch.randn(count, inputs, device="cuda").to(dtype)
    # One artifact a set: the weights are not read from the cache.
    own = [luminal.compile(model, (x,)) for model in models]
    wide = models[0].double()(x[:64].double())
    models[0].to(dtype)

    def error(result):
        return float((result[:64].double() - wide).abs().max())

    def timed(calls):
        return 1e3 * timing.of_captured(lambda: [call(x) for call in calls], 1 if count > 64 else 4, replays=5) / sets

    times = {"luminal": timed(own), "eager": timed(models)}
    errors = error(own[0](x)), error(models[0](x))
    if args.inductor:
        torch._dynamo.reset()
        compiled = [torch.compile(model, dynamic=False) for model in models]
        times["inductor"] = timed(compiled)
    spread = [torch.cat([p.detach().view(-1) for p in model.parameters()]).view(1024, -1) for model in models]
    times["read"] = timed([lambda x, s=s: s.sum(-1) for s in spread])
    if args.steps:
        print(own[0].profile(), flush=True)
    return times, errors, weights


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--dtype", default="bf16", choices=DTYPES)
    parser.add_argument("--no-inductor", dest="inductor", action="store_false")
    parser.add_argument("--steps", action="store_true", help="print the steps of Luminal's program")
    args = parser.parse_args()
    torch.set_grad_enabled(False)
    rows = {name: row for name, row in make_rows().items()
            if not args.names or any(name.startswith(start) for start in args.names)}
    if not rows:
        parser.error(f"no row begins with {args.names[0]}")
    failed = False
    names = ("luminal", "eager", "inductor", "read")
    print(f"{args.dtype + ', us':14s}" + "".join(f"{name:>10s}" for name in (*names, "ratio", "rate", "R", "error")))
    for name, row in rows.items():
        try:
            times, errors, weights = measure(*row, DTYPES[args.dtype], args)
        except Exception as problem:
            failed = True
            print(f"{name:14s} {type(problem).__name__}: {str(problem).strip().splitlines()[0]}", flush=True)
            continue
        best = min(times.get(peer, float("inf")) for peer in ("eager", "inductor"))
        worse = errors[0] / max(errors[1], 1e-12)
        failed |= worse > 2
        rate = lambda us: weights / us / 1e6
        print(f"{name:14s}" + "".join(f"{times.get(peer, float('nan')):10.1f}" for peer in names)
              + f"{times['luminal'] / best:10.2f}{rate(times['luminal']):10.2f}{rate(times['read']):10.2f}{worse:10.2f}", flush=True)
        torch.cuda.empty_cache()
    return failed


if __name__ == "__main__":
    sys.exit(main())
