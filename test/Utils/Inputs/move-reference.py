# ===- move-reference.py - Adds a thousandth to the floats of .npy files ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import struct
import sys

for path in map(pathlib.Path, sys.argv[1:]):
    data = path.read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    form = "d" if b"f8" in data[:start] else "f"
    count = (len(data) - start) // struct.calcsize(form)
    values = [v + 1e-3 for v in struct.unpack_from(f"<{count}{form}", data, start)]
    path.write_bytes(data[:start] + struct.pack(f"<{count}{form}", *values))
