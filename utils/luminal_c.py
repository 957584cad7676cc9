# ===- luminal_c.py - The C interface for the scripts, through ctypes ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads an artifact and runs it on the memory of torch tensors, without copies."""
import ctypes

import torch

INPUT, OUTPUT, WEIGHT, STATE = range(4)
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.bool, torch.int8,
          torch.uint8, torch.float8_e4m3fn, torch.float8_e5m2, torch.int16, torch.uint16, torch.uint32]


class TensorInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int),
                ("is_written", ctypes.c_int32), ("rank", ctypes.c_size_t), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("shape_text", ctypes.POINTER(ctypes.c_char_p))]


class LoadOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("weights_path", ctypes.c_char_p)]


class Error(Exception):
    pass


def load_library(path):
    library = ctypes.CDLL(str(path))
    library.luminal_last_error.restype = ctypes.c_char_p
    library.luminal_count.restype = ctypes.c_size_t
    return library


def compile(library, archive, artifact, *options):
    """`options` are luminal-compile's."""
    library = load_library(library)
    texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    if library.luminal_compile(str(archive).encode(), texts, ctypes.c_size_t(len(options)), str(artifact).encode()):
        raise Error(library.luminal_last_error().decode())


class Program:
    """A loaded artifact with one context."""

    def __init__(self, library, artifact, weights=None, threads=0):
        self.artifact, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        self.lib = load_library(library)
        options = LoadOptions(ctypes.sizeof(LoadOptions), str(weights).encode() if weights else None)
        self._check(self.lib.luminal_load(str(artifact).encode(), ctypes.byref(options), ctypes.byref(self.artifact)))
        self._check(self.lib.luminal_context_create(self.artifact, ctypes.c_uint32(threads),
                                                    ctypes.byref(self.context)))
        self.bound, self.outputs = [], []

    def __del__(self):
        if self.context:
            self.lib.luminal_context_free(self.context)
        if self.artifact:
            self.lib.luminal_artifact_free(self.artifact)

    def _check(self, status):
        if status:
            raise Error(self.lib.luminal_last_error().decode())

    def _bind(self, kind, index, tensor):
        shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
        strides = (ctypes.c_int64 * tensor.dim())(*tensor.stride())
        self._check(self.lib.luminal_bind(self.context, kind, ctypes.c_size_t(index), ctypes.c_void_p(tensor.data_ptr()),
                                          DTYPES.index(tensor.dtype), ctypes.c_size_t(tensor.dim()), shape, strides))
        self.bound.append(tensor)

    def info(self, kind, index):
        info = TensorInfo(struct_size=ctypes.sizeof(TensorInfo))
        self._check(self.lib.luminal_info(self.artifact, kind, ctypes.c_size_t(index), ctypes.byref(info)))
        return info

    def bind(self, inputs):
        """Binds the inputs, and new tensors for the outputs, which `outputs` then holds."""
        self.bound, self.outputs = [], []
        for i, tensor in enumerate(inputs):
            self._bind(INPUT, i, tensor)
        for i in range(self.lib.luminal_count(self.artifact, OUTPUT)):
            info = self.info(OUTPUT, i)
            shape = (ctypes.c_int64 * info.rank)()
            self._check(self.lib.luminal_shape(self.context, OUTPUT, ctypes.c_size_t(i), info.rank, shape))
            self.outputs.append(torch.empty(tuple(shape), dtype=DTYPES[info.dtype]))
            self._bind(OUTPUT, i, self.outputs[-1])

    def run(self):
        if self.lib.luminal_run(self.context):
            self._check(1)
