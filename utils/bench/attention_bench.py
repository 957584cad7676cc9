#!/usr/bin/env python3
# ===- attention_bench.py - Attention on a GPU beside PyTorch's kernels ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention by luminal.compile beside each of PyTorch's fused kernels, and by Inductor's flex_attention over a window.

    python utils/bench/attention_bench.py [NAME...] [--dtype=bf16] [--tokens=16384] [--heads=16]

Rows are prompts of 512 to 16,384 tokens, --tokens of all texts of a row together, and decode steps: one query over keys and
values of at least 64 MB. A name selects the rows that it begins. A time is that of one call, in microseconds, of calls that
were captured into one CUDA graph; `ratio` is of the best peer. Of a decode step the rate of reading keys and values is
given as well, over that of a sum that reads as many bytes. `error` is the largest one, of some queries, over the largest of
the best peer, beside the same in float64. Exit code 1 where a row fails, or is wrong by more than twice the peer's error.
"""
import argparse
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "utils/bench"), str(ROOT / "python")]

import timing
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION}


class Row:
    """`groups` queries' heads read one head of keys. `window`: keys that a query sees, itself among them."""

    def __init__(self, name, batch, heads, queries, keys, width, causal=False, groups=1, window=None):
        self.name, self.batch, self.heads, self.queries, self.keys, self.width = name, batch, heads, queries, keys, width
        self.causal, self.groups, self.window = causal, groups, window

    def make(self, dtype):
        def values(heads, length):
            return torch.randn(self.batch, heads, length, self.width, device="cuda", generator=generator).to(dtype)

        generator = torch.Generator("cuda").manual_seed(0)
        kept = self.heads // self.groups
        return values(self.heads, self.queries), values(kept, self.keys), values(kept, self.keys)

    def attend(self, q, k, v):
        if self.window is None:
            return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.groups > 1)
        place = torch.arange(self.queries, device=q.device)
        ahead = place[:, None] - place
        return F.scaled_dot_product_attention(q, k, v, attn_mask=(ahead >= 0) & (ahead < self.window),
                                              enable_gqa=self.groups > 1)

    def in_float64(self, q, k, v, queries):
        """The last `queries` of the first text's first head."""
        q, k, v = q[0, 0, -queries:].double(), k[0, 0].double(), v[0, 0].double()
        scores = q @ k.T / math.sqrt(self.width)
        ahead = (torch.arange(self.queries, device=q.device)[-queries:, None] - torch.arange(self.keys, device=q.device))
        if self.causal or self.window is not None:
            scores = scores.masked_fill(ahead < 0, -torch.inf)
        if self.window is not None:
            scores = scores.masked_fill(ahead >= self.window, -torch.inf)
        return torch.softmax(scores, -1) @ v


def make_rows(tokens, heads):
    rows = []
    for width in (64, 128):
        for length in (512, 1024, 4096, 16384):
            batch = max(1, tokens // length)
            for causal in (True, False):
                rows.append(Row(f"{'causal' if causal else 'full'}-{width}-{length}", batch, heads, length, length, width, causal))
        for length in (1024, 4096):
            rows.append(Row(f"grouped-{width}-{length}", tokens // length, heads, length, length, width, True, groups=4))
        rows.append(Row(f"window-{width}-4096", tokens // 4096, heads, 4096, 4096, width, window=1024))
    for batch in (1, 16):
        for groups in (1, 4):
            # Heads of keys: 8. At least 64 MB of them and of values.
            keys = 32768 // batch
            rows.append(Row(f"decode-{batch}-{groups}x8-{keys}", batch, 8 * groups, 1, keys, 128, groups=groups))
    return rows


def of_captured(call, calls):
    """Microseconds."""
    return 1e3 * timing.of_captured(call, calls, replays=5)


def peers_of(row):
    """Functions of the operands by name."""
    def by(backend):
        def call(*operands):
            with sdpa_kernel(backend):
                return row.attend(*operands)
        return call

    if row.window is None:
        return {name: by(backend) for name, backend in BACKENDS.items()}
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def sees(batch, head, query, key):
        return (query >= key) & (query - key < row.window)

    blocks = create_block_mask(sees, None, None, row.queries, row.keys, device="cuda")
    compiled = torch.compile(flex_attention)
    return {"flex": lambda q, k, v: compiled(q, k, v, block_mask=blocks)}


def measure(row, dtype):
    import luminal

    operands = row.make(dtype)
    calls = 10 if row.queries == 1 else 2
    own = luminal.compile(row.attend, operands)
    queries = min(256, row.queries)
    expected = row.in_float64(*operands, queries)

    def error(result):
        return float((result[0, 0, -queries:].double() - expected).abs().max())

    errors, times, notes = {"luminal": error(own(*operands))}, {"luminal": of_captured(lambda: own(*operands), calls)}, []
    for name, call in peers_of(row).items():
        try:
            errors[name], times[name] = error(call(*operands)), of_captured(lambda: call(*operands), calls)
        except Exception as problem:  # whatever this kernel does not take
            notes.append(f"{name}: {str(problem).strip().splitlines()[0][:60]}")
    if row.queries == 1:
        spread = operands[1].view(-1)
        times["read"] = of_captured(lambda: (spread.view(1024, -1).sum(-1), operands[2].view(1024, -1).sum(-1)), calls)
    return errors, times, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--dtype", default="bf16", choices=DTYPES)
    parser.add_argument("--tokens", type=int, default=16384, help="of all texts of a prompt's row (16384)")
    parser.add_argument("--heads", type=int, default=16, help="of queries in a prompt's row (16)")
    args = parser.parse_args()
    rows = [row for row in make_rows(args.tokens, args.heads)
            if not args.names or any(row.name.startswith(name) for name in args.names)]
    if not rows:
        parser.error(f"no row begins with {args.names[0]}")
    failed = False
    names = ("luminal", "flash", "cudnn", "efficient", "flex", "read")
    print(f"{args.dtype + ', us':22s}" + "".join(f"{name:>10s}" for name in (*names, "ratio", "error")))
    for row in rows:
        torch._dynamo.reset()
        try:
            errors, times, notes = measure(row, DTYPES[args.dtype])
        except Exception as problem:
            failed = True
            print(f"{row.name:22s} {type(problem).__name__}: {str(problem).strip().splitlines()[0]}", flush=True)
            continue
        peers = [name for name in times if name not in ("luminal", "read")]
        best = min(peers, key=times.get, default=None)
        ratio = times["luminal"] / times[best] if best else math.nan
        worse = errors["luminal"] / max(errors[best], 1e-12) if best else math.nan
        failed |= worse > 2
        print(f"{row.name:22s}" + "".join(f"{times.get(name, math.nan):10.1f}" for name in names)
              + f"{ratio:10.2f}{worse:10.2f} ", *notes, flush=True)
        torch.cuda.empty_cache()
    return failed


if __name__ == "__main__":
    sys.exit(main())
