#!/usr/bin/env python3
# ===- order_bench.py - Sorts, scans and updates beside PyTorch ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times ops that order, scan or update, of the sizes that samplers, graph networks and state-space models have.

    python utils/bench/order_bench.py [NAME...] [--dtypes=f32,bf16,i64] [--device=cpu|cuda] [--peers=eager,inductor] [--threads=2]

A name selects the rows that it begins. On a CPU the forms take turns, and a number is the median over the rounds of each
round's fastest call. On a GPU it is a call of ten that were captured into one CUDA graph. Milliseconds; `ratio` is of the
best peer. --repeat=N calls N times and compares the bits. Exit code 1 where a row has other values than eager, other bits
in a later call, or a ratio above --ratio.
"""
import argparse
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "utils/bench"), str(ROOT / "python")]

import timing
import torch

VOCABULARY = 128_256
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "i64": torch.int64}


def floats(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def integers(high, *shape, low=0, seed=1):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed))


def top_p(logits):
    values, places = torch.sort(logits, dim=-1, descending=True, stable=True)
    shares = torch.softmax(values, -1)
    kept = values.masked_fill(shares.cumsum(-1) - shares > 0.9, -torch.inf)
    return torch.empty_like(logits).scatter(-1, places, kept)


def sample(seen, logits, number, penalty=1.2, temperature=0.8, top_k=50, top_p=0.9):
    """A token, drawn by a number from 0 to 1 from the likeliest ones, in their order."""
    scores = logits.gather(1, seen)
    scores = torch.where(scores < 0, scores * penalty, scores / penalty)
    values, tokens = torch.topk(logits.scatter(1, seen, scores) / temperature, top_k)
    shares = torch.softmax(values, -1)
    shares = shares.masked_fill(shares.cumsum(-1) - shares >= top_p, 0)
    bounds = shares.cumsum(-1)
    drawn = (bounds <= number * bounds[:, -1:]).sum(-1, keepdim=True)
    return tokens.gather(1, drawn.clamp_max(top_k - 1))


def sample_by_transformers(seen, logits, number):
    """The same by its processors; the draw by running sums of all shares."""
    import transformers

    processors = transformers.LogitsProcessorList([
        transformers.RepetitionPenaltyLogitsProcessor(1.2), transformers.TemperatureLogitsWarper(0.8),
        transformers.TopKLogitsWarper(50), transformers.TopPLogitsWarper(0.9)])
    shares = torch.softmax(processors(seen, logits), -1)
    return torch.searchsorted(shares.cumsum(-1), number)


def graph_layer(x, source, target, own, neighbour):
    """Each node's mean of what edges bring from others, beside its own features."""
    messages = (x @ neighbour)[source]
    sums = torch.zeros_like(x).index_add(0, target, messages)
    degrees = torch.zeros_like(x[:, 0]).index_add(0, target, torch.ones_like(x[:1, 0]).expand(target.shape[0]))
    return torch.relu(x @ own + sums / degrees.clamp_min(1)[:, None])


def selective_scan(steps, rate, into, x, out):
    """What a layer of Mamba does as transformers writes it for compilers: h = exp(dt A) h + dt B x, of each h C."""
    from torch._higher_order_ops.associative_scan import associative_scan

    decay = torch.exp(rate[None, :, None, :] * steps[..., None])
    driven = steps[..., None] * into[:, None] * x[..., None]
    states = associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (decay, driven), dim=2, combine_mode="generic")[1]
    return torch.matmul(states.transpose(1, 2), out.unsqueeze(-1)).squeeze(-1).transpose(1, 2)


