# ===- repeat.py - A repeated call after one that failed later ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""repeat.py LIBRARY DRIVER ARTIFACT: an index out of range is told by luminal_artifact_synchronize. The state that the call was
to change is broken, until the same call binds it again."""
import ctypes
import json
import os
import sys
import zipfile

os.environ["LUMINAL_LIBRARY"], os.environ["LUMINAL_LIBCUDA"] = sys.argv[1:3]
driver = ctypes.CDLL(sys.argv[2])

from luminal import _capi, _errors
from luminal._artifact import Artifact, Reader, Repeat

# The last step takes two elements of x at the places that w holds.
with zipfile.ZipFile(sys.argv[3]) as archive:
    members = {name: archive.read(name) for name in archive.namelist()}
manifest = json.loads(members["manifest.json"])
manifest["steps"][2] |= {"kernel": "gather_f32", "buffers": [0, 1, 2]}
members |= {"manifest.json": json.dumps(manifest), "device.ptx": members["device.ptx"] + b"// luminal-test gather_f32 gather_f32 2 0 0\n"}
with zipfile.ZipFile(sys.argv[3], "w") as archive:
    for name, data in members.items():
        archive.writestr(name, data)


def memory(*values):
    address = ctypes.c_uint64()
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(16)) == 0
    write(address, *values)
    return address


def write(address, *values):
    data = (ctypes.c_float * 4)(*values)
    assert driver.cuMemcpyHtoDAsync_v2(address, data, ctypes.c_size_t(16), None) == 0 and driver.cuStreamSynchronize(None) == 0


@ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
def read(handle, data):
    data[0] = ctypes.c_uint64.from_address(handle).value
    return 0


x, w, b, count, y, counted = memory(5, 6, 7, 8), memory(0, 0, 0, 0), memory(1, 1, 1, 1), memory(1, 1, 1, 1), memory(0), memory(0)
artifact, stream = Artifact.from_file(sys.argv[3]), ctypes.c_void_p()
assert driver.cuStreamCreate(ctypes.byref(stream), 0) == 0
asked = []


@_capi.CURRENT_STREAM
def current(device, found):
    asked.append(device)
    found[0] = stream
    return int(len(asked) == 4)


reader = Reader(ctypes.cast(read, ctypes.c_void_p).value, 0, None, stream=current, device=5)
repeat = Repeat(artifact, reader, artifact.shapes((1, 4, 1, 4)))
# An object is where the address of its memory lies.
objects = (ctypes.c_void_p * 7)(*(ctypes.addressof(o) if o else 0 for o in (x, w, b, None, count, y, counted)))


def call():
    _capi.check(_capi.library().luminal_repeat_call(repeat.address, objects))


call()
artifact.synchronize()
write(w, 1, 1, 1, 1)  # as whole numbers, far outside
call()
try:
    artifact.synchronize()
    raise SystemExit("no error")
except _errors.CallError as error:
    assert "index is out of range" in str(error), error
write(w, 0, 0, 0, 0)
call()
artifact.synchronize()
assert asked == [5] * 3, asked
try:
    call()
    raise SystemExit("no error")
except _errors.CallError as error:
    assert "no current stream" in str(error), error
del repeat, artifact
print("bound again")
