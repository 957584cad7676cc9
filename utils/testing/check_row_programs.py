#!/usr/bin/env python3
# ===- check_row_programs.py - Random row programs are one kernel each ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the programs of row_programs.py: each must be one kernel, give the same bits with any number of threads, and
differ from the interpreter by rounding only, at every size. Those for a GPU run where there is one.

    check_row_programs.py OUT [--bin FOLDER] [--seeds 0-49] [--dtype float32] [--kernels 1] [--target cpu] [+ OPTION...]...

Each list of options after a + is one more run in this process, with those before the first + as well.
"""
import argparse
import functools
import itertools
import pathlib
import re
import subprocess
import sys

import numpy as np
import torch

import row_programs  # These lie beside this file.

THREADS = (1, 2, 3)
# Of the greatest element. Functions magnify what sums round.
TOLERANCES = {"float32": 2e-5, "float64": 1e-10, "float16": 2e-2, "bfloat16": 1.5e-1}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


@functools.cache
def export(seed, dtype, out):
    """The archive of a program, and its inputs at several sizes."""
    folder = out / f"{seed}_{dtype}"
    case = row_programs.make(seed, getattr(torch, dtype))
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "model.pt2"
    with torch.no_grad():
        torch.export.save(torch.export.export(case.model, case.args, dynamic_shapes=case.dynamic), str(archive))
    sizes = []
    for k, args in enumerate([case.args] + case.sizes):
        files = []
        for i, tensor in enumerate(args):
            files.append(folder / f"input_{k}_{i}.npy")
            np.save(files[-1], tensor.numpy())
        with torch.no_grad():
            sizes.append((files, case.model(*args).numpy()))
    return archive, sizes


def outputs(command, files, out):
    run(*command, *(f"--input={f}" for f in files), f"--output-dir={out}")
    return np.load(out / "output_0.npy")


def check(seed, out, binaries, kernels, target, arch, dtype):
    folder = out / f"{seed}_{dtype}_{target}"
    archive, sizes = export(seed, dtype, out)
    folder.mkdir(exist_ok=True)
    compiler, runner = binaries / "luminal-compile", binaries / "luminal-run"
    device = [f"--target={target}", f"--arch={arch}", "--quiet"]
    fused = run(compiler, archive, "--emit=fused", *device, "-o", "-")
    count = len(re.findall(r"= llir\.kernel\(", fused))
    problems = [] if count == kernels else [f"{count} kernels"]
    artifact = folder / "model.lum"
    run(compiler, archive, "-o", artifact, "--search-budget=0", *device)
    weights = f"--weights={archive}"
    can_run = target in run(runner, "--list-devices")
    for k, (files, eager) in enumerate(sizes if can_run else []):
        reference = outputs([runner, "--reference", archive], files, folder / "reference")
        found = [outputs([runner, artifact, weights, f"--threads={t}"], files, folder / f"threads_{t}") for t in THREADS]
        if any(f.tobytes() != found[0].tobytes() for f in found):
            problems.append(f"size {k}: other bits with other threads")
        scale = max(1.0, np.abs(reference).max())
        for name, expected in (("interpreter", reference), ("PyTorch", eager)):
            error = np.abs(found[0] - expected).max() / scale
            if not error <= TOLERANCES[dtype]:
                problems.append(f"size {k}: {error:.1e} from {name}")
    print(f"{seed}: {'; '.join(problems) or 'one kernel'}{'' if can_run else ', not run'}", flush=True)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seeds", default="0-49", help="first and last")
    parser.add_argument("--kernels", type=int, default=1, help="kernels that each program is")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--arch", default="native")
    parser.add_argument("--dtype", default="float32", choices=sorted(TOLERANCES))
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    common, *runs = [list(group) for is_end, group in itertools.groupby(sys.argv[1:], "+".__eq__) if not is_end]
    results = []
    for options in runs or [[]]:
        args = parser.parse_args(common + options)
        first, _, last = args.seeds.partition("-")
        results += [check(seed, args.out, args.bin, args.kernels, args.target, args.arch, args.dtype)
                    for seed in range(int(first), int(last or first) + 1)]
    print(f"{sum(results)} of {len(results)} are right")
    sys.exit(not all(results))


main()
