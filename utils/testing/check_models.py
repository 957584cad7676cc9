#!/usr/bin/env python3
# ===- check_models.py - Archives against PyTorch's stored outputs -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs archives through the interpreter and the compiler and compares with the references beside them.

Each FOLDER is one that export_models.py wrote (or holds such folders). Both archives of a model, model.pt2 and
model_dec.pt2, are run on every size (from one artifact) or through all consecutive calls. The error of an output is its
largest distance from the float64 reference; the ratio printed is that error by PyTorch eager's own error, or by 1e-6
of the largest output where that is more. A ratio above --limit is a miss, as is a wrong integer. Needs no NumPy.

Exit code 1 where something missed or failed.
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import npy  # Beside this file.

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 4.0


class Failure(Exception):
    pass


def run(command, timeout):
    started = time.perf_counter()
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"{pathlib.Path(command[0]).name}: more than {timeout} s")
    except OSError as e:
        raise Failure(f"{command[0]}: {e.strerror}")
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or [""]
        raise Failure(f"{pathlib.Path(command[0]).name}: exit {done.returncode}: {lines[0][:200]}")
    return time.perf_counter() - started, done.stdout


def numbered(folder, prefix):
    """prefix_0.npy, prefix_1.npy, ... as far as they exist."""
    files = []
    while (file := folder / f"{prefix}_{len(files)}.npy").exists():
        files.append(file)
    return files


def distance(a, b):
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else math.inf
    return 0.0 if a == b else abs(a - b)


def ratio(got_file, folder, index):
    """The error of one output in units of what PyTorch's own error allows."""
    if not got_file.exists():
        raise Failure(f"{got_file.name} was not written")
    got, eager = npy.load(got_file), npy.load(folder / f"output_{index}.npy")
    exact = npy.load(folder / f"output64_{index}.npy")
    if tuple(got.shape) != tuple(eager.shape):
        raise Failure(f"{got_file.name}: shape {got.shape}, expected {eager.shape}")
    if not eager.is_float:
        return 0.0 if got.values == eager.values else math.inf
    if not got.is_float:
        raise Failure(f"{got_file.name}: element type {got.dtype}, expected {eager.dtype}")
    finite = [abs(v) for v in exact.values if math.isfinite(v)]
    unit = max(max(map(distance, eager.values, exact.values), default=0.0), 1e-6 * max(finite, default=0.0))
    error = max(map(distance, got.values, exact.values), default=0.0)
    return error / unit if unit and math.isfinite(unit) else (0.0 if error == 0 else math.inf)


def compare(got, folder):
    """The worst ratio over the outputs of one call."""
    expected = numbered(folder, "output")
    if not expected:
        raise Failure(f"{folder}: no reference")
    if (got / f"output_{len(expected)}.npy").exists():
        raise Failure(f"more than {len(expected)} outputs")
    return max(ratio(got / f.name, folder, i) for i, f in enumerate(expected))


def inputs(folder):
    return [f"--input={f}" for f in numbered(folder, "input")]


class Model:
    def __init__(self, folder, args):
        self.folder, self.args = folder, args
        self.runs = sorted(folder.glob("run_*"), key=lambda p: int(p.name[4:]))
        self.sizes = [folder] + sorted(folder.glob("size_*")) if not self.runs else []

    def outputs_of(self, command, work):
        """The worst ratio over all sizes, or over all calls, of what `command` computes."""
        if self.runs:
            run(command + [f"--steps={self.folder}", f"--output-dir={work}"], self.args.timeout)
            return max(compare(work / r.name, r) for r in self.runs)
        worst = 0.0
        for k, size in enumerate(self.sizes):
            out = work / str(k)
            run(command + inputs(size) + [f"--output-dir={out}"], self.args.timeout)
            worst = max(worst, compare(out, size))
        return worst

    def interpreted(self, archive, work):
        return self.outputs_of([self.args.bin / "luminal-run", "--reference", archive], work)

    def compiled(self, archive, work):
        """Ratio, seconds to compile, milliseconds a call at the first size."""
        command = [self.args.bin / "luminal-run", f"--weights={archive}"]
        if self.args.artifacts:
            artifact = self.args.artifacts / f"{self.folder.name}-{archive.stem}.lum"
            return self.measured(command + [artifact], work, 0.0)
        artifact = work / "model.lum"
        report = work / "report.json"
        seconds, _ = run([self.args.bin / "luminal-compile", archive, "-o", artifact, f"--target={self.args.target}",
                          "--search-budget=0", "--quiet", f"--report={report}", *self.args.compile_option],
                         self.args.timeout)
        for function in json.loads(report.read_text())["saturation"]["functions"]:
            if function["stop"] != "saturated":
                raise Failure(f"saturation of {function['name']} stopped for {function['stop']}")
        if self.args.keep:
            self.args.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(artifact, self.args.keep / f"{self.folder.name}-{archive.stem}.lum")
        if self.args.compile_only:
            return None, seconds, None
        return self.measured(command + [artifact], work, seconds)

    def measured(self, command, work, seconds):
        worst = self.outputs_of(command, work)
        milliseconds = None
        if not self.runs:
            _, text = run(command + inputs(self.folder) + ["--benchmark=0.2", "--json"], self.args.timeout)
            milliseconds = json.loads(text)["median_ms"]
        return worst, seconds, milliseconds


