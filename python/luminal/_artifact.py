# ===- _artifact.py - A loaded artifact and its calls --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An artifact, its signature, and calls with addresses of memory. Imports neither torch nor numpy."""
from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import struct
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from . import _capi, _errors, _threads

# Worker threads do not survive a fork: the child process computes with the calling thread only.
_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_note_fork)


class Reader(NamedTuple):
    """Says how the library reads the address of an object's memory."""

    function: int
    """Address of a C function, see ``luminal_call_request::read``."""
    offset: int
    """Offset in bytes of that function's argument from the address of the object."""
    tensors: _capi.TensorReader | None
    """Functions that describe tensors, whose results are checked at each call; None if the caller guarantees that tensors
    fit."""
    layout: _capi.TensorLayout | None = None
    """Where a tensor object stores what these functions return, so that they are called only after a change; None: they
    are called each time."""
    counter: tuple[int, int] | None = None
    """Addresses of ``luminal_call_request::count_write`` and ``is_uncounted``; None if the caller counts writes."""
    threads: Any = None
    """A function that returns the number of threads for calls on no stream, of type ``_capi.NUM_THREADS``."""
    stream: Any = None
    """A function that returns the stream of a call, of type ``_capi.CURRENT_STREAM``; None: calls are on no stream."""
    device: int = 0
    """Index of the stream's device."""


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor of an artifact's signature."""

    name: str
    dtype: str
    """One of ``_capi.DTYPES``."""
    shape: tuple[int, ...]
    """Extents; -1 for a dynamic dim."""
    symbols: tuple[str, ...]
    """Extents as text. Dims with equal symbols have equal extents."""
    is_written: bool
    """Whether each call writes to this input."""
    is_prepared: bool
    """Whether something is precomputed from this weight, instead of at each call."""

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} [{', '.join(self.symbols)}]"


def describe(what: str, inputs: Iterable[Tensor], integers: Iterable[str], outputs: Iterable[Tensor]) -> str:
    """A signature as one line."""
    given = [*map(str, inputs), *(f"{name}: int" for name in integers)]
    return f"<{what}: ({', '.join(given)}) -> ({', '.join(map(str, outputs))})>"


class Allocator(NamedTuple):
    """Allocates the memory between the steps of captured calls. The functions are of types ``_capi.ALLOCATE`` and
    ``RELEASE``."""

    allocate: Any
    release: Any


class _Arrays:
    """Preallocated arrays for the arguments of one thread's calls, so that a call allocates no memory."""

    __slots__ = ("tensors", "dtypes", "extents", "integers", "outputs", "output_extents", "request", "address", "shapes",
                 "threads", "stream", "version")

    def __init__(self, artifact: Artifact) -> None:
        tensors = artifact.inputs + artifact.weights + artifact.states
        self.tensors = (ctypes.c_void_p * len(tensors))()
        self.dtypes = (ctypes.c_int32 * len(tensors))(*(_capi.DTYPES.index(t.dtype) for t in tensors))
        self.extents: Any = (ctypes.c_int64 * sum(len(t.shape) for t in artifact.inputs))()
        self.integers: Any = (ctypes.c_int64 * len(artifact.integers))()
        self.outputs = (ctypes.c_void_p * len(artifact.outputs))()
        self.output_extents: Any = (ctypes.c_int64 * sum(len(t.shape) for t in artifact.outputs))()
        self.request = _capi.CallRequest(
            ctypes.sizeof(_capi.CallRequest), 0, self.tensors, self.dtypes, len(self.tensors), self.extents,
            len(self.extents), self.output_extents, len(self.output_extents), self.outputs, len(self.outputs), 0)
        self.request.integers, self.request.num_integers = self.integers, len(self.integers)
        if artifact.allocator is not None:
            self.request.allocate = ctypes.cast(artifact.allocator.allocate, ctypes.c_void_p)
            self.request.release = ctypes.cast(artifact.allocator.release, ctypes.c_void_p)
        self.address = ctypes.addressof(self.request)
        # The shapes whose values the arrays contain, and the threads, stream and version of weights in the request.
        self.shapes: Shapes | None = None
        self.threads = 0
        self.stream: int | None = None
        self.version = 0


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements. Like PyTorch, counts an extent of 0 as 1."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