def make_rows(dtype):
    """Names, functions, operands, and another function for PyTorch where it calls one of its own. Operands that hold numbers
    are of `dtype`; what PyTorch computes of floats alone has no row of integers."""
    million, nodes = 10**6, 20_000
    whole = not dtype.is_floating_point
    rows = []

    def numbers(*shape, seed=0):
        """Those that are ordered: integers of more than 32 bits."""
        return integers(2**40, *shape, low=-2**40, seed=seed) if whole else floats(*shape, seed=seed).to(dtype)

    def terms(*shape, seed=0):
        """Those of a sum."""
        return integers(100, *shape, seed=seed) if whole else numbers(*shape, seed=seed)

    def factors(*shape):
        """Products of many of them stay finite."""
        return integers(9, *shape, low=-9) if whole else (1 + floats(*shape) / 1024).to(dtype)

    def row(name, function, *args, other=None):
        rows.append((name, function, args, other))

    for n in (16_384, 131_072, 2**20):
        row(f"sort-{n}", lambda x: torch.sort(x, dim=-1, stable=True), numbers(n))
    row("sort-128x4096", lambda x: torch.sort(x, dim=-1, stable=True), numbers(128, 4096))
    row("argsort-131072", lambda x: torch.argsort(x, dim=-1, stable=True), numbers(131_072))
    row("topk-8-128x4096", lambda x: torch.topk(x, 8), numbers(128, 4096))
    row("topk-50-16384", lambda x: torch.topk(x, 50), numbers(16_384))
    row("topk-50-128256", lambda x: torch.topk(x, 50), numbers(VOCABULARY))
    row("kthvalue-131072", lambda x: torch.kthvalue(x, 5000), numbers(131_072))
    row("median-131072", lambda x: torch.median(x, -1), numbers(131_072))
    row("median-4096x512", lambda x: torch.median(x, -1), numbers(4096, 512))
    for kind, make in {"cummax": numbers, "cumsum": terms, "cumprod": factors, "logcumsumexp": terms}.items():
        if whole and kind == "logcumsumexp":
            continue
        scan = getattr(torch, kind)
        row(f"{kind}-131072", lambda x, scan=scan: scan(x, -1), make(131_072))
        row(f"{kind}-4096x512", lambda x, scan=scan: scan(x, -1), make(4096, 512))
        row(f"{kind}-dim0-4096x512", lambda x, scan=scan: scan(x, 0), make(4096, 512))
    row("cumsum-4194304", lambda x: torch.cumsum(x, -1), terms(2**22))
    row("searchsorted-4096x4096", torch.searchsorted, numbers(4096, 4096).sort(-1).values, numbers(4096, 4096, seed=1))
    row("index_add-20000x64", lambda x, i, v: x.index_add(0, i, v), terms(nodes, 64), integers(nodes, million), terms(million, 64))
    row("index_add-20000", lambda x, i, v: x.index_add(0, i, v), terms(nodes), integers(nodes, million), terms(million))
    for how in ("sum", "amax"):
        row(f"scatter_reduce-{how}-20000", lambda x, i, v, how=how: x.scatter_reduce(0, i, v, how), terms(nodes),
            integers(nodes, million), terms(million))
    for how in ("mean", "amax"):
        row(f"scatter_reduce-{how}-20000x64", lambda x, i, v, how=how: x.scatter_reduce(0, i[:, None].expand_as(v), v, how),
            terms(nodes, 64), integers(nodes, million), terms(million, 64))
    if whole:
        row("histogram-10000000", lambda i: torch.zeros_like(i[:256]).scatter_add(0, i, torch.ones_like(i)), integers(256, 10**7))
        return rows
    if dtype == torch.float32:  # PyTorch counts in the type of the numbers, of which bf16 ends at 256.
        row("histc-10000000", lambda x: torch.histc(x, 100, -3, 3), numbers(10**7))
    row("top-p-128256", top_p, numbers(1, VOCABULARY))
    row("graph-layer-100000x64", graph_layer, numbers(10**5, 64), integers(10**5, million), integers(10**5, million),
        numbers(64, 64) / 8, numbers(64, 64, seed=1) / 8)
    row("selective-scan-2048x1024x16", selective_scan, numbers(1, 1024, 2048).abs() / 8, -numbers(1024, 16).abs(),
        numbers(1, 2048, 16), numbers(1, 1024, 2048, seed=1), numbers(1, 2048, 16, seed=2))
    row("sampler-128256", sample, integers(VOCABULARY, 1, 200), 4 * numbers(1, VOCABULARY), torch.full((1, 1), 0.4, dtype=dtype),
        other=sample_by_transformers)
    return rows


def outputs_of(value):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def widened(operands):
    """PyTorch's own bf16 sums of many numbers are far off."""
    return [t.float() if t.dtype == torch.bfloat16 else t for t in operands]


def same(got, want):
    """Sums of many numbers may be off in the last bits, and PyTorch's f32 sums of 4,096 in more of them; bounds of bf16 are of
    the largest result. Which of equal numbers topk and its kind take is not said: the first output tells."""
    selects = torch.return_types.topk, torch.return_types.kthvalue, torch.return_types.median
    compared = 1 if isinstance(want, selects) else None
    for a, b in list(zip(outputs_of(got), outputs_of(want), strict=True))[:compared]:
        tolerance = {}
        if a.dtype == torch.bfloat16:
            tolerance = {"rtol": 0.02, "atol": 0.02 * float(b.nan_to_num().abs().max())}
            a = a.to(b.dtype)
        elif b.is_floating_point():
            tolerance = {"rtol": 1e-4, "atol": 1e-3}
        torch.testing.assert_close(a, b, equal_nan=True, **tolerance)


