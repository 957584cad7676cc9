# ===- _runner.py - Calls of an artifact on torch tensors ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Binds the caller's tensors by address: row-major tensors are not copied."""
from __future__ import annotations

import dataclasses
import itertools
import operator
import os
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import sympy  # type: ignore[import-untyped]
import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from . import _capi, _devices, _errors, _expressions, _layout, _objects, _outputs, _prepared, _program, _python, _repeats, _stored, _strides, _versions
from ._artifact import Artifact, NativeWatch, Reader, Repeat, Shapes, Tensor
from ._integers import check_integer, integers_of, shapes_of
from .devices import Device, Executable

DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _capi.DTYPES}
_get_num_threads = torch.get_num_threads
_starmap, _CHANGED = itertools.starmap, _capi.CHANGED
_data_ptr = torch.Tensor.data_ptr
_is_contiguous = torch.Tensor.is_contiguous
_increment_version = torch.autograd.graph.increment_version


def _note_fork() -> None:
    """After a fork, the child process only has the calling thread."""
    global _get_num_threads
    _get_num_threads = lambda: 1


os.register_at_fork(after_in_child=_note_fork)


class Result(NamedTuple):
    """The dtype and device that an output of an artifact must have."""

    dtype: torch.dtype
    device: torch.device


def check_tensor(tensor: Any, spec: Tensor, device: torch.device) -> None:
    """Raises an exception if ``tensor`` cannot be bound as ``spec``. Extents are checked by the call.

    ``device``: where the artifact runs. Tensors on the host are accepted for any device.
    """
    if not isinstance(tensor, torch.Tensor):
        raise _errors.ArgumentError(f"'{spec.name}' is a {type(tensor).__name__}: expected a tensor")
    if isinstance(tensor, FakeTensor):
        raise _errors.DeviceError(f"'{spec.name}' is a fake tensor, which has no memory")
    if tensor.device.type != "cpu" and tensor.device != device:
        raise _errors.DeviceError(f"'{spec.name}' is on {tensor.device}: the program runs on {device}")
    if tensor.layout != torch.strided or tensor.is_neg():
        layout = tensor.layout if tensor.layout != torch.strided else "negated (call resolve_neg)"
        raise _errors.DeviceError(f"'{spec.name}' has layout {layout}, which is not supported")
    if tensor.dtype != DTYPES[spec.dtype]:
        raise _errors.DTypeError(f"'{spec.name}' has element type {str(tensor.dtype).removeprefix('torch.')}, "
                                 f"expected {spec.dtype}")
    if tensor.dim() != len(spec.shape):
        raise _errors.ShapeError(f"'{spec.name}' has rank {tensor.dim()}, expected {len(spec.shape)}")
    if spec.shape != tuple(tensor.shape):
        for dim, (extent, expected) in enumerate(zip(tensor.shape, spec.shape)):
            if expected not in (-1, extent):
                raise _errors.ShapeError(f"dim {dim} of '{spec.name}' is {extent}, expected {expected}")


def run_tensors(artifact: Executable, tensors: list[torch.Tensor], expected: Sequence[Result],
                shapes: Shapes | None = None, threads: int | None = None,
                place: _devices.Place = _devices.CPU, watch: _prepared.Watch | None = None,
                in_place: _strides.Strided | None = None, integers: tuple[int, ...] = (),
                counted: Collection[int] = ()) -> list[torch.Tensor]:
    """Makes one call with tensors of the caller, in the order inputs, weights, states, and with integers; returns new
    outputs.

    Tensors that the program writes to are changed in place, even strided ones. On a GPU, the call runs on torch's current
    stream of ``place``, where the artifact runs. ``in_place``: the inputs that the program reads in place although they
    are strided. ``counted``: positions of tensors whose writes the caller counts.
    """
    if in_place is not None:
        tensors = in_place.bind(tensors)
    strided = {}
    if not all(map(_is_contiguous, tensors)):
        strided = {i: t for i, t in enumerate(tensors) if not t.is_contiguous()}
        tensors = [t.contiguous() for t in tensors]
    if shapes is None:
        shapes = shapes_of(artifact, tuple([e for t in tensors[:len(artifact.inputs)] for e in t.shape]), integers)
    results = [torch.empty(shape, dtype=result.dtype, device=result.device)
               for shape, result in zip(shapes.outputs, expected)]
    address, stream = place.device.address, place.device.stream(place.at)
    addresses = list(map(address, tensors))
    addresses += [0] * (len(artifact.inputs) + len(artifact.weights) + len(artifact.states) - len(tensors))
    artifact.call(addresses, list(map(address, results)), shapes, _get_num_threads() if threads is None else threads,
                  stream() if stream is not None else None, watch.number(tensors) if watch is not None else 0)
    for index in written(artifact):
        if index < len(tensors):
            _finish_write(tensors[index], strided.get(index), index in counted)
    return results


