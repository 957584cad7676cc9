# ===- time_schedules.py - Schedules of one kernel side by side ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the schedules that a file lists for its kernel.

    build/venv/bin/python utils/user/time_schedules.py docs/examples/softmax.mlir docs/examples/gemm.mlir

A file holds a function `main` of static shapes with one `llir.kernel`, and lines `// SCHEDULE NAME: loops`. Each of them
is compiled in place of the kernel's own, beside the proposed one, and run on the same random operands; the results must
agree, but for the order of sums. The schedules take turns, round by round; the number printed is the median
over the rounds of each round's fastest call. Exit code 1 where results differ.
"""
import argparse
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))

import npy

# Sums may be taken in another order.
TOLERANCE = ["--rtol=1e-4", "--atol=1e-3"]
CODES = {"f16": "f2", "f32": "f4", "f64": "f8", "i1": "b1", "i32": "i4", "i64": "i8"}


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def schedules(text):
    """Name and loops of each, the proposed one first."""
    found = re.findall(r"^// SCHEDULE ([\w-]+): (.*)$", text, re.MULTILINE)
    return {"proposed": None, **dict(found)}


def with_loops(text, loops):
    clause = f" loops<{loops}>" if loops else ""
    text, count = re.subn(r"(llir\.kernel ?\w*\([^)]*\))( loops<[^>]*>)?", lambda m: m.group(1) + clause, text)
    if count != 1:
        sys.exit(f"expected one kernel, found {count}")
    return text


def write_operands(folder, signature):
    numbers = random.Random(1)
    options = []
    for i, operand in enumerate(signature):
        shape = [int(extent) for extent in operand["shape"]]
        count = 1
        for extent in shape:
            count *= extent
        is_float = operand["dtype"].startswith("f")
        some = [numbers.gauss(0, 1) if is_float else numbers.randrange(2) for _ in range(min(count, 1009))]
        values = (some * (count // max(len(some), 1) + 1))[:count]
        npy.save(folder / f"{i}.npy", CODES[operand["dtype"]], shape, values)
        options.append(f"--input={folder / f'{i}.npy'}")
    return options


def measure(path, args, folder):
    text = path.read_text()
    artifacts, operands, expected = {}, [], None
    for name, loops in schedules(text).items():
        source = folder / f"{name}.mlir"
        source.write_text(with_loops(text, loops))
        artifacts[name] = folder / f"{name}.lum"
        run(args.bin / "luminal-compile", source, "-o", artifacts[name], f"--arch={args.arch}", "--quiet")
        if expected is None:
            signature = json.loads(run(args.bin / "luminal-run", artifacts[name], "--info", "--json"))["inputs"]
            operands = write_operands(folder, signature)
            run(args.bin / "luminal-run", artifacts[name], *operands, f"--output-dir={folder}")
            expected = [f"--expect={output}" for output in sorted(folder.glob("output_*.npy"))] + TOLERANCE
        else:
            run(args.bin / "luminal-run", artifacts[name], *operands, *expected)
    times = {name: {t: [] for t in args.threads} for name in artifacts}
    for _ in range(args.rounds):
        for threads in args.threads:
            for name, artifact in artifacts.items():
                report = run(args.bin / "luminal-run", artifact, *operands, f"--benchmark={args.seconds}",
                             f"--threads={threads}", "--json")
                times[name][threads].append(json.loads(report)["min_ms"])
    width = max(map(len, times)) + 2
    print(path.name)
    print("".ljust(width) + "".join(f"{t} thread{'s' if t > 1 else ''}, ms".rjust(16) + "ratio".rjust(8) for t in args.threads))
    for name, rows in times.items():
        line = name.ljust(width)
        for threads in args.threads:
            ms, base = (statistics.median(times[n][threads]) for n in (name, "proposed"))
            line += f"{ms:16.4f}{ms / base:8.2f}"
        print(line)


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=here / "build/release/bin", help="folder of the tools")
    parser.add_argument("--arch", default="native", help="processor to compile for")
    parser.add_argument("--threads", type=lambda s: [int(t) for t in s.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each schedule in a round")
    args = parser.parse_args()
    for path in args.files:
        with tempfile.TemporaryDirectory() as folder:
            measure(path, args, pathlib.Path(folder))


main()
