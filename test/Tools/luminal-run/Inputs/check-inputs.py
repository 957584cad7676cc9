#!/usr/bin/env python3
# ===- check-inputs.py - Inputs that do not fit a program -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-inputs.py FOLDER PROGRAM: FOLDER/m.lum is PROGRAM (inputs.mlir), compiled: f32[n, k], f32[k, 3], i64[n], in which
n is in [0, 8] and k in [1, 64]. Each case must end with exit code 2 and one line that holds a given text, of the artifact
and of the interpreter, and leave no output.
"""
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "utils/testing"))
import npy

folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
out = folder / "out"
failures = 0


def run(model, inputs):
    return subprocess.run(["luminal-run", *model, *(f"--input={file}" for file in inputs), f"--output-dir={out}"],
                          capture_output=True, text=True)


def case(inputs, text, reference=None):
    global failures
    for expected, model in ((text, [folder / "m.lum"]), (reference or text, ["--reference", program])):
        done = run(model, inputs)
        lines = done.stderr.splitlines()
        if done.returncode != 2 or len(lines) != 1 or expected not in lines[0] or out.exists() or done.stdout:
            failures += 1
            print(f"{model}: exit {done.returncode}, expected '{expected}', got {lines}, {done.stdout!r}")


def array(name, code, *shape):
    npy.save(folder / name, code, shape, [e % 2 for e in range(math.prod(shape))])
    return folder / name


def damaged(name, change):
    (folder / name).write_bytes(change(x.read_bytes()))
    return folder / name


def lying(shape):
    """Says another shape, in a header of the same length."""
    return lambda data: data.replace(b"(2, 4), }" + b" " * (len(shape) - 6), shape + b", }")


x, w, i = array("x.npy", "f4", 2, 4), array("w.npy", "f4", 4, 3), array("i.npy", "i8", 2)
for model in [folder / "m.lum"], ["--reference", program]:
    for inputs in [x, w, i], [array("x0.npy", "f4", 0, 4), w, array("i0.npy", "i8", 0)]:
        assert run(model, inputs).returncode == 0, (model, inputs)
        assert (out / "output_0.npy").exists()
        (out / "output_0.npy").unlink()
        out.rmdir()

# Element types.
case([array("f64.npy", "f8", 2, 4), w, i], "input 'x': has element type f64, expected f32")
case([x, w, array("i32.npy", "i4", 2)], "input 'i': has element type i32, expected i64")
# Rank, a static dim, symbols with two values, a range.
case([array("flat.npy", "f4", 8), w, i], "input 'x': has rank 1, expected f32[n, k]", "('x'): expected rank 2, found 1")
case([x, x, i], "input 'w': dim 1 is 4, expected f32[k, 3]", "('w'): expected 3 as dim 1, found 4")
case([x, array("tall.npy", "f4", 5, 3), i], "dim 0 of input 'w' is 5, expected 4 (k, k is 4 by dim 1 of input 'x')",
     "('w'): expected k = 4 as dim 0, found 5")
case([x, w, array("i3.npy", "i8", 3)], "dim 0 of input 'i' is 3, expected 2 (n, n is 2 by dim 0 of input 'x')",
     "('i'): expected n = 2 as dim 0, found 3")
case([array("nine.npy", "f4", 9, 4), w, array("i9.npy", "i8", 9)],
     "dim 0 of input 'x' is 9, outside the range [0, 8] of n", "('x'): dim 0 is 9, outside the range [0, 8] of n")
# Too few, too many, unknown, twice.
case([x, w], "input 'i' (i64[n]) is missing")
case([x, w, i, x], "there are only 3 inputs")
case([x, w, f"q={i}"], "there is no input 'q'")
case([x, f"x={x}", i], "input 'x' is given twice")
# Wrong headers.
case([damaged("cut.npy", lambda data: data[:-1]), w, i], "says f32[2, 4], but it holds 31 bytes")
case([damaged("long.npy", lambda data: data + bytes(8)), w, i], "says f32[2, 4], but it holds 40 bytes")
case([damaged("lie.npy", lying(b"(9, 4)")), w, i], "says f32[9, 4], but it holds 32 bytes")
case([damaged("less.npy", lying(b"(1, 4)")), w, i], "says f32[1, 4], but it holds 32 bytes")
case([damaged("negative.npy", lying(b"(-2, 4)")), w, i], "negative.npy")
case([damaged("wrap.npy", lying(b"(4611686018427387906, 4)")), w, i], "wrap.npy")
case([damaged("huge.npy", lying(b"(99999999999999999999, 4)")), w, i], "huge.npy")
case([damaged("expression.npy", lying(b"(1 << 40, 4)")), w, i], "expression.npy")
case([damaged("header.npy", lambda data: data[:9] + b"\xff" + data[10:]), w, i], "header.npy")
case([damaged("version.npy", lambda data: data[:6] + b"\x09" + data[7:]), w, i], "version.npy")
# Errors that depend on elements.
case([x, w, damaged("outside.npy", lambda data: i.read_bytes()[:-8] + (4).to_bytes(8, "little"))], "index")
sys.exit(f"{failures} cases failed" if failures else 0)