def _reader(artifact: Executable, place: _devices.Place, is_guarded: bool, only_plain: bool, counts: bool) -> Reader | None:
    """How the library reads the tensors of a call; None if Python must ask for addresses. ``only_plain``: whether the
    library checks that unguarded tensors are of PyTorch's own classes. ``counts``: whether it counts writes, if it can.
    """
    if (found := _objects.reader() if isinstance(artifact, Artifact) and place.device.address is _data_ptr else None) is None:
        return None
    found = found._replace(layout=_layout.find(), counter=_objects.write_counter() if counts else None)
    if (stream := place.device.stream(place.at)) is None:
        found = found._replace(threads=_objects.thread_counter())
    else:
        found = found._replace(stream=_objects.stream_reader(stream, place.at), device=place.at.index or 0)
    return found if is_guarded else found._replace(tensors=_objects.tensor_reader(place.at.type == "cpu", only_plain))


def written(artifact: Executable) -> list[int]:
    """Positions, among inputs, weights and states, of the tensors that a call writes to."""
    first = len(artifact.inputs) + len(artifact.weights)
    return [i for i, t in enumerate(artifact.inputs) if t.is_written] + list(range(first, first + len(artifact.states)))


def _finish_write(written: torch.Tensor, original: torch.Tensor | None, is_counted: bool) -> None:
    if original is not None:
        original.copy_(written)
    elif not (is_counted or written.is_inference()):
        # Autograd detects by the version that a saved tensor was changed.
        _increment_version(written)


def call_model(artifact: Executable, values: list[Any], threads: int, device: str) -> list[torch.Tensor]:
    """A call with inputs only; weights and states are in the artifact. Inputs may be tensors and numpy arrays."""
    tensors = []
    count = len(artifact.inputs)
    integers = tuple(check_integer(value, name) for value, name in zip(values[count:], integers_of(artifact)))
    for value, spec in zip(values, artifact.inputs):
        tensor = value
        if not isinstance(value, torch.Tensor) and hasattr(value, "__dlpack__"):
            tensor = torch.utils.dlpack.from_dlpack(value)
        tensors.append(tensor)
    # Code for the host runs on the host, wherever the tensors are; check_tensor reports tensors on other devices.
    of_host = isinstance(artifact, Artifact) and artifact.target == "cpu" and not device
    place = _devices.find(() if of_host else (t.device for t in tensors if isinstance(t, torch.Tensor)), device)
    for tensor, spec in zip(tensors, artifact.inputs):
        check_tensor(tensor, spec, place.at)
    with torch.no_grad():
        return run_tensors(artifact, tensors, [Result(DTYPES[t.dtype], place.at) for t in artifact.outputs],
                           threads=threads, place=place, integers=integers)


