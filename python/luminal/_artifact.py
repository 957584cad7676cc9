# ===- _artifact.py - A loaded artifact and its calls --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An artifact, its signature, and calls by address. Knows neither torch nor numpy."""
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

# The workers of a process do not follow it through a fork: its child computes with the calling thread alone.
_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_note_fork)


class Reader(NamedTuple):
    """How the library reads the address of an object's memory."""

    function: int
    """Address of a function of C, as ``luminal_call_request::read``."""
    offset: int
    """Of what it is given, in bytes from the object."""
    tensors: _capi.TensorReader | None
    """How it reads what tensors are, to be checked at each call; None: the caller knows."""
    layout: _capi.TensorLayout | None = None
    """Where tensors hold what these functions tell: they ask again where it changed. None: they ask at each call."""
    counter: tuple[int, int] | None = None
    """Addresses of ``luminal_call_request::count_write`` and ``is_uncounted``; None: the caller counts writes."""
    threads: Any = None
    """What tells the number of a call's threads, of the type ``_capi.NUM_THREADS``; of calls on no stream."""
    stream: Any = None
    """What tells the stream of a call, of the type ``_capi.CURRENT_STREAM``; None: calls are on none."""
    device: int = 0
    """Of the stream."""


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor of an artifact's signature."""

    name: str
    dtype: str
    """An element type of ``_capi.DTYPES``."""
    shape: tuple[int, ...]
    """Extents; -1 where a dim is dynamic."""
    symbols: tuple[str, ...]
    """Extents as text: equal symbols are equal dims."""
    is_written: bool
    """An input whose memory each call changes."""
    is_prepared: bool
    """A weight from which something is computed once, and not at each call."""

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} [{', '.join(self.symbols)}]"


def describe(what: str, inputs: Iterable[Tensor], integers: Iterable[str], outputs: Iterable[Tensor]) -> str:
    """A signature in one line."""
    given = [*map(str, inputs), *(f"{name}: int" for name in integers)]
    return f"<{what}: ({', '.join(given)}) -> ({', '.join(map(str, outputs))})>"


class Allocator(NamedTuple):
    """Gives the memory between the steps of calls that are captured: functions of ``_capi.ALLOCATE`` and ``RELEASE``."""

    allocate: Any
    release: Any


class _Arrays:
    """The arguments of a call in memory of one thread, so that a call allocates none."""

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
        # What `extents`, `integers` and `output_extents` hold, and the request's threads, stream and version of weights.
        self.shapes: Shapes | None = None
        self.threads = 0
        self.stream: int | None = None
        self.version = 0


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements; as PyTorch's, they count an extent of 0 as 1."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


class Shapes:
    """The extents of one size of a call, of all inputs and of each output, and its integers."""

    def __init__(self, extents: tuple[int, ...], outputs: list[tuple[int, ...]], integers: tuple[int, ...] = ()) -> None:
        self.extents = extents
        self.integers = integers
        self.outputs = outputs
        self.output_extents = tuple(extent for shape in outputs for extent in shape)
        self.strides = [row_major(shape) for shape in outputs]


_alive: weakref.WeakSet[Artifact] = weakref.WeakSet()


def alive() -> list[Artifact]:
    """The artifacts that are loaded now."""
    return list(_alive)


