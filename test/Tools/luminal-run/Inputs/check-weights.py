#!/usr/bin/env python3
# ===- check-weights.py - Weights that are no program's -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-weights.py FOLDER: m.lum is good.pt2 of utils/testing/make_pt2_inputs.py, compiled; it needs w: f32[4, 3] and b: f32[4]. Each
file must be refused with exit code 2 and one line that holds a given text by all that read weights.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
good = folder / "good.pt2"
out = folder / "out"
failures = 0
RUNTIME = [["luminal-run", folder / "m.lum", f"--input={folder / 'x.npy'}", f"--output-dir={out}"]]
ALL = RUNTIME + [
    ["luminal-compile", folder / "weights-missing.pt2", "-o", out, "--embed-weights"],
    ["luminal-run", "--reference", folder / "weights-missing.pt2", f"--input={folder / 'x.npy'}", f"--output-dir={out}"]]


def run(command, file):
    return subprocess.run([*map(str, command), f"--weights={file}"], capture_output=True, text=True)


def case(what, data, text, commands=ALL):
    global failures
    file = folder / "bad"
    file.write_bytes(data)
    for command in commands:
        done = run(command, file)
        lines = done.stderr.splitlines()
        if done.returncode != 2 or len(lines) != 1 or text not in lines[0] or out.exists() or done.stdout:
            failures += 1
            print(f"{what}: {command[0]}: exit {done.returncode}, expected '{text}', got {lines}, {done.stdout!r}")


def entry(shape, begin, end, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def pack(header, size=64):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(size)


w, b = entry([4, 3], 0, 48), entry([4], 48, 64)
whole = pack({"w": w, "b": b})
(folder / "good.safetensors").write_bytes(whole)
for command in ALL:
    done = run(command, folder / "good.safetensors")
    assert done.returncode == 0 and out.exists(), (command, done.stderr)
    shutil.rmtree(out) if out.is_dir() else out.unlink()

# Not the stated contents.
case("text", b"hello", "is not a .safetensors file")
case("nothing", b"", "")
for tenth in range(10):
    case(f"cut at {tenth} tenths", whole[:len(whole) * tenth // 10], "/bad")
case("header longer than the file", struct.pack("<Q", 1 << 40) + whole[8:], "/bad: ")
case("header of all lengths", struct.pack("<Q", 2**64 - 1) + whole[8:], "/bad: ")
case("no JSON", pack(b"{'w': 3}"), "/bad: ")
case("deep JSON", pack(b"[" * 100000 + b"]" * 100000), "is nested deeper than")
case("a list", pack([w, b]), "expected an object")
case("a number", pack({"w": 3, "b": b}), "bad.w: expected an object, found number")
case("no shape", pack({"w": {"dtype": "F32", "data_offsets": [0, 48]}, "b": b}), "bad.w: has no 'shape'")
case("unknown element type", pack({"w": entry([4, 3], 0, 48, "F31"), "b": b}), "element type 'F31' is not supported")
case("outside", pack({"w": w, "b": entry([4], 60, 76)}), "bad.b.data_offsets: lies outside the file")
case("backwards", pack({"w": entry([4, 3], 48, 0), "b": b}), "bad.w.data_offsets: lies outside the file")
case("negative", pack({"w": entry([4, 3], -48, 0), "b": b}), "bad.w.data_offsets: lies outside the file")
case("too short for its shape", pack({"w": entry([4, 3], 0, 44), "b": b}), "holds 44 bytes, but f32[4, 3] has 48")
case("shape out of range", pack({"w": entry([2**62, 2**62], 0, 48), "b": b}), "bad.w.shape: is not a shape")
# Of another model.
case("a weight is missing", pack({"w": w}, 48), "'b'")
case("another shape", pack({"w": entry([3, 4], 0, 48), "b": b}), "'w'")
case("another element type", pack({"w": entry([4, 3], 0, 48, "I32"), "b": b}), "'w'")
with zipfile.ZipFile(good) as archive:
    members = {info.filename: archive.read(info) for info in archive.infolist()}
other = folder / "other.pt2"
with zipfile.ZipFile(other, "w") as archive:
    for name, content in members.items():
        archive.writestr(name, content[::-1] if name.endswith("weight_0") else content)
case("an archive of another model", other.read_bytes(), "holds the weights of another model", RUNTIME)
case("a cut archive", good.read_bytes()[:-30], "is not a zip archive", RUNTIME)
sys.exit(f"{failures} cases failed" if failures else 0)
