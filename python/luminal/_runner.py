# ===- _runner.py - Calls of an artifact on torch tensors ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Binds the caller's tensors by address: nothing is copied where memory is row-major."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from . import _capi, _errors, _graph
from ._artifact import Artifact, Shapes, Tensor

DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _capi.DTYPES}
# Half of the time of torch.empty, where this version of torch has it.
_empty_strided = getattr(torch._C._dynamo.guards, "_empty_strided_cpu", None) or (
    lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype))
_get_num_threads = torch.get_num_threads
_data_ptr = torch.Tensor.data_ptr
_is_contiguous = torch.Tensor.is_contiguous
_increment_version = torch.autograd.graph.increment_version


def check_tensor(tensor: Any, spec: Tensor) -> None:
    """Raises the exception that says why ``tensor`` cannot be bound as ``spec``; extents are checked by the call."""
    if not isinstance(tensor, torch.Tensor):
        raise _errors.ArgumentError(f"'{spec.name}' is a {type(tensor).__name__}: expected a tensor")
    if isinstance(tensor, FakeTensor):
        raise _errors.DeviceError(f"'{spec.name}' is a fake tensor, which has no memory")
    if tensor.device.type != "cpu":
        raise _errors.DeviceError(f"'{spec.name}' is on {tensor.device}: only the CPU is supported")
    if tensor.layout != torch.strided:
        raise _errors.DeviceError(f"'{spec.name}' has layout {tensor.layout}, which is not supported")
    if tensor.dtype != DTYPES[spec.dtype]:
        raise _errors.DTypeError(f"'{spec.name}' has element type {str(tensor.dtype).removeprefix('torch.')}, "
                                 f"expected {spec.dtype}")
    if tensor.dim() != len(spec.shape):
        raise _errors.ShapeError(f"'{spec.name}' has rank {tensor.dim()}, expected {len(spec.shape)}")
    if spec.shape != tuple(tensor.shape):
        for dim, (extent, expected) in enumerate(zip(tensor.shape, spec.shape)):
            if expected not in (-1, extent):
                raise _errors.ShapeError(f"dim {dim} of '{spec.name}' is {extent}, expected {expected}")


def run_tensors(artifact: Artifact, tensors: list[torch.Tensor], dtypes: Sequence[torch.dtype],
                shapes: Shapes | None = None, threads: int | None = None) -> list[torch.Tensor]:
    """One call on tensors of the caller, in the order inputs, weights, states; returns new outputs.

    Those that the program writes to are changed in place, also where they are strided.
    """
    strided = {}
    if not all(map(_is_contiguous, tensors)):
        strided = {i: t for i, t in enumerate(tensors) if not t.is_contiguous()}
        tensors = [t.contiguous() for t in tensors]
    if shapes is None:
        shapes = artifact.shapes(tuple([e for t in tensors[:len(artifact.inputs)] for e in t.shape]))
    results = [_empty(shape, dtype) for shape, dtype in zip(shapes.outputs, dtypes)]
    addresses = list(map(_data_ptr, tensors))
    addresses += [0] * (artifact.num_tensors - len(tensors))
    artifact.call(addresses, list(map(_data_ptr, results)), shapes, _get_num_threads() if threads is None else threads)
    for index in artifact.written:
        if index < len(tensors):
            _finish_write(tensors[index], strided.get(index))
    return results


def _empty(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype)


def _finish_write(written: torch.Tensor, original: torch.Tensor | None) -> None:
    if original is not None:
        original.copy_(written)
    elif not written.is_inference():
        # Autograd notices a change of what it saved by the version.
        _increment_version(written)


def call_model(artifact: Artifact, values: list[Any], threads: int) -> list[torch.Tensor]:
    """A call on inputs alone: weights and states are the artifact's. numpy arrays may stand beside tensors."""
    tensors = []
    for value, spec in zip(values, artifact.inputs):
        tensor = value
        if not isinstance(value, torch.Tensor) and hasattr(value, "__dlpack__"):
            tensor = torch.utils.dlpack.from_dlpack(value)
        check_tensor(tensor, spec)
        tensors.append(tensor)
    with torch.no_grad():
        return run_tensors(artifact, tensors, [DTYPES[t.dtype] for t in artifact.outputs], threads=threads)


