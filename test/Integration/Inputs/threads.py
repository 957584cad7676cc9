# ===- threads.py - The same bits whatever the number of threads --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: threads.py UTILS FOLDER PROGRAM...

Runs each program on random operands with several numbers of threads, and compares the bytes of the outputs.
"""
import json
import pathlib
import random
import subprocess
import sys

THREADS = (1, 2, 3, 8, 16)


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def main():
    sys.path.insert(0, sys.argv[1])
    import npy
    out = pathlib.Path(sys.argv[2])
    numbers = random.Random(1)
    for program in map(pathlib.Path, sys.argv[3:]):
        artifact = out / f"{program.stem}.lum"
        run("luminal-compile", program, "-o", artifact, "--quiet")
        info = json.loads(run("luminal-run", artifact, "--info", "--json"))
        operands = []
        for i, operand in enumerate(info["inputs"]):
            count = 1
            for extent in operand["shape"]:
                count *= int(extent)
            some = [numbers.gauss(0, 1) if operand["dtype"] == "f32" else numbers.randrange(3) for _ in range(1009)]
            path = out / f"{program.stem}_{i}.npy"
            npy.save(path, {"f32": "f4", "i64": "i8"}[operand["dtype"]], [int(e) for e in operand["shape"]],
                     (some * (count // 1009 + 1))[:count])
            operands.append(f"--input={path}")
        outputs = []
        for threads in THREADS:
            folder = out / f"{program.stem}_{threads}"
            run("luminal-run", artifact, *operands, f"--threads={threads}", f"--output-dir={folder}")
            outputs.append([path.read_bytes() for path in sorted(folder.glob("output_*.npy"))])
        assert outputs[0] and all(len(o) > 128 for o in outputs[0])
        same = [threads for threads, o in zip(THREADS, outputs) if o == outputs[0]]
        print(program.name, "same with", *same)


main()