class Artifact:
    """A loaded artifact. Any number of threads may call it at once."""

    def __init__(self, handle: ctypes.c_void_p, allocator: Allocator | None = None) -> None:
        self._lib = _capi.library()
        self._handle, self.allocator = handle, allocator
        _alive.add(self)
        self.target: str = self._lib.luminal_target(handle).decode()
        """The kind of device that runs it: "cpu" or "cuda"."""
        self._is_device = self.target != "cpu"
        if not self._is_device:
            _threads.lend()
        self.inputs, self.outputs, self.weights, self.states, integers = (self._read(kind) for kind in range(5))
        self.integers = [integer.name for integer in integers]
        """The ints that a call takes beside its tensors, by name."""
        self._call = self._lib.luminal_call
        self._address = handle.value
        # Faster than assigning to a slice of an array of pointers.
        self._pack_tensors = struct.Struct(f"{len(self.inputs) + len(self.weights) + len(self.states)}P").pack_into
        self._pack_outputs = struct.Struct(f"{len(self.outputs)}P").pack_into
        self._local = threading.local()
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Shapes] = {}

    @staticmethod
    def from_bytes(data: bytes, device: int = 0, allocator: Allocator | None = None) -> Artifact:
        """Weights are in the artifact, or are bound by the caller. ``device``: which one of the artifact's kind."""
        handle, options = ctypes.c_void_p(), _capi.LoadOptions(ctypes.sizeof(_capi.LoadOptions), b"", device)
        _capi.check(_capi.library().luminal_load_bytes(data, len(data), ctypes.byref(options), ctypes.byref(handle)))
        return Artifact(handle, allocator)

    @staticmethod
    def from_file(path: str | os.PathLike[str], weights: str | os.PathLike[str] | None = None,
                  device: int = 0) -> Artifact:
        """Weights are in the artifact, in ``weights``, or in the file that the artifact names, beside it."""
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
        """States that lie in the artifact start from their initial values at the next call."""
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
        """The shapes of a call whose inputs have these extents, one input after another, with these integers. Raises
        ShapeError."""
        found = self._known.get((extents, integers))
        if found is not None:
            return found
        arrays = getattr(self._local, "arrays", None) or self._make_arrays()
        if len(extents) != len(arrays.extents) or len(integers) != len(arrays.integers):
            raise _errors.ShapeError(f"{len(extents)} extents of inputs and {len(integers)} integers, expected "
                                     f"{len(arrays.extents)} and {len(arrays.integers)}")
        for name, value in zip(self.integers, integers):
            if not -2 ** 63 <= value < 2 ** 63:
                raise _errors.ShapeError(f"integer '{name}' is {value}, which 64 bits do not hold")
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
        """Times the steps of the calls that this thread makes meanwhile; gives the luminal_profile."""
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
        """Waits for calls on streams, and raises what they, and graphs that calls were captured into, found."""
        _capi.check(self._lib.luminal_artifact_synchronize(self._handle))

    def refresh(self) -> None:
        """Computes again, for graphs that calls were captured into, what is computed once from weights."""
        _capi.check(self._lib.luminal_artifact_refresh(self._handle))

    def call(self, tensors: Iterable[int], outputs: Iterable[int], shapes: Shapes, threads: int,
             stream: int | None = None, version: int = 0) -> None:
        """One call. Addresses of inputs, weights, states, and of outputs; dtypes must be the signature's.

        An address of 0: of a tensor without elements, or of the artifact's own weight or state. ``threads``: of the
        call, 0 for all that the process may use. ``stream``: of the device, for a call that is work of that stream.
        ``version``: stands for what the weights hold from which something is computed once; 0: not known.
        Raises CallError or ShapeError.
        """
        arrays = self._ready(shapes, threads, stream, version)
        self._pack_tensors(arrays.tensors, 0, *tensors)
        self._pack_outputs(arrays.outputs, 0, *outputs)
        if self._call(self._address, arrays.address):
            _capi.check(1)

    def _ready(self, shapes: Shapes, threads: int, stream: int | None, version: int) -> _Arrays:
        """This thread's arrays, for a call of that size."""
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
        """On another device the host's threads have no part, and contexts are kept by their number."""
        return 1 if _forked or self._is_device else threads


class NativeWatch:
    """Knows where some tensors of an artifact lay, and how often they had been written to: a luminal_watch."""

    __slots__ = ("address", "_lib")

    def __init__(self, options: _capi.WatchOptions) -> None:
        made = ctypes.c_void_p()
        self._lib = _capi.library()
        _capi.check(self._lib.luminal_watch_create(ctypes.byref(options), ctypes.byref(made)))
        self.address = made.value

    def set(self, tensors: int, number: int) -> bool:
        """From now on ``number`` stands for what they hold; False where nothing counts what is written to them. ``tensors``:
        the address of what their list has behind its head."""
        return not self._lib.luminal_watch_set(self.address, tensors, number)

    def number(self, tensors: int) -> int:
        """What was set last, or 0 where they changed."""
        found = ctypes.c_uint64()
        _capi.check(self._lib.luminal_watch_number(self.address, tensors, ctypes.byref(found)))
        return found.value

    def forget(self) -> None:
        self._lib.luminal_watch_set(self.address, None, 0)

    def __del__(self) -> None:
        if getattr(self, "address", None):
            self._lib.luminal_watch_free(self.address)


class Repeat:
    """Calls that differ in their tensors alone, which are objects: ``luminal_repeat_call_stored`` with ``address``, and with
    the addresses of what a list has behind its head, of the tensors and of the outputs; between them stored objects."""

    __slots__ = ("address", "_lib", "_kept")

    def __init__(self, artifact: Artifact, reader: Reader, shapes: Shapes, version: int = 0,
                 positions: Sequence[int] | None = None, watch: NativeWatch | None = None) -> None:
        """``reader``: of the objects, and of what else calls differ in. ``positions``: of inputs, weights and states in their
        list; None: they are all of it. ``version``: as of ``Artifact.call``. ``watch``: calls are made while it knows what
        weights hold."""
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