def same_but_at_bound(got, want):
    """What a bound of sums in bf16 keeps: how many are kept differs by less than PyTorch's own sums are off."""
    got = got[0].to(want.dtype)
    kept = torch.isfinite(got), torch.isfinite(want)
    if abs(int(kept[0].sum()) - int(kept[1].sum())) > 0.01 * int(kept[1].sum()):
        raise AssertionError("more or less is kept than the bound says")
    both = kept[0] & kept[1]
    torch.testing.assert_close(got[both], want[both], rtol=0.02, atol=0)


def compare(got, function, operands):
    """With PyTorch's results in f32, or in bf16 where these are what a bound decides."""
    try:
        same(got, function(*widened(operands)))
    except AssertionError:
        if function is top_p and got[0].dtype == torch.bfloat16:
            return same_but_at_bound(got, function(*widened(operands)))
        same(got, function(*operands))


def has_same_bits(a, b):
    bits = [[t.reshape(-1).view(torch.uint8) for t in outputs_of(value)] for value in (a, b)]
    return all(torch.equal(x, y) for x, y in zip(*bits))


def time_cpu(function, args, peers, rounds, other):
    import luminal

    others = {"eager": lambda *all: other(*all)} if other and "eager" in peers else {}
    forms = tuple(form for form in (*peers, "luminal") if form not in others)
    table = luminal.bench(function, args, forms=forms, rounds=rounds, others=others)
    times = {row.form: row.milliseconds for row in table if not row.problem}
    notes = [f"{row.form}: {note}" for row in table for note in [row.problem, *row.notes] if note]
    return times, notes


def time_gpu(function, args, peers, own):
    times, notes = {}, []
    forms = {"luminal": own}
    for peer in peers:
        forms[peer] = {"eager": lambda: function, "inductor": lambda: torch.compile(function),
                       "deterministic": lambda: function}[peer]()
    for form, call in forms.items():
        try:
            torch.use_deterministic_algorithms(form == "deterministic")
            times[form] = timing.of_captured(lambda: call(*args))
        except Exception as error:  # whatever does not run in a capture
            notes.append(f"{form}: {type(error).__name__}: {str(error).splitlines()[0]}")
        finally:
            torch.use_deterministic_algorithms(False)
    return times, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--dtypes", default="f32", help="of what is ordered, scanned or added: of f32, bf16 and i64 (f32)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--peers", default="eager", help="of eager, inductor and (on a GPU) deterministic (eager)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="calls whose bits are compared")
    parser.add_argument("--ratio", type=float, help="of the best peer, at most")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    import luminal

    peers = [peer for peer in args.peers.split(",") if peer]
    dtypes = args.dtypes.split(",")
    if unknown := [name for name in dtypes if name not in DTYPES]:
        parser.error(f"no dtype is called {unknown[0]}: {', '.join(DTYPES)}")
    rows = [(f"{row[0]}-{name}", *row[1:]) for name in dtypes for row in make_rows(DTYPES[name])
            if not args.names or any(row[0].startswith(begin) for begin in args.names)]
    if not rows:
        parser.error(f"no row begins with {args.names[0]}")
    failed = False
    print(f"{'':34s} {'luminal':>10s} " + " ".join(f"{peer:>13s}" for peer in peers) + f" {'ratio':>7s}")
    for name, function, operands, other in rows:
        operands = tuple(operand.to(args.device) for operand in operands)
        torch._dynamo.reset()  # the dtypes of one function would be too many graphs of it
        try:
            own = luminal.compile(function, operands)
            first = [t.clone() for t in outputs_of(own(*operands))]
            if not other:
                compare(first, function, operands)
            for _ in range(args.repeat - 1):
                if not has_same_bits(own(*operands), first):
                    raise AssertionError("a later call gives other bits")
        except Exception as error:
            failed = True
            print(f"{name:34s} {type(error).__name__}: {str(error).strip().splitlines()[0]}", flush=True)
            continue
        times, notes = time_cpu(function, operands, peers, args.rounds, other) if args.device == "cpu" else \
            time_gpu(other or function, operands, peers, own)
        best = min((times[peer] for peer in peers if peer in times), default=float("nan"))
        ratio = times.get("luminal", float("nan")) / best
        failed |= args.ratio is not None and not ratio <= args.ratio
        cells = " ".join(f"{times.get(peer, float('nan')):13.4f}" for peer in peers)
        print(f"{name:34s} {times.get('luminal', float('nan')):10.4f} {cells} {ratio:7.2f}", *notes, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