def check(model, archive, args):
    """One row of the table, and whether it passed."""
    row = {"model": model.folder.name, "form": archive.stem, "problems": []}
    work = pathlib.Path(tempfile.mkdtemp(prefix="luminal-check-"))
    try:
        if args.only != "compiled" and not args.compile_only:
            try:
                row["interpreter"] = model.interpreted(archive, work / "interpreter")
            except Failure as e:
                row["problems"].append(f"interpreter: {e}")
        if args.only != "interpreter":
            (work / "compiled").mkdir()
            try:
                row["compiled"], row["compile_s"], row["run_ms"] = model.compiled(archive, work / "compiled")
            except Failure as e:
                row["problems"].append(f"compiled: {e}")
    finally:
        shutil.rmtree(work)
    for which in ("interpreter", "compiled"):
        if (row.get(which) or 0.0) > args.limit:
            row["problems"].append(f"{which}: error {row[which]:.3g} times what PyTorch's own allows, "
                                   f"limit {args.limit:g}")
    return row


def models_under(folders):
    for folder in folders:
        if (folder / "model.pt2").exists():
            yield folder
            continue
        found = sorted(p.parent for p in folder.glob("*/model.pt2"))
        if not found:
            raise SystemExit(f"check-models: {folder}: no archive here")
        yield from found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the tools")
    parser.add_argument("--only", choices=["interpreter", "compiled"])
    parser.add_argument("--form", choices=["model", "model_dec"], help="only that archive")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--compile-only", action="store_true", help="compile, and run nothing")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the artifacts, MODEL-ARCHIVE.lum")
    parser.add_argument("--artifacts", type=pathlib.Path, help="folder of such artifacts to run instead of compiling")
    parser.add_argument("--compile-option", action="append", default=[], help="passed to luminal-compile")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"largest ratio that passes ({LIMIT:g})")
    parser.add_argument("--timeout", type=float, default=120, help="seconds a command may take (120)")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows there")
    args = parser.parse_args()

    number = lambda value, form: format(value, form) if value is not None else "-"
    print(f"{'model':18s} {'archive':10s} {'interpreter':>11s} {'compiled':>9s} {'compile s':>9s} {'run ms':>9s}")
    rows = []
    for folder in models_under(args.folders):
        model = Model(folder, args)
        for archive in (folder / "model.pt2", folder / "model_dec.pt2"):
            if not archive.exists() or args.form not in (None, archive.stem):
                continue
            row = check(model, archive, args)
            rows.append(row)
            print(f"{row['model']:18s} {row['form']:10s} {number(row.get('interpreter'), '11.3f'):>11s} "
                  f"{number(row.get('compiled'), '9.3f'):>9s} {number(row.get('compile_s'), '9.2f'):>9s} "
                  f"{number(row.get('run_ms'), '9.4f'):>9s}", flush=True)
            for problem in row["problems"]:
                print(f"    {problem}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    missed = sum(bool(row["problems"]) for row in rows)
    passed = "compiled" if args.compile_only else f"within {args.limit:g} times PyTorch's own error"
    print(f"{len(rows) - missed} of {len(rows)} {passed}")
    return 1 if missed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
