#!/usr/bin/env python3
# ===- safetensors.py - The weights of the hand-made archive as .safetensors ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""safetensors.py OUT [w=SHAPE] [b=SHAPE]: w and b of utils/testing/make_pt2_inputs.py, in the shapes given ("4,3" and "4")."""
import json
import math
import struct
import sys

shapes = {"w": "4,3", "b": "4"} if len(sys.argv) == 2 else dict(arg.split("=") for arg in sys.argv[2:])
header, data = {}, b""
for name, text in shapes.items():
    shape = [int(extent) for extent in text.split(",")]
    count = math.prod(shape)
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
    data += struct.pack(f"<{count}f", *range(count))
text = json.dumps(header).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + data)
