# ===- npy.py - Reads and writes .npy files without NumPy ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small arrays as flat Python lists, so that comparing needs only Python."""
import ast
import struct

# NumPy's codes of the element types that programs have; V2 and u2 hold bfloat16.
FORMATS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "u1": "B", "i4": "i", "i8": "q", "b1": "?"}


class Array:
    def __init__(self, dtype, shape, values):
        self.dtype, self.shape, self.values = dtype, shape, values

    @property
    def is_float(self):
        return self.dtype[0] in "fV"


def load(path):
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise ValueError(f"{path}: not an .npy file")
    wide = data[6] > 1
    (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    start = (12 if wide else 10) + length
    header = ast.literal_eval(data[start - length:start].decode("latin-1"))
    if header["fortran_order"]:
        raise ValueError(f"{path}: column-major order")
    code = header["descr"].lstrip("<|=")
    count = 1
    for extent in header["shape"]:
        count *= extent
    if code in ("V2", "u2"):
        # bfloat16 is the upper half of a float32.
        halves = struct.unpack_from(f"<{count}H", data, start)
        values = struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(h << 16 for h in halves)))
        return Array("V2", header["shape"], values)
    if code not in FORMATS:
        raise ValueError(f"{path}: element type {header['descr']}")
    return Array(code, header["shape"], struct.unpack_from(f"<{count}{FORMATS[code]}", data, start))


def save(path, code, shape, values):
    """Row-major; `code` is a key of FORMATS."""
    convert = float if code[0] == "f" else int
    order = "|" if code[1] == "1" else "<"
    header = f"{{'descr': '{order}{code}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{FORMATS[code]}", *map(convert, values))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
