#!/usr/bin/env python3
# ===- c_api.py - The C interface, from Python's ctypes ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""c_api.py LIBRARY ARTIFACT: loads the artifact of test/Tools/luminal-run/Inputs/make.py from bytes and runs it."""
import ctypes
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
library.luminal_version.restype = ctypes.c_char_p
library.luminal_last_error.restype = ctypes.c_char_p
library.luminal_count.restype = ctypes.c_size_t
F32, INPUT, OUTPUT, STATE = 0, 0, 1, 3


class TensorInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int),
                ("is_written", ctypes.c_int32), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("shape_text", ctypes.POINTER(ctypes.c_char_p))]


class LuminalError(Exception):
    pass


def check(status):
    if status:
        raise LuminalError(library.luminal_last_error().decode())


def load(data):
    artifact = ctypes.c_void_p()
    check(library.luminal_load_bytes(data, ctypes.c_size_t(len(data)), None, ctypes.byref(artifact)))
    return artifact


def bind(context, kind, index, array, *shape):
    extents = (ctypes.c_int64 * len(shape))(*shape)
    check(library.luminal_bind(context, kind, ctypes.c_size_t(index), array, F32, ctypes.c_size_t(len(shape)), extents,
                               None))


def calls(artifact, rows, count):
    """The outputs of the last of `count` calls with x[i] = i and w = rows."""
    context = ctypes.c_void_p()
    check(library.luminal_context_create(artifact, ctypes.c_uint32(2), ctypes.byref(context)))
    floats = ctypes.c_float * (4 * rows)
    x, w, y = floats(*range(4 * rows)), floats(*[rows] * 4 * rows), floats()
    bind(context, INPUT, 0, x, rows, 4)
    bind(context, INPUT, 1, w, rows, 4)
    bind(context, OUTPUT, 0, y, rows, 4)
    for _ in range(count):
        check(library.luminal_run(context))
    data = ctypes.c_void_p()
    check(library.luminal_data(context, STATE, ctypes.c_size_t(0), ctypes.byref(data)))
    counted = list(ctypes.cast(data, ctypes.POINTER(ctypes.c_float))[:4])
    library.luminal_context_free(context)
    return list(y), counted


def expected(rows, count):
    return ([float((i + rows) * (i % 4 + 1)) for i in range(4 * rows)], [float(i * count) for i in range(4)])


try:
    load(b"hello")
    sys.exit("a bad artifact was taken")
except LuminalError as e:
    assert "is not a zip archive" in str(e), e
artifact = load(open(sys.argv[2], "rb").read())
assert library.luminal_count(artifact, INPUT) == 2
info = TensorInfo(struct_size=ctypes.sizeof(TensorInfo))
check(library.luminal_info(artifact, INPUT, ctypes.c_size_t(0), ctypes.byref(info)))
assert (info.name, info.rank, info.shape[1], info.shape_text[0]) == (b"x", 2, -1, b"n")

failures = []


def worker(rows):
    for count in range(1, 20):
        if calls(artifact, rows, count) != expected(rows, count):
            failures.append((rows, count))


threads = [threading.Thread(target=worker, args=(rows,)) for rows in range(1, 9)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
# Each thread has its own last error.
other = []
thread = threading.Thread(target=lambda: other.append(library.luminal_last_error()))
thread.start()
thread.join()
assert other == [b""] and library.luminal_last_error() != b"", other
library.luminal_artifact_free(artifact)
print("done", library.luminal_version().decode())
