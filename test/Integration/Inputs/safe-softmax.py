# ===- safe-softmax.py - Rows without a weight, beside the interpreter ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: safe-softmax.py UTILS FOLDER PROGRAM DEVICE

PROGRAM is of f32. Runs it in every float type, with masks that leave rows empty, scores and values that are infinite or
no numbers, compiled for DEVICE and by the interpreter.
"""
import math
import pathlib
import random
import subprocess
import sys

TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}
LOWEST = {"f64": "0xFFF0000000000000", "f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}


def run(*command):
    subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True)


def isclose(x, y, tolerance):
    return x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= tolerance * max(1, abs(y))


def main():
    sys.path.insert(0, sys.argv[1])
    import npy
    out, program = map(pathlib.Path, sys.argv[2:4])
    numbers = random.Random(1)
    rows, keys, depth, width = 150, 300, 16, 24

    # Scores of such a size that no weight of f16 becomes zero.
    def gauss(count, specials=(), sigma=1):
        values = [numbers.gauss(0, sigma) for _ in range(count)]
        for place, value in specials:
            values[place] = value
        return values

    mask = [row % 5 != 2 and (numbers.random() < 0.6 or row % 7 == 3) for row in range(rows) for _ in range(keys)]
    special = [(3 * keys + 5, math.nan), (4 * keys + 6, math.inf), (10 * keys + 7, -math.inf)]
    calls = {"finite": ((), ()), "scores": (special, ()),
             "values": ((), [(20 * width + 1, math.nan), (30 * width + 2, math.inf), (40 * width + 3, -math.inf)])}
    text = program.read_text()
    for element, tolerance in TOLERANCE.items():
        source = out / f"{element}.mlir"
        source.write_text(text.replace("f32", element).replace(LOWEST["f32"], LOWEST[element]))
        run("luminal-compile", source, "-o", out / f"{element}.lum", f"--target={sys.argv[4]}", "--quiet")
        dtype = {"f64": "f8", "f16": "f2"}.get(element, "f4")
        for name, (of_scores, of_values) in calls.items():
            operands = {"q": ([rows, depth], gauss(rows * depth, sigma=0.1)), "k": ([keys, depth], gauss(keys * depth)),
                        "s": ([rows, keys], gauss(rows * keys, of_scores)),
                        "v": ([keys, width], gauss(keys * width, of_values))}
            arguments = []
            for operand, (shape, values) in operands.items():
                npy.save(out / f"{operand}.npy", dtype, shape, values)
                arguments.append(f"--input={out / f'{operand}.npy'}")
            npy.save(out / "m.npy", "b1", [rows, keys], mask)
            arguments.append(f"--input={out / 'm.npy'}")
            run("luminal-run", out / f"{element}.lum", *arguments, f"--output-dir={out / 'got'}")
            run("luminal-run", "--reference", source, *arguments, f"--output-dir={out / 'want'}")
            got, want = (npy.load(out / folder / "output_0.npy").values for folder in ("got", "want"))
            wrong = [i for i, (x, y) in enumerate(zip(got, want, strict=True)) if not isclose(x, y, tolerance)]
            empty = sum(want[i] == 0 for i in range(2 * width, 3 * width))
            print(element, name, "wrong:", [(i, got[i], want[i]) for i in wrong[:3]], "zeros of an empty row:", empty)


main()
