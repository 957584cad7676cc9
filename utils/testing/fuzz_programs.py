#!/usr/bin/env python3
# ===- fuzz_programs.py - Random programs, compiled and compared ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws programs from seeds (fuzz_generator.py), exports them with torch, compiles and interprets them, and compares
every output of every sample with PyTorch.

The allowed error is 4 times PyTorch eager's own against float64 on the same program (the worst of the samples), and at
least 1e-6 of the largest output, or half a unit in the last place where the program holds a 16-bit float. Integers and
booleans must be equal. One artifact serves all batches.

A failing program stays under --out: program.py (which --replay runs again), the archive, and inputs and references in
the layout that check_models.py reads. Exit code 1 where one failed.
"""
import argparse
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import time
import types
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import torch

import float64  # These lie beside this file.
import fuzz_generator
import quick_export  # noqa: F401
import rounds

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Refused(Exception):
    """torch.export refuses the program."""


class Failure(Exception):
    pass


def load(source):
    module = types.ModuleType("program")
    exec(compile(source, "program.py", "exec"), module.__dict__)
    return module


def write(folder, name, tensors):
    folder.mkdir(parents=True, exist_ok=True)
    for i, t in enumerate(tensors):
        np.save(folder / f"{name}_{i}.npy", (t.float() if t.dtype == torch.bfloat16 else t).contiguous().numpy())


def archive_of(name):
    """Half of all programs are judged as they were exported, half decomposed."""
    return "model_dec.pt2" if sum(map(ord, name)) % 2 else "model.pt2"


def export(source, folder):
    """Archive, inputs and references under the folder. Returns per sample: inputs, outputs, float64 outputs."""
    module = load(source)
    model = module.Program().eval()
    samples = [fuzz_generator.make_inputs(module.INPUTS, batch, draw) for draw, batch in enumerate(module.BATCHES)]
    names = [f"x{i}" for i in range(len(module.INPUTS))]
    batch = torch.export.Dim("batch", min=1, max=64)
    shapes = {n: {0: batch} if n in module.DYNAMIC else None for n in names} if module.DYNAMIC else None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "program.py").write_text(source)
    with torch.no_grad():
        try:
            program = torch.export.export(model, samples[0], dynamic_shapes=shapes)
        except Exception as e:  # torch.export has no base class for its refusals.
            raise Refused(f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}")
        archive = archive_of(folder.name)
        torch.export.save(program if archive == "model.pt2" else program.run_decompositions(), folder / archive)
        model64 = float64.copy_of(model)
        results = []
        for k, args in enumerate(samples):
            where = folder if k == 0 else folder / f"size_{k}"
            outputs = model(*(a.clone() for a in args))
            outputs64 = float64.call(model64, float64.widened(args))
            write(where, "input", args)
            write(where, "output", outputs)
            write(where, "output64", outputs64)
            results.append((where, outputs, outputs64))
    return results


def run(command, timeout):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"{pathlib.Path(command[0]).name}: more than {timeout} s")
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [""]
        raise Failure(f"{pathlib.Path(command[0]).name}: exit {done.returncode}: {lines[0][:300]}")


def distance(a, b):
    """The largest distance; NaN equals NaN, and an infinity only itself."""
    a, b = a.double(), b.double()
    same = (a == b) | (a.isnan() & b.isnan())
    gap = torch.where(same, 0.0, (a - b).abs().nan_to_num(nan=float("inf")))
    return gap.max().item() if gap.numel() else 0.0


def narrow_floats(source):
    return {torch.finfo(d).eps for n, d in (("float16", torch.float16), ("bfloat16", torch.bfloat16)) if n in source}


def compare(results, outputs_of, source, limit):
    """The worst ratio of error and allowance; raises where integers or shapes differ."""
    worst = 0.0
    for i in range(len(results[0][1])):
        unit = error = largest = 0.0
        for k, (_, outputs, outputs64) in enumerate(results):
            file = outputs_of(k) / f"output_{i}.npy"
            if not file.exists():
                raise Failure(f"sample {k}: {file.name} was not written")
            array = np.load(file)
            want = outputs[i]
            if array.dtype == np.uint16 or array.dtype.kind == "V":
                got = torch.from_numpy(np.asarray(array.view(np.uint16).astype(np.int32) << 16)).view(torch.float32)
            else:
                got = torch.from_numpy(array)
            if tuple(got.shape) != tuple(want.shape):
                raise Failure(f"sample {k}: output {i} has shape {tuple(got.shape)}, expected {tuple(want.shape)}")
            if want.is_floating_point():
                unit = max(unit, distance(want, outputs64[i]))
                error = max(error, distance(got, outputs64[i]))
                finite = outputs64[i][outputs64[i].isfinite()]
                largest = max(largest, finite.abs().max().item() if finite.numel() else 0.0)
            elif got.dtype != want.dtype or not torch.equal(got, want):
                raise Failure(f"sample {k}: output {i} ({want.dtype}) differs")
        unit = max(unit, largest * max([1e-6, *(eps / 2 for eps in narrow_floats(source))]))
        ratio = error / unit if unit else (0.0 if error == 0 else float("inf"))
        if ratio > limit:
            raise Failure(f"output {i}: error {error:.3g}, {ratio:.3g} times what is allowed ({unit:.3g} x {limit:g})")
        worst = max(worst, ratio)
    return worst


def judge(folder, archive, source, results, args):
    """The worst ratio of the interpreter and of the compiled program."""
    inputs = lambda k: [f"--input={results[k][0]}/input_{i}.npy" for i in range(len(load(source).INPUTS))]
    ratios = {}
    work = folder / "work"
    for which in ("interpreter", "compiled"):
        if args.only not in (None, which):
            continue
        try:
            if which == "compiled":
                run([args.bin / "luminal-compile", archive, "-o", folder / "model.lum", f"--target={args.target}",
                     "--search-budget=0", "--quiet"], args.timeout)
                command = [args.bin / "luminal-run", folder / "model.lum", f"--weights={archive}"]
            else:
                command = [args.bin / "luminal-run", "--reference", archive]
            for k in range(len(results)):
                run(command + inputs(k) + [f"--output-dir={work / which / str(k)}"], args.timeout)
            ratios[which] = compare(results, lambda k: work / which / str(k), source, args.limit)
        except Failure as e:
            raise Failure(f"{which}: {e}")
    return ratios


def seeds_of(text):
    first, _, last = text.partition(":")
    return range(int(first), int(last)) if last else range(int(first), int(first) + 1)


def drawn(seed, out):
    """The first exportable program of a seed's sequence."""
    for attempt in range(50):
        source = fuzz_generator.Generator(seed * 1000 + attempt).source()
        if "v0" not in source:
            continue
        try:
            return source, export(source, out)
        except Refused:
            continue
    raise SystemExit(f"fuzz-programs: seed {seed} gives nothing that torch.export takes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds_of, metavar="FIRST:LAST", help="default 0:40, LUMINAL_ROUNDS times as many")
    parser.add_argument("--budget", type=float, help="draw no more programs after so many seconds")
    parser.add_argument("--at-least", type=int, default=0, help="programs to try whatever the budget")
    parser.add_argument("--replay", nargs="+", type=pathlib.Path, metavar="FILE", help="run these programs instead")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the tools")
    parser.add_argument("--target", default="cpu", help="device of the compiled programs")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/fuzz", help="where failures are kept")
    parser.add_argument("--only", choices=["interpreter", "compiled"])
    parser.add_argument("--export-only", action="store_true", help="draw and export, run nothing")
    parser.add_argument("--limit", type=float, default=4.0)
    parser.add_argument("--timeout", type=float, default=120, help="seconds a command may take")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(1)

    started, failures, done = time.monotonic(), [], 0

    def judged(name, folder, source, results):
        archive = folder / archive_of(name)
        try:
            ratios = {} if args.export_only else judge(folder, archive, source, results, args)
        except Failure as e:
            return name, folder, archive, str(e), {}
        shutil.rmtree(folder)
        return name, folder, archive, None, ratios

    def report(future):
        nonlocal done
        name, folder, archive, problem, ratios = future.result()
        done += 1
        if problem:
            failures.append(name)
            print(f"{name}: {archive}: {problem}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = set()
        name_of = lambda file: file.resolve().parent.name if file.stem == "program" else file.stem
        jobs = [(name_of(f), f) for f in args.replay] if args.replay else [(f"seed_{s}", s) for s in args.seeds or range(rounds.count(40))]
        for count, (name, what) in enumerate(jobs):
            if args.budget and time.monotonic() - started > args.budget and count >= args.at_least:
                break
            folder = args.out / name
            if args.replay:
                source = what.read_text()
                results = export(source, folder)
            else:
                source, results = drawn(what, folder)
            waiting.add(pool.submit(judged, name, folder, source, results))
            if len(waiting) > 2 * args.jobs:
                finished, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in finished:
                    report(future)
        for future in waiting:
            report(future)
    print(f"{done} programs, {done - len(failures)} agree with PyTorch, {time.monotonic() - started:.0f} s")
    return 1 if failures or not done else 0


if __name__ == "__main__":
    sys.exit(main())
