#!/usr/bin/env python3
# ===- compile.py - From an archive to numbers, in Python ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile.py UTILS LIBRARY MODEL OUT: compiles MODEL/model.pt2 and runs it at every size that has a reference."""
import pathlib
import sys

import numpy
import torch

utils, library, model, out = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(utils))
import luminal_c
from luminal import LuminalError, _capi

luminal_c.use(library)

archive, artifact = model / "model.pt2", out / "model.lum"
try:
    _capi.compile_file(archive, out / "no.lum", ["--arch=frob"])
    sys.exit("a bad option was taken")
except LuminalError as e:
    assert str(e).startswith(f"{archive}: ") and "unknown processor 'frob'" in str(e), e
assert not (out / "no.lum").exists()
_capi.compile_file(archive, artifact, [])

try:
    luminal_c.Program(out / "no.lum")
    sys.exit("an artifact that is not there was taken")
except LuminalError as e:
    assert "no.lum: cannot be opened" in str(e), e
program = luminal_c.Program(artifact, weights=archive, threads=1)
sizes = [model, *sorted(model.glob("size_*"))]
assert len(sizes) > 2
for size in sizes:
    inputs = [torch.from_numpy(numpy.load(file)) for file in sorted(size.glob("input_*.npy"))]
    expected = [torch.from_numpy(numpy.load(file)) for file in sorted(size.glob("output_*.npy"))]
    program.bind(inputs)
    program.run()
    assert len(program.outputs) == len(expected)
    for got, want in zip(program.outputs, expected):
        torch.testing.assert_close(got, want)
# Arrays that are not row-major are refused, not silently copied.
inputs = [torch.from_numpy(numpy.load(file)) for file in sorted(model.glob("input_*.npy"))]
wide = torch.stack([inputs[0], inputs[0]], dim=-1)[..., 0]
try:
    program.bind([wide])
    sys.exit("strided memory was taken")
except LuminalError as e:
    assert "is not contiguous" in str(e), e
