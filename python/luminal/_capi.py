# ===- _capi.py - The C interface through ctypes -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``include/luminal-c/Luminal.h`` in Python: structs, functions, and errors as exceptions. ctypes releases the GIL during
calls."""
from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from . import _errors

INPUT, OUTPUT, WEIGHT, STATE, INTEGER = range(5)
SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE = range(3)

# Names of the element types, indexed by luminal_dtype.
DTYPES = ["float32", "float16", "bfloat16", "float64", "int32", "int64", "bool", "int8", "uint8", "float8_e4m3fn",
          "float8_e5m2", "int16", "uint16", "uint32"]

# Exceptions by luminal_error_code.
_EXCEPTIONS: dict[int, type[_errors.LuminalError]] = {
    2: _errors.ArgumentError, 3: _errors.ArtifactError, 4: _errors.CompileError, 5: _errors.CompileError,
    6: _errors.DTypeError, 7: _errors.ShapeError, 8: _errors.CallError, 9: _errors.FailedAssertionError}
IMPORT_FAILED = 4
# Values of luminal_status: an error, and a status that is not an error: watched weights or stored objects have changed.
ERROR, CHANGED = 1, 2


class TensorInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int32),
                ("is_written", ctypes.c_int32), ("rank", ctypes.c_size_t), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("shape_text", ctypes.POINTER(ctypes.c_char_p)), ("is_prepared", ctypes.c_int32)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("weights_path", ctypes.c_char_p), ("device", ctypes.c_size_t)]


class Diagnostic(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("severity", ctypes.c_int32), ("message", ctypes.c_char_p),
                ("node", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32)]


DIAGNOSE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Diagnostic))


class CompileRequest(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("input", ctypes.c_char_p), ("input_size", ctypes.c_size_t),
                ("name", ctypes.c_char_p), ("options", ctypes.POINTER(ctypes.c_char_p)), ("num_options", ctypes.c_size_t),
                ("diagnose", DIAGNOSE), ("diagnose_data", ctypes.c_void_p)]


class CallRequest(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_uint32),
                ("tensors", ctypes.POINTER(ctypes.c_void_p)), ("dtypes", ctypes.POINTER(ctypes.c_int32)),
                ("num_tensors", ctypes.c_size_t), ("extents", ctypes.POINTER(ctypes.c_int64)),
                ("num_extents", ctypes.c_size_t), ("output_extents", ctypes.POINTER(ctypes.c_int64)),
                ("num_output_extents", ctypes.c_size_t), ("outputs", ctypes.POINTER(ctypes.c_void_p)),
                ("num_outputs", ctypes.c_size_t), ("only_shapes", ctypes.c_int32), ("stream", ctypes.c_void_p),
                ("on_stream", ctypes.c_int32), ("read", ctypes.c_void_p), ("handle_offset", ctypes.c_size_t),
                ("weights_version", ctypes.c_uint64), ("profile", ctypes.c_void_p),
                ("tensor_reader", ctypes.c_void_p), ("integers", ctypes.POINTER(ctypes.c_int64)),
                ("num_integers", ctypes.c_size_t), ("allocate", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("allocator", ctypes.c_void_p), ("positions", ctypes.POINTER(ctypes.c_uint32)), ("watch", ctypes.c_void_p),
                ("layout", ctypes.c_void_p), ("count_write", ctypes.c_void_p), ("is_uncounted", ctypes.c_void_p),
                ("num_threads", ctypes.c_void_p), ("current_stream", ctypes.c_void_p), ("stream_device", ctypes.c_int32)]


# Functions of a request whose first argument is `allocator`.
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
# Other functions of a request.
NUM_THREADS = ctypes.CFUNCTYPE(ctypes.c_int32)
CURRENT_STREAM = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class TensorReader(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("rank", ctypes.c_void_p), ("sizes", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("dtype", ctypes.c_void_p), ("device", ctypes.c_void_p),
                ("dtypes", ctypes.c_int32 * len(DTYPES)), ("device_kind", ctypes.c_int32),
                ("class_offset", ctypes.c_size_t), ("classes", ctypes.POINTER(ctypes.c_void_p)),
                ("num_classes", ctypes.c_size_t)]


class TensorLayout(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [(name, ctypes.c_size_t) for name in (
        "storage", "offset", "type", "rank", "sizes", "strides", "most_rank", "memory", "owner")]


class Objects(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("data", ctypes.POINTER(ctypes.c_void_p))]


class StoredObjects(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("objects", Objects), ("versions", ctypes.c_void_p),
                ("known_versions", ctypes.c_void_p), ("num_versions", ctypes.c_size_t)]


class Python(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("list_offset", ctypes.c_size_t), ("class_offset", ctypes.c_size_t)] + [
        (name, ctypes.c_void_p) for name in ("list_class", "list_new", "list_set_item", "call", "decref", "int_from_long",
                                             "int_as_pointer", "save_thread", "restore_thread")]


class PythonRepeat(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("repeat", ctypes.c_void_p), ("make", ctypes.c_void_p),
                ("outputs", ctypes.c_void_p), ("num_outputs", ctypes.c_size_t)]


class WatchOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("read", ctypes.c_void_p), ("handle_offset", ctypes.c_size_t),
                ("version", ctypes.c_void_p), ("is_uncounted", ctypes.c_void_p), ("trusts_uncounted", ctypes.c_int32),
                ("positions", ctypes.POINTER(ctypes.c_uint32)), ("num_positions", ctypes.c_size_t)]


class StepInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("kernel", ctypes.c_char_p),
                ("calls", ctypes.c_uint64), ("microseconds", ctypes.c_double), ("bytes", ctypes.c_double),
                ("flops", ctypes.c_double), ("threads", ctypes.c_uint32)]


class StepBuffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64), ("is_result", ctypes.c_int32)]


class StepEvent(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("index", ctypes.c_size_t), ("is_done", ctypes.c_int32),
                ("buffers", ctypes.POINTER(StepBuffer)), ("num_buffers", ctypes.c_size_t), ("call", ctypes.c_void_p)]


STEP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(StepEvent))
BEGIN_RANGE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
END_RANGE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class StepRanges(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("user", ctypes.c_void_p), ("begin", BEGIN_RANGE), ("end", END_RANGE)]


# The result and argument types of the functions that are used. Checked once, when the library is loaded.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "luminal_version": (ctypes.c_char_p, []),
    "luminal_set_team": (None, [ctypes.c_void_p]),
    "luminal_last_error": (ctypes.c_char_p, []),
    "luminal_last_error_code": (ctypes.c_int32, []),
    "luminal_buffer_data": (ctypes.c_void_p, [ctypes.c_void_p]),
    "luminal_buffer_size": (ctypes.c_size_t, [ctypes.c_void_p]),
    "luminal_buffer_free": (None, [ctypes.c_void_p]),
    "luminal_compile_bytes": (ctypes.c_int32, [ctypes.POINTER(CompileRequest), ctypes.c_void_p]),
    "luminal_compile_file": (ctypes.c_int32, [ctypes.POINTER(CompileRequest), ctypes.c_char_p]),
    "luminal_load": (ctypes.c_int32, [ctypes.c_char_p, ctypes.POINTER(LoadOptions), ctypes.c_void_p]),
    "luminal_load_bytes": (ctypes.c_int32,
                           [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(LoadOptions), ctypes.c_void_p]),
    "luminal_artifact_free": (None, [ctypes.c_void_p]),
    "luminal_artifact_reset": (ctypes.c_int32, [ctypes.c_void_p]),
    "luminal_artifact_synchronize": (ctypes.c_int32, [ctypes.c_void_p]),
    "luminal_artifact_refresh": (ctypes.c_int32, [ctypes.c_void_p]),
    "luminal_target": (ctypes.c_char_p, [ctypes.c_void_p]),
    "luminal_count": (ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_int32]),
    "luminal_info": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t, ctypes.POINTER(TensorInfo)]),
    "luminal_call": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p]),
    "luminal_repeat_create": (ctypes.c_int32, [ctypes.c_void_p] * 3),
    "luminal_repeat_free": (None, [ctypes.c_void_p]),
    "luminal_repeat_call": (ctypes.c_int32, [ctypes.c_void_p] * 2),
    "luminal_repeat_call_lists": (ctypes.c_int32, [ctypes.c_void_p] * 3),
    "luminal_repeat_call_stored": (ctypes.c_int32, [ctypes.c_void_p] * 4),
    "luminal_python_use": (ctypes.c_int32, [ctypes.c_void_p]),
    "luminal_python_call": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t]),
    "luminal_watch_create": (ctypes.c_int32, [ctypes.POINTER(WatchOptions), ctypes.c_void_p]),
    "luminal_watch_free": (None, [ctypes.c_void_p]),
    "luminal_watch_set": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]),
    "luminal_watch_number": (ctypes.c_int32, [ctypes.c_void_p] * 3),
    "luminal_session_create": (ctypes.c_int32, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                                ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_void_p]),
    "luminal_session_free": (None, [ctypes.c_void_p]),
    "luminal_session_best": (ctypes.c_int32, [ctypes.c_void_p] * 2),
    "luminal_session_draw": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_double, ctypes.c_void_p]),
    "luminal_session_materialise": (ctypes.c_int32, [ctypes.c_void_p] * 3),
    "luminal_session_explain": (ctypes.c_int32, [ctypes.c_void_p] * 3),
    "luminal_candidate_digest": (ctypes.c_char_p, [ctypes.c_void_p]),
    "luminal_candidate_cost": (ctypes.c_double, [ctypes.c_void_p]),
    "luminal_candidate_free": (None, [ctypes.c_void_p]),
    "luminal_profile_create": (ctypes.c_int32, [ctypes.c_void_p] * 2),
    "luminal_profile_free": (None, [ctypes.c_void_p]),
    "luminal_profile_count": (ctypes.c_size_t, [ctypes.c_void_p]),
    "luminal_profile_step": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(StepInfo)]),
    "luminal_profile_trace": (ctypes.c_int32, [ctypes.c_void_p] * 2),
    "luminal_profile_watch": (ctypes.c_int32, [ctypes.c_void_p, STEP, ctypes.c_void_p]),
    "luminal_step_read": (ctypes.c_int32, [ctypes.POINTER(StepEvent), ctypes.c_size_t, ctypes.c_void_p]),
    "luminal_set_step_ranges": (ctypes.c_int32, [ctypes.POINTER(StepRanges)]),
}


def _candidates() -> list[pathlib.Path]:
    """Paths where the library may be, best first: in the wheel, then in a build in the source tree."""
    package = pathlib.Path(__file__).resolve().parent
    folders = [package / "lib", package.parents[1] / "build" / "release" / "lib"]
    return [folder / name for folder in folders for name in ("libluminal.so", "libluminal-runtime.so")]


@functools.cache
def library() -> ctypes.CDLL:
    """The shared library, loaded at first use: the file that LUMINAL_LIBRARY names, or that of the package."""
    named = os.environ.get("LUMINAL_LIBRARY")
    paths = [pathlib.Path(named)] if named else _candidates()
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        raise _errors.LibraryError("libluminal.so is not found: set LUMINAL_LIBRARY to its path, or build it ("
                                   + ", ".join(str(path) for path in paths) + ")")
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise _errors.LibraryError(f"{path} cannot be used: {error}") from None
    return loaded


def check(status: int) -> None:
    """Raises the last error of this thread as the exception for its code."""
    if status:
        code, message = library().luminal_last_error_code(), library().luminal_last_error().decode()
        raise _EXCEPTIONS.get(code, _errors.LuminalError)(message)


def take_buffer(buffer: ctypes.c_void_p) -> bytes:
    """The contents of a luminal_buffer, which is freed."""
    try:
        return ctypes.string_at(library().luminal_buffer_data(buffer), library().luminal_buffer_size(buffer))
    finally:
        library().luminal_buffer_free(buffer)


def compile_bytes(archive: bytes, name: str, options: Sequence[str]) -> tuple[bytes, list[str]]:
    """Compiles an archive to an artifact, both in memory; returns the artifact and the warnings. Raises CompileError."""
    made = ctypes.c_void_p()
    notes = _compile(archive, name.encode(), options, lambda request: library().luminal_compile_bytes(request, ctypes.byref(made)))
    return take_buffer(made), notes


def compile_file(source: str | os.PathLike[str], target: str | os.PathLike[str], options: Sequence[str]) -> list[str]:
    """Compiles a file to a file, which refers to the file of its weights by a path; returns the warnings. Raises
    CompileError."""
    return _compile(b"", os.fsencode(source), options,
                    lambda request: library().luminal_compile_file(request, os.fsencode(target)))


def _compile(archive: bytes, name: bytes, options: Sequence[str], call: Callable[[Any], int]) -> list[str]:
    heard: list[tuple[int, str, str, str, int]] = []

    def diagnose(_: Any, diagnostic: Any) -> None:
        d = diagnostic.contents
        heard.append((d.severity, d.message.decode(), d.node.decode(), d.file.decode(), d.line))

    texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    request = CompileRequest(ctypes.sizeof(CompileRequest), archive, len(archive), name, texts, len(options),
                             DIAGNOSE(diagnose), None)
    if call(ctypes.byref(request)):
        message, code = library().luminal_last_error().decode(), library().luminal_last_error_code()
        ops = _unsupported(heard) if code == IMPORT_FAILED else []
        if ops:
            raise _errors.UnsupportedOpError(message, ops)
        raise _EXCEPTIONS.get(code, _errors.LuminalError)(message)
    return [message for severity, message, *_ in heard if severity == SEVERITY_WARNING]


def _unsupported(heard: list[tuple[int, str, str, str, int]]) -> list[_errors.UnsupportedOp]:
    """The unsupported ops in an error of the importer and its notes: the error has the reasons, each note names one op.
    """
    ops: list[_errors.UnsupportedOp] = []
    reasons: dict[str, str] = {}
    for severity, message, node, file, line in heard:
        if not node or severity == SEVERITY_WARNING:
            continue
        op = message.removesuffix(" is here")
        if severity == SEVERITY_ERROR:
            texts = [re.sub(r" \((?:\d+ nodes(?: of [^()]*)?|of [^()]*)\)$", "", text) for text in re.sub("^unsupported ops? ", "", message).split("; ")]
            reasons = {text.split(": ")[0]: text for text in texts}
            op = texts[0].split(": ")[0]
        ops.append(_errors.UnsupportedOp(reasons.get(op, op), node, file, line))
    return ops
