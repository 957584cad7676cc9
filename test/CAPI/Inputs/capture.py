# ===- capture.py - Calls of the C interface inside a capture ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""capture.py LIBRARY DRIVER ARTIFACT: calls of the C interface inside a capture, over the fake driver."""
import ctypes
import os
import sys

os.environ["LUMINAL_LIBRARY"], os.environ["LUMINAL_LIBCUDA"] = sys.argv[1:3]
driver = ctypes.CDLL(sys.argv[2])

from luminal import _capi, _errors
from luminal._artifact import Allocator, Artifact


def ask(name, *args):
    assert getattr(driver, name)(*args) == 0, name


class Memory:
    """Floats on the device."""

    def __init__(self, *values):
        self.count, self.address = len(values), ctypes.c_uint64()
        ask("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(4 * self.count))
        self.write(*values)

    def write(self, *values):
        ask("cuMemcpyHtoDAsync_v2", self.address, (ctypes.c_float * self.count)(*values), ctypes.c_size_t(4 * self.count), None)
        ask("cuStreamSynchronize", None)

    def read(self):
        values = (ctypes.c_float * self.count)()
        ask("cuMemcpyDtoHAsync_v2", values, self.address, ctypes.c_size_t(4 * self.count), None)
        ask("cuStreamSynchronize", None)
        return list(values)


stream, graph, launchable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
held, given = [], []


def allocate(_, size):
    held.append(Memory(*[0] * (size // 4)))
    given.append(size)
    return held[-1].address.value


x, w, b, count = Memory(1, 2, 3, 4), Memory(1, 1, 1, 1), Memory(1, 2, 3, 4), Memory(0, 0, 0, 0)
y, counted, none = Memory(0, 0, 0, 0), Memory(0, 0, 0, 0), Memory(9)
# Of the caller: it allocates outside of the library, which the mode of the capture forbids.
mode = ctypes.c_int(2)
exchange = lambda: ask("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
functions = Allocator(_capi.ALLOCATE(lambda *args: (exchange(), allocate(*args), exchange())[1]),
                      _capi.RELEASE(lambda _, address: given.append("released")))
artifact = Artifact.from_file(sys.argv[3])
artifact.allocator = functions
shapes = artifact.shapes((1, 4, 1, 4))


def call(state=count, first=x):
    artifact.call([m.address.value if isinstance(m, Memory) else m for m in (first, w, b, 0, state)],
                  [y.address.value, counted.address.value], shapes, 1, stream.value)


ask("cuStreamCreate", ctypes.byref(stream), 0)
call()
ask("cuStreamSynchronize", stream)
assert count.read() == [1, 2, 3, 4]
ask("cuStreamBeginCapture_v2", stream, 0)
for state, first, what in ((0, x, "states of the artifact's own"), (count, ctypes.addressof((ctypes.c_float * 4)()), "host memory")):
    try:
        call(state, first)
        raise SystemExit(f"{what} was captured")
    except _errors.CallError as error:
        assert what in str(error), error
given.clear()
call()
assert given == [16, "released"], given
ask("cuStreamEndCapture", stream, ctypes.byref(graph))
ask("cuGraphInstantiateWithFlags", ctypes.byref(launchable), graph, ctypes.c_ulonglong(0))
ask("cuGraphDestroy", graph)
assert count.read() == [1, 2, 3, 4]
del artifact
for i in range(2):
    x.write(*[i + 1] * 4)
    b.write(*[i + 5] * 4)
    ask("cuGraphLaunch", launchable, stream)
    ask("cuStreamSynchronize", stream)
    assert y.read() == [(i + 2) * (i + 5)] * 4, y.read()
assert count.read() == [4, 5, 6, 7]
ask("cuGraphExecDestroy", launchable)
print("captured")
