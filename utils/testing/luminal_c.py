# ===- luminal_c.py - An artifact by contexts of the C interface ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads an artifact and runs it on the memory of torch tensors, without copies and without the work that the package does in a
call: `luminal_bind` once, then `luminal_run`."""
import ctypes
import os
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from luminal import _capi


def use(library):
    """Before anything else: the file of the library."""
    os.environ["LUMINAL_LIBRARY"] = str(library)


class Program:
    """A loaded artifact with one context."""

    def __init__(self, artifact, weights=None, threads=0):
        self.artifact, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        self.lib = _capi.library()
        options = _capi.LoadOptions(ctypes.sizeof(_capi.LoadOptions), os.fsencode(weights) if weights else None)
        _capi.check(self.lib.luminal_load(os.fsencode(artifact), ctypes.byref(options), ctypes.byref(self.artifact)))
        _capi.check(self.lib.luminal_context_create(self.artifact, ctypes.c_uint32(threads), ctypes.byref(self.context)))
        self.bound, self.outputs = [], []

    def __del__(self):
        if self.context:
            self.lib.luminal_context_free(self.context)
        if self.artifact:
            self.lib.luminal_artifact_free(self.artifact)

    def _bind(self, kind, index, tensor):
        shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
        strides = (ctypes.c_int64 * tensor.dim())(*tensor.stride())
        dtype = _capi.DTYPES.index(str(tensor.dtype).removeprefix("torch."))
        _capi.check(self.lib.luminal_bind(self.context, kind, ctypes.c_size_t(index), ctypes.c_void_p(tensor.data_ptr()), dtype,
                                          ctypes.c_size_t(tensor.dim()), shape, strides))
        self.bound.append(tensor)

    def bind(self, inputs):
        """Binds the inputs, and new tensors for the outputs, which `outputs` then holds."""
        self.bound, self.outputs = [], []
        for i, tensor in enumerate(inputs):
            self._bind(_capi.INPUT, i, tensor)
        for i in range(self.lib.luminal_count(self.artifact, _capi.OUTPUT)):
            info = _capi.TensorInfo(struct_size=ctypes.sizeof(_capi.TensorInfo))
            _capi.check(self.lib.luminal_info(self.artifact, _capi.OUTPUT, i, ctypes.byref(info)))
            shape = (ctypes.c_int64 * info.rank)()
            _capi.check(self.lib.luminal_shape(self.context, _capi.OUTPUT, ctypes.c_size_t(i), info.rank, shape))
            self.outputs.append(torch.empty(tuple(shape), dtype=getattr(torch, _capi.DTYPES[info.dtype])))
            self._bind(_capi.OUTPUT, i, self.outputs[-1])

    def run(self):
        if self.lib.luminal_run(self.context):
            _capi.check(1)