class GraphRunner:
    """A compiled graph. Called with the list of the graph's arguments, it returns the list of its outputs."""

    def __init__(self, artifact: Executable, program: _program.Program, freeze: bool, is_guarded: bool = True,
                 stored: _stored.Stored | None = None) -> None:
        """``is_guarded``: whether dynamo checks the arguments before each call, and AOTAutograd counts writes.
        ``stored``: arguments that are added to those of a direct call."""
        self.is_guarded = is_guarded and _versions.GUARDS_WEIGHTS
        self.artifact = artifact
        self.reader = _reader(artifact, program.place, self.is_guarded, not is_guarded, not is_guarded)
        self.stored = stored if stored is not None else _stored.Stored([])
        self.specs = artifact.inputs + artifact.weights + artifact.states
        self.inputs = [program.inputs[t.name] for t in self.specs]
        layouts = {i: source.layout for i, source in enumerate(self.inputs)
                   if isinstance(source, _program.Argument) and source.layout is not None}
        self.in_place = _strides.Strided(layouts, self.specs) if layouts else None
        self.watch = _prepared.watch(self.specs, freeze)
        self.outputs = program.outputs
        self.symbols = program.symbols
        self.place = program.place
        self.results = [Result(DTYPES[t.dtype], device) for t, device in zip(artifact.outputs, program.devices)]
        self.arguments = arguments = [i.position for i in self.inputs if isinstance(i, _program.Argument)]
        self.only_arguments = len(arguments) == len(self.inputs)
        self.pick = tuple if arguments == list(range(program.num_arguments)) else (
            operator.itemgetter(*arguments) if len(arguments) > 1 else (lambda args: tuple([args[i] for i in arguments])))
        self.integers = [program.integers[name] for name in integers_of(artifact)]
        self.shapes: Shapes | None = None
        if not self.integers and all(-1 not in t.shape for t in artifact.inputs):
            self.shapes = artifact.shapes(tuple(e for t in artifact.inputs for e in t.shape))
        self.plain = all(o.index == i and o.permutation is o.strides is o.view is None for i, o in enumerate(program.outputs))
        # Dynamo guards the strides of its graphs' arguments, except for bases that AOTAutograd finds for inputs that are
        # written to. A dense argument is then replaced by its storage, whose extents are known if all extents are.
        strided = any(isinstance(i, _program.Argument) and i.strided and not self._is_storage(i) for i in self.inputs)
        self.counted = {i for i, a in enumerate(self.inputs) if isinstance(a, _program.Argument) and a.is_counted}
        guarded = {i for i, a in enumerate(self.inputs) if self._checks_objects() or getattr(a, "is_guarded", False)}
        counts = self.reader is not None and self.reader.counter is not None
        self.is_direct = self.only_arguments and not strided and set(written(artifact)) <= (
            guarded if counts else self.counted & guarded)
        self._boxed_call = True

    def _is_storage(self, argument: _program.Argument) -> bool:
        is_whole = argument.layout is not None and argument.layout.strides is None
        return is_whole and argument.is_guarded and self.shapes is not None and self.is_guarded

    def direct(self) -> Callable[[list[Any]], Sequence[Any]]:
        """A closure that makes calls without checks, if the arguments' strides are guarded; otherwise this object.

        Every microsecond of a call counts, so names are local and objects are created in advance.
        """
        if not self.is_direct:
            return self
        inner = self._by_objects() if self.reader is not None else self._by_addresses()
        if not self.is_guarded:
            inner = self._checked(inner)

        def finish(args: list[Any]) -> Sequence[Any]:
            return [self._output(o, results, args) for results in (inner(args),) for o in self.outputs]

        chosen = inner if self.plain else finish
        chosen._boxed_call = True  # type: ignore[attr-defined]
        return chosen

    def _by_objects(self) -> Callable[[list[Any]], Sequence[Any]]:
        """Makes a call with a single C call, apart from allocating the outputs. The work in Python is independent of the
        number of tensors."""
        pick, watch, stored, is_guarded = self.pick, self.watch, self.stored, self.is_guarded
        known, size_of = self._size(self.shapes) if self.shapes is not None else None, self._dynamic_sizes()
        is_seen, is_native = stored.is_seen, watch is None or watch.native is not None
        call, check, at = _capi.library().luminal_repeat_call_stored, _capi.check, _objects.LIST
        # Extents of a call may be those of stored tensors.
        reads_stored = max(self.arguments[:len(self.artifact.inputs)], default=0) >= len(self.arguments) - len(stored.tensors())

        def run(args: list[Any], status: int = 0) -> Sequence[Any]:
            if type(args) is not list:  # the library reads it as a list
                args = list(args)
            held, is_changed = stored.last if is_seen else stored.renew(), False
            try:
                if status != _CHANGED:
                    check(status)
                while True:
                    size = known or size_of([*args, *held.tensors] if reads_stored else args)  # other threads may replace `last`
                    results = [*_starmap(size.make, size.outputs)]
                    repeat = size.repeat
                    if watch is not None and (is_changed or not is_native or not watch.known):
                        version = watch.number(pick([*args, *held.tensors]))
                        if not (version and is_native):
                            repeat = size.repeats[version]
                    if not (status := call(repeat.address, id(args) + at, held.address, id(results) + at)):
                        return results
                    if status != _CHANGED:
                        check(status)
                    held, is_changed = stored.renew(), True
            except (_errors.ShapeError, _errors.DTypeError, _errors.ArgumentError):  # nothing has run yet
                if is_guarded:
                    raise
                return self._run_checked(pick([*args, *stored.renew().tensors]), self._integers(args))

        if not (is_seen and is_native and _python.is_available()):
            return run
        sizes = known or (lambda args, held: size_of([*args, *held.tensors] if reads_stored else args))
        return _repeats.at_once(run, sizes, stored, watch)

    def _by_addresses(self) -> Callable[[list[Any]], Sequence[Any]]:
        """The same for executables that are called with addresses only."""
        pick, watch, call, address = self.pick, self.watch, self.artifact.call, self.place.device.address
        known, size_of = self._size(self.shapes) if self.shapes is not None else None, self._dynamic_sizes()
        stream_of = self.place.device.stream(self.place.at)

        def run(args: list[Any]) -> Sequence[Any]:
            tensors = pick(args)
            size = known or size_of(args)
            results = [*_starmap(size.make, size.outputs)]
            call(map(address, tensors), map(address, results), size.shapes, _get_num_threads(),
                 stream_of() if stream_of is not None else None, watch.number(tensors) if watch is not None else 0)
            return results

        return run

    def _size(self, shapes: Shapes) -> _repeats.Size:
        makes = [_outputs.allocator(result.device) for result in self.results]
        outputs: list[tuple[Any, ...]] = [
            (shape, strides, result.dtype) for result, shape, strides in zip(self.results, shapes.outputs, shapes.strides)]
        make = makes[0] if makes else _repeats.make_by
        if any(other is not make for other in makes):
            make, outputs = _repeats.make_by, [(other, *given) for other, given in zip(makes, outputs)]
        artifact, reader, watch = self.artifact, self.reader, self.watch
        positions = None if self.pick is tuple else self.arguments

        def repeat(version: int, native: NativeWatch | None = None) -> Repeat:
            assert isinstance(artifact, Artifact) and reader is not None
            return Repeat(artifact, reader, shapes, version, positions, native)

        usual = repeat(0, watch.native if watch is not None else None) if reader is not None else None
        repeated = _python.repeated(usual, make, outputs) if usual is not None else None
        return _repeats.Size(shapes, make, outputs, usual, _repeats.Repeats(repeat), repeated)

    def _dynamic_sizes(self) -> Callable[[Sequence[Any]], _repeats.Size]:
        """Determines the size of a call from its arguments. If extents are guarded, reads the dynamic extents only."""
        artifact, known, inputs = self.artifact, dict[tuple[int, ...], _repeats.Size](), self.arguments[:len(self.artifact.inputs)]
        positions = [i for i, t in zip(inputs, artifact.inputs)
                     if -1 in t.shape or not (self.is_guarded or self._checks_objects())]
        ints = self.integers

        def size_of(args: Sequence[Any]) -> _repeats.Size:
            key = tuple([e for i in positions for e in args[i].shape])
            if ints:
                key += self._integers(args)
            found = known.get(key)
            if found is None:
                extents = tuple([e for i in inputs for e in args[i].shape])
                found = self._size(shapes_of(artifact, extents, self._integers(args)))
                if len(known) >= 1024:
                    known.clear()
                known[key] = found
            return found

        return size_of

    def _integers(self, args: Sequence[Any]) -> tuple[int, ...]:
        return tuple([args[i] if type(i) is int else self._evaluate(i, args) for i in self.integers])

    def _checks_objects(self) -> bool:
        """Whether the library itself makes the checks of ``_checked`` at each call."""
        return self.reader is not None and self.reader.tensors is not None

    def _checked(self, run: Callable[[list[Any]], Sequence[Any]]) -> Callable[[list[Any]], Sequence[Any]]:
        """Calls ``run`` if the arguments are as the graph was compiled for: the ``data`` of a weight may have been
        replaced by a tensor with other strides, another dtype or another shape. Extents of dynamic dims are checked by
        the call."""
        if self._checks_objects():
            return run
        specs, pick = self.specs, self.pick
        on_cpu = self.place.at.type == "cpu"
        kind_of = operator.attrgetter("dtype", "is_cpu") if on_cpu else lambda t: (t.dtype,)
        kinds = [(DTYPES[t.dtype], *([True] if on_cpu else [])) for t in specs]
        known = [(i, torch.Size(t.shape)) for i, t in enumerate(specs) if -1 not in t.shape]

        def checked(args: list[Any]) -> Sequence[Any]:
            tensors = pick(args)
            if all(map(_is_contiguous, tensors)) and list(map(kind_of, tensors)) == kinds and all(
                    tensors[i].shape == shape for i, shape in known):
                return run(args)
            return self._run_checked(tensors, self._integers(args))

        return checked

    def _run_checked(self, tensors: Sequence[torch.Tensor], integers: tuple[int, ...]) -> list[torch.Tensor]:
        specs = self.specs if self.in_place is None else self.in_place.arguments
        for tensor, spec in zip(tensors, specs):
            check_tensor(tensor, spec, self.place.at)
        return self._run(tensors, integers)

    def _run(self, tensors: Sequence[torch.Tensor], integers: tuple[int, ...]) -> list[torch.Tensor]:
        return run_tensors(self.artifact, list(tensors), self.results, self.shapes, place=self.place, watch=self.watch,
                           in_place=self.in_place, integers=integers, counted=self.counted)

    def __call__(self, args: list[Any]) -> list[Any]:
        tensors = self.pick(args) if self.only_arguments else [self._tensor(i, args) for i in self.inputs]
        run = self._run if self.is_guarded else self._run_checked
        results = run(tensors, self._integers(args))
        return results if self.plain else [self._output(o, results, args) for o in self.outputs]

    def _tensor(self, source: Any, args: Sequence[Any]) -> torch.Tensor:
        if isinstance(source, _program.Argument):
            return args[source.position]  # type: ignore[no-any-return]
        return source.tensor  # type: ignore[no-any-return]

    def _evaluate(self, expr: Any, args: Sequence[Any]) -> Any:
        symbols, function = _expressions.compiled(expr)
        places = [self.symbols[symbol] for symbol in symbols]
        return function(*(args[position] if dim is None else args[position].shape[dim] for position, dim in places))

    def _view_input(self, view: _program.InputView, args: Sequence[Any]) -> torch.Tensor:
        def value_of(arg: Any) -> Any:
            return self._evaluate(arg, args) if isinstance(arg, sympy.Expr) else arg

        tensor = args[view.position]
        for target, *given in view.ops:
            rest, kwargs = pytree.tree_map(value_of, given)
            tensor = target(tensor, *rest, **kwargs)
        return tensor  # type: ignore[no-any-return]

    def _output(self, output: _program.Output, results: Sequence[torch.Tensor], args: Sequence[Any]) -> Any:
        if output.size is not None:
            return output.type(self._evaluate(output.size, args))
        if output.input_view is not None:
            return self._view_input(output.input_view, args)
        if output.index is None:
            return output.value
        result = results[output.index]
        if output.permutation is not None:
            result = result.permute(output.permutation)
        if output.strides is not None:
            strides = [self._evaluate(e, args) for e in output.strides]
            result = torch.empty_strided(result.shape, strides, dtype=result.dtype, device=result.device).copy_(result)
        view = output.view
        if view is None:
            return result
        shape, strides = ([self._evaluate(e, args) for e in exprs] for exprs in (view.shape, view.strides))
        return result.as_strided(shape, strides, self._evaluate(view.offset, args))
