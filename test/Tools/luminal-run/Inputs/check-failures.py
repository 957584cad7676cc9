#!/usr/bin/env python3
# ===- check-failures.py - What luminal-run refuses ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each case must end with exit code 2, one line on standard error that holds a given text, and no output file."""
import pathlib
import subprocess
import sys

folder, make = pathlib.Path(sys.argv[1]), sys.argv[2]
good, x, w = folder / "m.lum", folder / "x.npy", folder / "w.npy"
out = folder / "out"
failures = 0


def case(text, *arguments):
    global failures
    done = subprocess.run(["luminal-run", *map(str, arguments), f"--output-dir={out}"], capture_output=True, text=True)
    lines = done.stderr.splitlines()
    if done.returncode != 2 or len(lines) != 1 or text not in lines[0] or out.exists() or done.stdout:
        failures += 1
        print(f"{arguments}: exit {done.returncode}, expected '{text}', got {lines}, {done.stdout!r}")


def array(name, *arguments):
    subprocess.run([sys.executable, make, "npy", folder / name, *arguments], check=True)
    return folder / name


def artifact(*changes):
    subprocess.run([sys.executable, make, "lum", folder / "bad.lum", folder / "host.so", *changes], check=True)
    return folder / "bad.lum"


def raw(name, data):
    (folder / name).write_bytes(data)
    return folder / name


both = (f"--input={x}", f"--input={w}")
case("no model; see --help")
case("unknown option '--frobnicate'", good, "--frobnicate")
case("two models", good, good)
case("--threads: '0' is not a number", good, *both, "--threads=0")
case("--threads: 'x' is not a number", good, *both, "--threads=x")
case("--rtol: '-1' is not a number", good, *both, "--rtol=-1")
case("--repeat: '1.5' is not a number of calls", good, *both, "--repeat=1.5")
case("--input: needs a value", good, "--input")
case("there is no device 'abacus'; see --list-devices", good, *both, "--device=abacus")
case("'x' is not the number of a device", good, *both, "--device=cuda:x")
case("is compiled for 'cpu', not for 'cuda'", good, *both, "--device=cuda")
case("there is one device of kind 'cpu', not 2", good, *both, "--device=cpu:1")
case("--steps cannot be combined with", good, *both, f"--steps={folder}")
case("holds no folder run_0", good, f"--steps={folder}")

case("input 'w' (f32[n, 4]) is missing", good, f"--input={x}")
case("there are only 2 inputs", good, *both, f"--input={x}")
case("there is no input 'q'", good, *both, f"--input=q={x}")
case("input 'x' is given twice", good, f"--input=x={x}", f"--input=x={x}")
case("/no/such.npy: cannot be opened", good, "--input=/no/such.npy", f"--input={w}")
case("input 'x': has element type f64, expected f32", good, f"--input={array('f8.npy', 'f8', '2,4', *'12345678')}",
     f"--input={w}")
case("input 'x': has rank 1, expected f32[n, k]", good, f"--input={array('r1.npy', 'f4', '4', *'1234')}", f"--input={w}")
case("input 'w': dim 1 is 3, expected f32[n, 4]", good, f"--input={x}",
     f"--input={array('d.npy', 'f4', '2,3', *'123456')}")
case("dim 0 of input 'w' is 1, expected 2 (n, n is 2 by dim 0 of input 'x')", good, f"--input={x}",
     f"--input={array('n1.npy', 'f4', '1,4', *'1234')}")
case("dim 0 of input 'x' is 9, outside the range [1, 8] of n", good,
     f"--input={array('n9.npy', 'f4', '9,4', *'123456789012345678901234567890123456')}",
     f"--input={array('n9w.npy', 'f4', '9,4', *'123456789012345678901234567890123456')}")
lying = x.read_bytes()
case("says f32[2, 4], but it holds 31 bytes", good, f"--input={raw('short.npy', lying[:-1])}", f"--input={w}")
case("says f32[9, 4], but it holds", good, f"--input={raw('lie.npy', lying.replace(b'(2, 4)', b'(9, 4)'))}",
     f"--input={w}")
case("is not an .npy file", good, f"--input={raw('text.npy', b'hello')}", f"--input={w}")
case("is not a .safetensors file", good, f"--input={raw('x.safetensors', b'hello')}", f"--input={w}")

# If one file cannot be written, the others are removed.
case("/no/such/all.safetensors: cannot be written", good, *both, "--output=/no/such/all.safetensors")
(folder / "full.safetensors").symlink_to("/dev/full")
case("full.safetensors: cannot be written", good, *both, f"--output={folder / 'full.safetensors'}")
for name in "y.pt", "y", "safetensors", "y.npy.gz":
    case(f"--output={name}: the name of a .npy or .safetensors file was expected", good, *both, f"--output={name}")
case("a .npy file holds one output, the program has 2", good, *both, f"--output={folder / 'y.npy'}")
if (folder / "y.npy").exists():
    failures += 1
    print("y.npy was written")
case("/no/such/trace.json: cannot be written", good, *both, "--profile=/no/such/trace.json")
case("cannot be written: Is a directory", good, *both, f"--profile={folder}")

case("cannot be opened", folder / "none.lum", *both)
case("is not a zip archive", raw("text.lum", b"hello"), *both)
data = good.read_bytes()
for tenth in range(10):
    case("cut.lum: ", raw("cut.lum", data[:len(data) * tenth // 10]), *both)
case("this runtime reads version 3 of the format, the artifact has version 1", artifact("version=1"), *both)
case("is compiled for 'aarch64'", artifact("target.arch=aarch64"), *both)
case("is compiled for 'cuda'", artifact("target.kind=cuda", "steps=[]"), *both)
case("needs the CPU feature", artifact('target.features=["avx1024"]'), *both)
case("steps[0].kernel: host.so has no symbol 'nothing'", artifact("steps.0.kernel=nothing"), *both)
case("there is no buffer 77", artifact("steps.0.buffers=[0, 1, 77]"), *both)
case("'b' lies outside weights.bin", artifact("weights.0.offset=4096"),
     *both)
case("manifest.json.arena_bytes: is not an expression", artifact("arena_bytes=16*"), *both)
case("buffers[4]: lies outside the arena", artifact("arena_bytes=16*n - 1"), *both)
case("weight 'b' is not bound", artifact("weights_embedded=false"), *both)
case("holds the weights of another model", artifact("weights_embedded=false", "weights_digest=00"), *both,
     f"--weights={good}")
sys.exit(f"{failures} cases failed" if failures else 0)