class GraphRunner:
    """A compiled graph: called with the list of the graph's arguments, returns the list of its outputs."""

    def __init__(self, artifact: Artifact, program: _graph.Program) -> None:
        self.artifact = artifact
        self.inputs = [program.inputs[t.name] for t in artifact.inputs]
        self.outputs = program.outputs
        self.symbols = program.symbols
        self.dtypes = [DTYPES[t.dtype] for t in artifact.outputs]
        arguments = [i.position for i in self.inputs if isinstance(i, _graph.Argument)]
        self.only_arguments = len(arguments) == len(self.inputs)
        self.pick = operator.itemgetter(*arguments) if len(arguments) > 1 else (
            lambda args: [args[i] for i in arguments])
        self.shapes: Shapes | None = None
        if all(-1 not in t.shape for t in artifact.inputs):
            self.shapes = artifact.shapes(tuple(e for t in artifact.inputs for e in t.shape))
        self.plain = all(o.index == i and o.permutation is None and o.view is None for i, o in enumerate(program.outputs))
        # Dynamo guards the strides of the arguments of its graphs, except of the bases that AOTAutograd finds for
        # inputs that are written to.
        strided = any(isinstance(i, _graph.Argument) and i.strided for i in self.inputs)
        self.is_direct = self.only_arguments and not artifact.written and not strided
        self._boxed_call = True

    def direct(self) -> Callable[[list[Any]], Sequence[Any]]:
        """The same as one closure without checks, where the strides of the arguments are guarded; else this object.

        Every microsecond of a call counts, so names are local and objects are made once.
        """
        if not self.is_direct:
            return self
        call, pick, known = self.artifact.call, self.pick, self.shapes
        specs = list(zip(known.outputs, known.strides, self.dtypes)) if known is not None else []

        def run(args: list[Any]) -> Sequence[Any]:
            assert known is not None
            results = [_empty_strided(shape, strides, dtype) for shape, strides, dtype in specs]
            call(map(_data_ptr, pick(args)), map(_data_ptr, results), known, _get_num_threads())
            return results

        def run_dynamic(args: list[Any]) -> Sequence[Any]:
            tensors = pick(args)
            shapes = self.artifact.shapes(tuple([e for t in tensors for e in t.shape]))
            results = [_empty_strided(shape, strides, dtype)
                       for shape, strides, dtype in zip(shapes.outputs, shapes.strides, self.dtypes)]
            call(map(_data_ptr, tensors), map(_data_ptr, results), shapes, _get_num_threads())
            return results

        inner = run if known is not None else run_dynamic

        def finish(args: list[Any]) -> Sequence[Any]:
            results = inner(args)
            return [self._output(o, results, args) for o in self.outputs]

        chosen = inner if self.plain else finish
        chosen._boxed_call = True  # type: ignore[attr-defined]
        return chosen

    def __call__(self, args: list[Any]) -> list[Any]:
        tensors = self.pick(args) if self.only_arguments else [self._tensor(i, args) for i in self.inputs]
        results = run_tensors(self.artifact, list(tensors), self.dtypes, self.shapes)
        return results if self.plain else [self._output(o, results, args) for o in self.outputs]

    def _tensor(self, source: Any, args: Sequence[Any]) -> torch.Tensor:
        if isinstance(source, _graph.Argument):
            return args[source.position]  # type: ignore[no-any-return]
        if isinstance(source, _graph.Constant):
            return source.tensor
        return torch.empty((args[source.position], 0), dtype=torch.uint8)

    def _evaluate(self, expr: Any, args: Sequence[Any]) -> int:
        values = {}
        for symbol in expr.free_symbols:
            position, dim = self.symbols[symbol]
            values[symbol] = args[position] if dim is None else args[position].shape[dim]
        return int(expr.subs(values))

    def _output(self, output: _graph.Output, results: Sequence[torch.Tensor], args: Sequence[Any]) -> Any:
        if output.size is not None:
            return self._evaluate(output.size, args)
        if output.index is None:
            return output.value
        result = results[output.index]
        if output.permutation is not None:
            result = result.permute(output.permutation)
        view = output.view
        if view is None:
            return result
        shape, strides = ([self._evaluate(e, args) for e in exprs] for exprs in (view.shape, view.strides))
        return result.as_strided(shape, strides, self._evaluate(view.offset, args))
