#!/usr/bin/env python3
# ===- make.py - Artifacts and arrays for the tests of luminal-run -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make.py lum OUT OBJECT [key=value ...]   an artifact around the kernels of OBJECT
   make.py cuda OUT [key=value ...]         the same for a GPU, with kernels that the fake driver has
   make.py npy OUT TYPE SHAPE VALUE...      an array, for instance f4 2,2 1 2 3 4

The artifact: y = (x + w) * b over [n, 4], and a counter that adds x's first row at each call. w is an input, b a
weight. A key is a path into the manifest, such as target.arch or steps.0.kernel; its value is JSON, or text.
Needs only Python.
"""
import json
import math
import pathlib
import struct
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "utils/testing"))
import npy


def launch(work, grain):
    return {"work": work, "grain": grain, "scratch": "0", "parallel": True}


def manifest():
    f32 = {"dtype": "f32"}
    return {
        "format": "luminal", "version": 3, "producer": "test",
        "target": {"kind": "cpu", "arch": "x86_64", "cpu": "any", "features": []},
        "symbols": [{"name": "k", "min": 4, "max": 4}, {"name": "n", "min": 1, "max": 8}],
        "inputs": [{"name": "x", "shape": ["n", "k"], "buffer": 0, "state": False, **f32},
                   {"name": "w", "shape": ["n", "4"], "buffer": 1, "state": False, **f32},
                   {"name": "count", "shape": ["4"], "buffer": 2, "state": True, "initial": {"weight": 1}, **f32}],
        "outputs": [{"name": "y", "shape": ["n", "4"], "buffer": 5, **f32},
                    {"name": "new count", "shape": ["4"], "buffer": 2, "updates": 2, **f32},
                    {"name": "counted", "shape": ["4"], "buffer": 2, **f32}],
        "weights": [{"name": "b", "shape": ["4"], "buffer": 3, "offset": 0, "bytes": 16, **f32},
                    {"name": "zero", "shape": ["4"], "offset": 64, "bytes": 16, **f32}],
        "weights_digest": "", "weights_embedded": True,
        "buffers": [{"kind": "input"}, {"kind": "input"}, {"kind": "input"}, {"kind": "weight"},
                    {"kind": "arena", "offset": "0", "bytes": "16*n"}, {"kind": "output"}],
        "arena_bytes": "16*n",
        "steps": [{"kernel": "add_f32", "name": "model.py:3 add", "buffers": [0, 1, 4], "results": 1,
                   "launch": launch("4*n", "4"), "traffic": "48*n"},
                  {"kernel": "scale_rows_f32", "name": "model.py:4 mul", "buffers": [4, 3, 5], "results": 1,
                   "launch": launch("n", "1")},
                  {"kernel": "accumulate_f32", "name": "model.py:5 count", "buffers": [0, 2], "results": 1,
                   "launch": launch("4", "4")}],
    }


def change(value, path, new):
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in parents:
        value = value[key]
    value[last] = new


def make_artifact(out, object_file, *changes):
    write(out, manifest(), "host.so", pathlib.Path(object_file).read_bytes(), changes)


def make_cuda_artifact(out, *changes):
    root = manifest()
    root["target"] = {"kind": "cuda", "arch": "sm_80", "cubin": False}
    lines = []
    for step, work in zip(root["steps"], ("0 4 1", "0 1 1", "4 0 0")):
        step["launch"] = {"work": step["launch"]["work"], "grid": "1", "block": 64, "shared": "0"}
        lines.append(f"// luminal-test {step['kernel']} {step['kernel']} {work}\n")
    write(out, root, "device.ptx", "".join(lines).encode(), changes)


def write(out, root, member, code, changes):
    for entry in changes:
        path, _, text = entry.partition("=")
        try:
            change(root, path, json.loads(text))
        except json.JSONDecodeError:
            change(root, path, text)
    weights = struct.pack("<4f", 1, 2, 3, 4) + bytes(48) + struct.pack("<4f", 0, 0, 0, 0)
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("manifest.json", json.dumps(root))
        archive.writestr(member, code)
        archive.writestr("constants.bin", b"")
        archive.writestr("weights.bin", weights)


def make_array(out, code, shape, *values):
    extents = [int(extent) for extent in shape.split(",") if extent]
    # One value stands for all.
    npy.save(out, code, extents, values * math.prod(extents) if len(values) == 1 else values)


if __name__ == "__main__":
    {"lum": make_artifact, "cuda": make_cuda_artifact, "npy": make_array}[sys.argv[1]](*sys.argv[2:])
