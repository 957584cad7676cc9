#!/usr/bin/env python3
# ===- search_table.py - What the search finds, beside static prices and PyTorch -===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times programs as static prices choose them and as the search finds them, beside PyTorch eager and Inductor.

    build/venv/bin/python utils/bench/search_table.py --budgets=10,60 [NAME...]

The forms of a program take turns, round by round; the number printed is the median over the rounds of each round's
fastest call, in microseconds. Last come the fastest of Luminal's forms beside the faster peer, and what static prices
choose without the rules that offer alternatives beside what they choose with them: above 1 these rules pay.
Every form's outputs are compared with PyTorch eager's.
"""
import argparse
import json
import logging
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")

import torch
from torch import nn
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "utils/testing"))

import luminal_c
import models
import timing  # Lies beside this file.

ALTERNATIVES = "alternatives"


class Adapter(nn.Module):
    """A linear layer with a low-rank adapter beside it."""

    def __init__(self, width, rank):
        super().__init__()
        self.base = nn.Linear(width, width, bias=False)
        self.down, self.up = nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=False)

    def forward(self, x):
        return self.base(x) + 2.0 * self.up(self.down(x))


class LowRank(nn.Module):
    """A matrix that is the product of two thin ones."""

    def __init__(self, width, rank):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(width, rank) / rank), nn.Parameter(torch.randn(rank, width) / width)

    def forward(self, x):
        return F.relu(x @ (self.a @ self.b))


class GroupedHeads(nn.Module):
    """Attention whose keys and values serve several heads each."""

    def __init__(self, width=256, heads=8, shared=2):
        super().__init__()
        self.heads, self.shared, size = heads, shared, width // heads
        self.q, self.k, self.v = (nn.Linear(width, n * size, bias=False) for n in (heads, shared, shared))
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        split = lambda y, n: y.unflatten(-1, (n, -1)).transpose(1, 2)
        q, k, v = split(self.q(x), self.heads), split(self.k(x), self.shared), split(self.v(x), self.shared)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class ConvNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1),
                                    nn.ReLU(), nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU())
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class Scan(nn.Module):
    """A diagonal state-space model: every step scales the state and adds to it."""

    def __init__(self, steps=16, width=128):
        super().__init__()
        self.steps = steps
        self.decay, self.into, self.out = nn.Parameter(torch.rand(width)), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        state, rows = torch.zeros_like(x[:, 0]), []
        for i in range(self.steps):
            state = torch.sigmoid(self.decay) * state + self.into(x[:, i])
            rows.append(self.out(torch.tanh(state)))
        return torch.stack(rows, 1)


def chain(*sizes):
    matrices = tuple(torch.randn(n, m) / m**0.5 for n, m in zip(sizes[:-1], sizes[1:]))
    return models.Case(models.Function(lambda a, b, c, d, e: a @ b @ c @ d @ e), matrices)


def decoder(length):
    return models.Case(models.Decoder(2, 256, 8, 768), (torch.randn(1, length, 256),))


PROGRAMS = {
    "chain_thin_middle": lambda: chain(256, 16, 512, 8, 400, 4),
    "chain_thin_ends": lambda: chain(8, 512, 16, 400, 8, 300),
    "adapter_bs1": lambda: models.Case(Adapter(512, 8), (torch.randn(1, 512),)),
    "adapter_bs64": lambda: models.Case(Adapter(512, 8), (torch.randn(64, 512),)),
    "low_rank_bs32": lambda: models.Case(LowRank(512, 4), (torch.randn(32, 512),)),
    "linear_attention": lambda: models.Case(models.Function(lambda q, k, v: (q @ k.mT) @ v),
                                            tuple(torch.randn(4, 512, 32) / 8 for _ in range(3))),
    "grouped_heads": lambda: models.Case(GroupedHeads(), (torch.randn(1, 64, 256),)),
    "conv_net": lambda: models.Case(ConvNet(), (torch.randn(1, 3, 32, 32),)),
    "mlp_bs1": lambda: models.Case(models.MLP([256, 512, 512, 64]), (torch.randn(1, 256),)),
    "mlp_bs64": lambda: models.Case(models.MLP([256, 512, 512, 64]), (torch.randn(64, 256),)),
    "scan": lambda: models.Case(Scan(), (torch.randn(2, 16, 128),)),
    "decoder_s1": lambda: decoder(1),
    "decoder_s512": lambda: decoder(512),
    "bert": models.MODELS["bert"],
    "llama_8_layers": models.MODELS["llama_8_layers"],
    "dlrm": models.MODELS["dlrm"],
}


def rule_sets(args, archive):
    """The names of the compiled-in sets: those that the error for an unknown one lists."""
    text = subprocess.run([args.bin / "luminal-compile", archive, "-o", "/dev/null", "--eqsat-rule-sets=?"], capture_output=True,
                          text=True).stderr
    return re.search("known are:? (.*)", text)[1].replace(",", " ").split()


def compile_forms(args, archive, folder):
    """Artifacts by form, and the reports of the searches."""
    # The search times what was compiled for the same threads.
    common = ["--target=cpu", "--quiet", f"--workers={args.threads}", f"--plan-cache={folder / 'cache'}"]
    sets = [s for s in rule_sets(args, archive) if s != ALTERNATIVES]
    forms = {"static": ["--search-budget=0"],
             "static, no alternatives": ["--search-budget=0", f"--eqsat-rule-sets={','.join(sets)}"]}
    forms |= {f"{budget} s": [f"--search-budget={budget}"] for budget in args.budgets}
    found, reports = {}, {}
    for name, options in forms.items():
        artifact, report = folder / f"{len(found)}.lum", folder / f"{len(found)}.json"
        subprocess.run([args.bin / "luminal-compile", archive, "-o", artifact, f"--report={report}", *common, *options],
                       check=True, capture_output=True)
        found[name] = artifact
        reports[name] = json.loads(report.read_text()).get("search")
    return found, reports


def luminal(args, artifact, archive, inputs):
    luminal_c.use(args.library)
    program = luminal_c.Program(artifact, weights=archive, threads=args.threads)
    program.bind(inputs)
    program.run()
    return program


def time_forms(calls, rounds, seconds):
    """Microseconds: the median over the rounds."""
    return {name: 1e6 * statistics.median(times)
            for name, times in timing.fastest_by_round(calls, rounds, seconds).items()}


def measure(args, name):
    torch.manual_seed(sum(map(ord, name)))
    case = PROGRAMS[name]()
    model = case.model.eval()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        archive = folder / "model.pt2"
        torch.export.save(torch.export.export(model, case.args), archive)
        artifacts, reports = compile_forms(args, archive, folder)
        expected = model(*case.args)
        calls = {"eager": lambda: model(*case.args)}
        if not args.no_inductor:
            torch._dynamo.reset()
            compiled = torch.compile(model)
            compiled(*case.args)
            calls["inductor"] = lambda: compiled(*case.args)
        for form, artifact in artifacts.items():
            program = luminal(args, artifact, archive, case.args)
            want = expected if isinstance(expected, torch.Tensor) else expected[0]
            torch.testing.assert_close(program.outputs[0].reshape(want.shape), want, rtol=1e-3, atol=1e-3)
            calls[form] = program.run
        return time_forms(calls, args.rounds, args.seconds), reports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs (default: all)")
    parser.add_argument("--budgets", type=lambda t: [int(n) for n in t.split(",")], default=[10, 60])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each form of a program, over all rounds")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the tools")
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "build/release/lib/libluminal-runtime.so")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures and the reports there")
    args = parser.parse_args()
    if unknown := set(args.names) - set(PROGRAMS):
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    torch.set_grad_enabled(False)
    torch.set_num_threads(args.threads)
    logging.disable(logging.WARNING)
    peers = ["eager"] + ([] if args.no_inductor else ["inductor"])
    columns = [*peers, "static", *(f"{b} s" for b in args.budgets)]
    print(f"{'us':20s}" + "".join(f"{c:>10s}" for c in columns) + f"{'best/peer':>11s}{'alternatives':>14s}  program found")
    rows = {}
    for name in args.names or PROGRAMS:
        times, reports = measure(args, name)
        rows[name] = {"us": times, "search": reports}
        peer = min(times[p] for p in peers)
        ours = min(times[c] for c in columns if c not in peers)
        last = reports.get(f"{args.budgets[-1]} s") if args.budgets else None
        print(f"{name:20s}" + "".join(f"{times[c]:10.2f}" for c in columns) + f"{ours / peer:11.3f}"
              f"{times['static, no alternatives'] / times['static']:14.3f}  {last['program'] if last else ''}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