class Shapes:
    """The extents of all inputs and of each output of a call, and its integers."""

    def __init__(self, extents: tuple[int, ...], outputs: list[tuple[int, ...]], integers: tuple[int, ...] = ()) -> None:
        self.extents = extents
        self.integers = integers
        self.outputs = outputs
        self.output_extents = tuple(extent for shape in outputs for extent in shape)
        self.strides = [row_major(shape) for shape in outputs]


_alive: weakref.WeakSet[Artifact] = weakref.WeakSet()


def alive() -> list[Artifact]:
    """All artifacts that are loaded now."""
    return list(_alive)


class Artifact:
    """A loaded artifact. Any number of threads may call it concurrently."""

    def __init__(self, handle: ctypes.c_void_p, allocator: Allocator | None = None) -> None:
        self._lib = _capi.library()
        self._handle, self.allocator = handle, allocator
        _alive.add(self)
        self.target: str = self._lib.luminal_target(handle).decode()
        """The kind of device that runs the artifact: "cpu" or "cuda"."""
        self._is_device = self.target != "cpu"
        if not self._is_device:
            _threads.lend()
        self.inputs, self.outputs, self.weights, self.states, integers = (self._read(kind) for kind in range(5))
        self.integers = [integer.name for integer in integers]
        """The names of the integers that a call takes in addition to its tensors."""
        self._call = self._lib.luminal_call
        self._address = handle.value
        # Faster than assigning to a slice of an array of pointers.
        self._pack_tensors = struct.Struct(f"{len(self.inputs) + len(self.weights) + len(self.states)}P").pack_into
        self._pack_outputs = struct.Struct(f"{len(self.outputs)}P").pack_into
        self._local = threading.local()
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Shapes] = {}

    @staticmethod
    def from_bytes(data: bytes, device: int = 0, allocator: Allocator | None = None) -> Artifact:
        """Loads an artifact whose weights are in it or are bound by the caller. ``device``: index of the device of the
        artifact's kind."""
        handle, options = ctypes.c_void_p(), _capi.LoadOptions(ctypes.sizeof(_capi.LoadOptions), b"", device)
        _capi.check(_capi.library().luminal_load_bytes(data, len(data), ctypes.byref(options), ctypes.byref(handle)))
        return Artifact(handle, allocator)

    @staticmethod
    def from_file(path: str | os.PathLike[str], weights: str | os.PathLike[str] | None = None,
                  device: int = 0) -> Artifact:
        """Loads an artifact whose weights are in it, in ``weights``, or in the file beside it that it names."""
        handle = ctypes.c_void_p()
        options = _capi.LoadOptions(ctypes.sizeof(_capi.LoadOptions), os.fsencode(weights) if weights else None, device)
        _capi.check(_capi.library().luminal_load(os.fsencode(path), ctypes.byref(options), ctypes.byref(handle)))
        return Artifact(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.luminal_artifact_free(self._handle)

    def __repr__(self) -> str:
        return describe(f"artifact for {self.target}", self.inputs, self.integers, self.outputs)

    def reset(self) -> None:
        """Makes states that are stored in the artifact start from their initial values at the next call."""
        _capi.check(self._lib.luminal_artifact_reset(self._handle))

    def _read(self, kind: int) -> list[Tensor]:
        tensors = []
        for index in range(self._lib.luminal_count(self._handle, kind)):
            info = _capi.TensorInfo(struct_size=ctypes.sizeof(_capi.TensorInfo))
            _capi.check(self._lib.luminal_info(self._handle, kind, index, ctypes.byref(info)))
            tensors.append(Tensor(info.name.decode(), _capi.DTYPES[info.dtype], tuple(info.shape[:info.rank]),
                                  tuple(text.decode() for text in info.shape_text[:info.rank]), bool(info.is_written),
                                  bool(info.is_prepared)))
        return tensors

    def _make_arrays(self) -> _Arrays:
        arrays = self._local.arrays = _Arrays(self)
        return arrays

    def shapes(self, extents: tuple[int, ...], integers: tuple[int, ...] = ()) -> Shapes:
        """The shapes of a call whose inputs have these extents, concatenated for all inputs, and with these integers.
        Raises ShapeError."""
        found = self._known.get((extents, integers))
        if found is not None:
            return found
        arrays = getattr(self._local, "arrays", None) or self._make_arrays()
        if len(extents) != len(arrays.extents) or len(integers) != len(arrays.integers):
            raise _errors.ShapeError(f"{len(extents)} extents of inputs and {len(integers)} integers, expected "
                                     f"{len(arrays.extents)} and {len(arrays.integers)}")
        for name, value in zip(self.integers, integers):
            if not -2 ** 63 <= value < 2 ** 63:
                raise _errors.ShapeError(f"integer '{name}' is {value}, which does not fit into 64 bits")
        arrays.shapes = None
        arrays.extents[:] = extents
        arrays.integers[:] = integers
        arrays.request.only_shapes = 1
        status = self._call(self._handle, arrays.address)
        arrays.request.only_shapes = 0
        _capi.check(status)
        outputs, at = [], 0
        for tensor in self.outputs:
            outputs.append(tuple(arrays.output_extents[at:at + len(tensor.shape)]))
            at += len(tensor.shape)
        found = Shapes(extents, outputs, integers)
        if len(self._known) >= 1024:
            self._known.clear()
        self._known[extents, integers] = found
        return found

    @contextlib.contextmanager
    def profiled(self) -> Iterator[ctypes.c_void_p]:
        """Times the steps of the calls that this thread makes in the ``with`` block; yields the luminal_profile."""
        profile = ctypes.c_void_p()
        _capi.check(self._lib.luminal_profile_create(self._handle, ctypes.byref(profile)))
        arrays = getattr(self._local, "arrays", None) or self._make_arrays()
        arrays.request.profile = profile
        try:
            yield profile
        finally:
            arrays.request.profile = None
            self._lib.luminal_profile_free(profile)

    def synchronize(self) -> None:
        """Waits for calls on streams, and raises the errors of these calls and of CUDA graphs into which calls were
        captured."""
        _capi.check(self._lib.luminal_artifact_synchronize(self._handle))

    def refresh(self) -> None:
        """Recomputes values that are precomputed from weights, for CUDA graphs into which calls were captured."""
        _capi.check(self._lib.luminal_artifact_refresh(self._handle))

    def call(self, tensors: Iterable[int], outputs: Iterable[int], shapes: Shapes, threads: int,
             stream: int | None = None, version: int = 0) -> None:
        """Makes one call with the addresses of inputs, weights and states, and of outputs, whose dtypes must match the
        signature.

        An address of 0 stands for a tensor without elements, or for the artifact's own weight or state. ``threads``:
        number of threads; 0 for all that the process may use. ``stream``: the device's stream on which the call runs, if
        any. ``version``: a number that identifies the values of the weights from which something is precomputed; 0 if it
        is unknown. Raises CallError or ShapeError.
        """
        arrays = self._ready(shapes, threads, stream, version)
        self._pack_tensors(arrays.tensors, 0, *tensors)
        self._pack_outputs(arrays.outputs, 0, *outputs)
        if self._call(self._address, arrays.address):
            _capi.check(1)

    def _ready(self, shapes: Shapes, threads: int, stream: int | None, version: int) -> _Arrays:
        """This thread's arrays, filled for a call with these shapes."""
        try:
            arrays: _Arrays = self._local.arrays
        except AttributeError:
            arrays = self._make_arrays()
        if arrays.shapes is not shapes:
            arrays.shapes = None
            arrays.extents[:] = shapes.extents
            arrays.integers[:] = shapes.integers
            arrays.output_extents[:] = shapes.output_extents
            arrays.shapes = shapes
        threads = self._threads(threads)
        if arrays.threads != threads:
            arrays.request.threads = arrays.threads = threads
        if arrays.stream != stream:
            arrays.request.stream, arrays.request.on_stream = stream or 0, stream is not None
            arrays.stream = stream
        if arrays.version != version:
            arrays.request.weights_version = arrays.version = version
        return arrays

    def _threads(self, threads: int) -> int:
        """Number of threads for the library. For other devices it is 1: host threads are not used, and contexts are
        stored by their number."""
        return 1 if _forked or self._is_device else threads


class NativeWatch:
    """A luminal_watch: remembers the addresses of some tensors of an artifact and their write counts."""

    __slots__ = ("address", "_lib")

    def __init__(self, options: _capi.WatchOptions) -> None:
        made = ctypes.c_void_p()
        self._lib = _capi.library()
        _capi.check(self._lib.luminal_watch_create(ctypes.byref(options), ctypes.byref(made)))
        self.address = made.value

    def set(self, tensors: int, number: int) -> bool:
        """Makes ``number`` stand for the present values of the tensors. False if writes to one of them are not counted.
        ``tensors``: the address of a list's fields, behind the object's head."""
        return not self._lib.luminal_watch_set(self.address, tensors, number)

    def number(self, tensors: int) -> int:
        """The number that was set last, or 0 if a tensor changed since."""
        found = ctypes.c_uint64()
        _capi.check(self._lib.luminal_watch_number(self.address, tensors, ctypes.byref(found)))
        return found.value

    def forget(self) -> None:
        self._lib.luminal_watch_set(self.address, None, 0)

    def __del__(self) -> None:
        if getattr(self, "address", None):
            self._lib.luminal_watch_free(self.address)


class Repeat:
    """Calls that differ only in their tensors, which are Python objects. ``luminal_repeat_call_stored`` takes ``address``
    and the addresses of the fields, behind the object's head, of the list of tensors and the list of outputs, with the
    stored objects in between."""

    __slots__ = ("address", "_lib", "_kept")

    def __init__(self, artifact: Artifact, reader: Reader, shapes: Shapes, version: int = 0,
                 positions: Sequence[int] | None = None, watch: NativeWatch | None = None) -> None:
        """``reader``: reads the objects and whatever else differs between calls. ``positions``: of inputs, weights and
        states in the list of tensors; None if that list has exactly these. ``version``: see ``Artifact.call``. ``watch``:
        calls are made only while it recognises the weights."""
        arrays = _Arrays(artifact)
        arrays.extents[:], arrays.output_extents[:] = shapes.extents, shapes.output_extents
        arrays.integers[:] = shapes.integers
        request, made = arrays.request, ctypes.c_void_p()
        request.threads, request.weights_version = 1, version
        if reader.stream is not None:
            request.on_stream, request.stream_device = 1, reader.device
            request.current_stream = ctypes.cast(reader.stream, ctypes.c_void_p)
        elif reader.threads is not None and not artifact._is_device:
            request.num_threads = ctypes.cast(reader.threads, ctypes.c_void_p)
        request.read, request.handle_offset = reader.function, reader.offset
        if reader.tensors is not None:
            request.tensor_reader = ctypes.addressof(reader.tensors)
        if reader.counter is not None:
            request.count_write, request.is_uncounted = reader.counter
        if reader.layout is not None:
            request.layout = ctypes.addressof(reader.layout)
        if positions is not None:
            request.positions = (ctypes.c_uint32 * len(positions))(*positions)
        if watch is not None:
            request.watch = watch.address
        self._lib, self._kept = _capi.library(), (watch, reader)
        _capi.check(self._lib.luminal_repeat_create(artifact._handle, arrays.address, ctypes.byref(made)))
        self.address = made.value

    def __del__(self) -> None:
        if getattr(self, "address", None):
            self._lib.luminal_repeat_free(self.address)
