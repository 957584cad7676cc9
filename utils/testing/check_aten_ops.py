#!/usr/bin/env python3
# ===- check_aten_ops.py - The op table against PyTorch ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the programs of aten_cases.py, imports them (training IR and decomposed), interprets them and compares.

With --target=cpu or cuda they are compiled and run there instead of interpreted.

An output of floats may be off by 4 times PyTorch eager's own error against float64, at least 1e-6 of the largest
output or half a unit in the last place of a 16-bit float; integers, booleans and NaN must be equal. Programs with
dynamic dims run at several sizes. Exit code 1 where one is out.
"""
import argparse
import pathlib
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import torch

import aten_cases  # These lie beside this file.
import float64
import quick_export  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def flat(outputs):
    return [t for t in torch.utils._pytree.tree_leaves(outputs) if isinstance(t, torch.Tensor)]


def to_numpy(t):
    t = t.detach()
    return (t.float() if t.dtype == torch.bfloat16 else t).contiguous().numpy()


def load(path, dtype):
    array = np.load(path)
    if dtype == torch.bfloat16 and array.dtype != np.float32:
        return torch.from_numpy(np.asarray(array.view(np.uint16).astype(np.int32) << 16)).view(torch.float32)
    return torch.from_numpy(array)


def largest(t):
    t = t[t.isfinite()]
    return t.abs().max().item() if t.numel() else 0.0


def distance(a, b):
    a, b = a.double(), b.double()
    same = (a == b) | (a.isnan() & b.isnan())
    return torch.where(same, 0.0, (a - b).abs().nan_to_num(nan=float("inf"))).max().item() if a.numel() else 0.0


def compare(got, eager, exact, unit16):
    """The error of one output, or None."""
    if tuple(got.shape) != tuple(eager.shape):
        return f"shape {tuple(got.shape)}, expected {tuple(eager.shape)}"
    if not eager.is_floating_point():
        if got.dtype != eager.dtype:
            return f"dtype {got.dtype}, expected {eager.dtype}"
        wrong = (got != eager).sum().item()
        return f"{wrong} of {got.numel()} elements differ" if wrong else None
    # Where eager overflows or gives NaN, its algorithm decides: f64 may say otherwise.
    fits = eager.isfinite()
    if distance(torch.where(fits, 0.0, got.double()), torch.where(fits, 0.0, eager.double())) or (fits & ~got.isfinite()).any():
        wrong = (fits != got.isfinite()).sum().item()
        return f"{wrong} elements are not finite in one place only, or infinities and NaN are mixed up"
    exact = torch.where(exact.isfinite(), exact.double(), eager.double())
    eager, exact, got = (torch.where(fits, t.double(), 0.0) for t in (eager, exact, got))
    allowed = 4 * max(distance(eager, exact), largest(exact) * max(1e-6, unit16))
    error = distance(got, exact)
    return f"error {error:.3g}, allowed {allowed:.3g}" if error > allowed else None


def sizes(args, dynamic):
    """The given inputs, and those whose dynamic dims have other extents."""
    yield args
    for factor in (1, 2) if dynamic else ():
        extents = {}
        resized = []
        for arg, dims in zip(args, dynamic):
            for axis, name in dims.items():
                extent = extents.setdefault(name, arg.shape[axis] * factor + (0 if factor == 1 else 1))
                arg = torch.cat([arg] * 3, axis).narrow(axis, 0, extent)
            resized.append(arg)
        yield resized


class Failure(Exception):
    pass


def tool(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [f"exit {done.returncode}"]
        raise Failure(lines[0][:500])


class Case:
    """A program of aten_cases.py, exported once, and what eager says of its inputs."""

    def __init__(self, case, folder):
        _, function, inputs, *dynamic = case
        self.folder = folder
        model = Function(function).eval()
        shapes = None
        if dynamic:
            low = dynamic[1] if len(dynamic) > 1 else 1
            dims = {n: torch.export.Dim(n, min=low, max=64) for d in dynamic[0] for n in d.values()}
            shapes = (tuple({a: dims[n] for a, n in d.items()} for d in dynamic[0]),)
        self.program = torch.export.export(model, tuple(inputs), dynamic_shapes=shapes)
        self.calls = []  # (samples, files of them, eager's outputs, outputs in float64)
        for k, samples in enumerate(sizes(inputs, dynamic[0] if dynamic else None)):
            eager = flat(model(*(a.clone() for a in samples)))
            exact = flat(float64.call(float64.copy_of(model), float64.widened([a.clone() for a in samples])))
            files = [folder / f"size_{k}" / f"input_{i}.npy" for i in range(len(samples))]
            (folder / f"size_{k}").mkdir(parents=True, exist_ok=True)
            for file, a in zip(files, samples):
                np.save(file, to_numpy(a))
            self.calls.append((samples, files, eager, exact))

    def problems(self, form, args):
        folder = self.folder / form
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / "model.pt2"
        torch.export.save(self.program.run_decompositions() if form == "decomposed" else self.program, archive)
        command = [args.bin / "luminal-run", "--reference", archive]
        if args.target:
            tool(args.bin / "luminal-compile", archive, "-o", folder / "model.lum", f"--target={args.target}", "--search-budget=0", "--quiet")
            command = [args.bin / "luminal-run", folder / "model.lum", f"--weights={archive}"]
        problems = []
        for k, (samples, files, eager, exact) in enumerate(self.calls):
            for old in folder.glob("output_*.npy"):
                old.unlink()
            tool(*command, f"--output-dir={folder}", *(f"--input={file}" for file in files))
            unit16 = max([UNIT.get(t.dtype, 0.0) for t in [*samples, *eager]])
            for i, (e, x) in enumerate(zip(eager, exact)):
                problem = compare(load(folder / f"output_{i}.npy", e.dtype), e, x, unit16)
                if problem:
                    problems.append(f"size {k}, output {i}: {problem}")
        return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("themes", nargs="*", help=f"of {', '.join(aten_cases.THEMES)}; all by default")
    parser.add_argument("--case", help="only this case")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the tools")
    parser.add_argument("--target", choices=("cpu", "cuda"), help="compile for this device and run there")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/aten-ops", help="where archives are kept")
    parser.add_argument("--in-turn", action="store_true", help="every third case, in one form, exported and decomposed in turn")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    done = failed = 0
    for theme in args.themes or aten_cases.THEMES:
        for k, case in enumerate(aten_cases.THEMES[theme]):
            if args.case not in (None, case[0]):
                continue
            forms = ("exported", "decomposed")
            if args.in_turn:
                if k % 3:
                    continue
                forms = (forms[k // 3 % 2],)
            if case[0].endswith("exported"):
                forms = ("exported",)
            exported = None
            for form in forms:
                done += 1
                try:
                    with torch.no_grad():
                        exported = exported or Case(case, args.out / theme / case[0])
                        problems = exported.problems(form, args)
                except Failure as e:
                    problems = [str(e)]
                except Exception as e:  # torch refuses the case itself.
                    problems = [f"{type(e).__name__}: {str(e).strip()[-300:]}"]
                if problems:
                    failed += 1
                    print(f"{theme}/{case[0]} ({form}):", *problems[:8], sep="\n  ", flush=True)
    print(f"{done} programs, {failed} failed")
    return 1 if failed or not done else 0


sys.exit(main())
