# ===- _compile.py - luminal.compile ---------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a whole model with ``torch.export``; the result has the model's own signature."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import (ConstantArgument, ExportGraphSignature, InputKind, InputSpec, OutputKind,
                                          OutputSpec, SymIntArgument, TensorArgument)
from torch.utils import _pytree as pytree

from . import _aliases, _archive, _cache, _capi, _computed, _devices, _dims, _direct, _errors, _export, _modules, _prepared, _profile, _program, _report, _steps, _stored, _strides, _trace, _training, _versions
from ._artifact import Artifact, describe
from ._export import Function, Source
from ._integers import check_integer, integers_of
from ._options import Options, OptionValues, takes_options
from ._runner import DTYPES, GraphRunner, Result, check_tensor

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _drawing

_STORED = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


@takes_options
def compile(model: Source, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None, *,
            dynamic_shapes: Any = None, **options: Unpack[OptionValues]) -> CompiledModel:
    """Compiles ``model`` for inference as it runs on ``args`` and ``kwargs``.

    ``model``: a module or function, an ``ExportedProgram``, or the path of a ``.pt2`` file (the last two need no
    arguments). ``dynamic_shapes``: see ``torch.export.export``. Weights remain the model's: a change of a weight takes
    effect at the next call. Raises UnsupportedOpError, which lists every unsupported op, and ArgumentError for an unknown
    option.
    """
    _versions.check_torch(torch.__version__)
    parsed = Options.parse(options)
    exported, owner = _export.export(model, args, kwargs, dynamic_shapes)
    symbols = _dims.find(exported, owner, args, kwargs or {}, dynamic_shapes) if owner is not None else {}
    may_trace = True
    while True:
        try:
            _export.check_effects(exported)
            return CompiledModel(exported, owner, parsed, symbols=symbols)
        except _errors.UnsupportedOpError as error:
            targets = {node.name: node.target for node in exported.graph.nodes}
            known = _trace.decompositions()
            wanted = {targets.get(op.node) for op in error.ops}
            table = {op: known[op] for op in wanted if op in known}
            # torch.export keeps the steps of torch.vmap; they disappear when the program is traced again.
            may_trace &= any(getattr(op, "__module__", None) == "torch._functorch.predispatch" for op in wanted)
            if not table and not may_trace:
                raise
            may_trace = False
            exported = _without_devices(exported).run_decompositions(table)


def _without_devices(exported: ExportedProgram) -> ExportedProgram:
    """Removes assertions about devices: when PyTorch traces again, it treats ``cuda`` and ``cuda:0`` as different. The
    devices of all tensors are checked for the whole program instead."""
    graph = _archive.copy_graph(exported.graph)
    graph.set_codegen(exported.graph._codegen)
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten._assert_tensor_metadata.default):
        node.kwargs = {name: value for name, value in node.kwargs.items() if name != "device"}
    return exported._update(fx.GraphModule(exported.graph_module, graph), exported.graph_signature)


def _owner_of(module: torch.nn.Module, path: str) -> tuple[torch.nn.Module, str]:
    parent, _, name = path.rpartition(".")
    return module.get_submodule(parent), name


class CompiledModel:
    """A compiled model. It is called like the model, by any number of threads concurrently."""

    def __init__(self, exported: ExportedProgram, owner: torch.nn.Module | None, options: Options,
                 program: bytes | None = None, symbols: Mapping[str, str] | None = None) -> None:
        """``program``: the text of an equal program to compile instead of the archive; ``symbols``: the user's names of
        symbols."""
        self._exported, self._owner, self._program, self._dims = exported, owner, program, symbols or {}
        self._specs, self._calls = exported.graph_signature, exported.call_spec
        # Tensors are named by their nodes, whose names are unique: a buffer may have the same name as an input.
        self._stored = {spec.arg.name: spec.target for spec in self._specs.input_specs if spec.kind in _STORED}
        self._where = self._locate()
        self._layouts = self._find_layouts() if options.in_place else {}
        self._guards = list(getattr(exported, "_guards_code", None) or [])
        self._checks = _computed.compile_guards(filter(_computed.is_for_caller, self._guards), [
            spec.arg.name for spec in self._specs.input_specs if spec.kind == InputKind.USER_INPUT])
        self._returned = self._find_returned()
        self._names = _computed.name_sizes(exported.graph)
        self._symbols = _computed.find_symbols(exported.graph)
        # PyTorch does not count changes of inference tensors.
        is_unseen = any(self._value(name).is_inference() for name in self._where)
        self._options = options = options if options.freeze or not is_unseen else dataclasses.replace(options, prepare=False)
        place = self._place = self._find_place()
        self._modules = self._find_modules()
        told: list[_report.Report] = []
        self._data = _modules.put(
            _cache.compile_archive(self._input(), options, place.texts(options), place.device.describe(place.at),
                                   self._modules, told), self._modules)
        self.artifact = place.device.load(self._data, place.at)
        """The loaded artifact, with its signature in ``inputs``, ``outputs``, ``weights`` and ``states``."""
        self._report = told[0] if told else None
        self._sources = self.artifact.inputs + self.artifact.weights + self.artifact.states
        layouts = {i: self._layouts[t.name] for i, t in enumerate(self._sources) if t.name in self._layouts}
        self._in_place = _strides.Strided(layouts, self._sources) if layouts else None
        self._watch = _prepared.watch(self._sources, options.freeze)
        values = {node.name: node.meta.get("val") for node in self._exported.graph.nodes}
        results = [values[s.arg.name] for i, s in enumerate(self._specs.output_specs) if i not in self._returned
                   and s.kind == OutputKind.USER_OUTPUT and isinstance(s.arg, (TensorArgument, SymIntArgument))]
        self._results = [Result(DTYPES[t.dtype], _devices.locate(value.device) if isinstance(value, torch.Tensor)
                                else _devices.HOST) for t, value in zip(self.artifact.outputs, results)]
        self._call_guarded = _training.guard(self._run)
        self._direct = self._make_direct(options)

    def __repr__(self) -> str:
        model = self._owner.function if isinstance(self._owner, Function) else self._owner
        name = getattr(model, "__name__", type(model).__name__) if model is not None else "an exported program"
        return describe(f"{name} compiled for {self._place.at}", self.artifact.inputs, integers_of(self.artifact), self.artifact.outputs)

    def _locate(self) -> dict[str, tuple[dict[str, Any], str]]:
        """For each stored tensor, the dictionary that holds it, which is read at every call, and its key there."""
        where: dict[str, tuple[dict[str, Any], str]] = {}
        for name, path in self._stored.items():
            assert path is not None
            found = False
            if self._owner is not None:
                module, key = _owner_of(self._owner, path) if _has(self._owner, path) else (None, "")
                if module is not None:
                    for holder in (module._parameters, module._buffers):
                        if holder.get(key) is not None:
                            where[name], found = (holder, key), True
            if not found:
                holder = self._exported.state_dict if path in self._exported.state_dict else self._exported.constants
                where[name] = (holder, path)
        return where

    def _find_layouts(self) -> dict[str, _strides.Layout]:
        """Layouts of user inputs that were not row-major in the traced call; later calls may have other layouts."""
        written = {spec.target for spec in self._specs.output_specs if spec.kind != OutputKind.USER_OUTPUT}
        users = {s.arg.name for s in self._specs.input_specs if s.kind == InputKind.USER_INPUT and s.arg.name not in written}
        values = {n.name: n.meta["val"] for n in self._exported.graph.find_nodes(op="placeholder") if n.name in users}
        found = {name: _strides.find(value, False, bool(written)) for name, value in values.items()
                 if isinstance(value, torch.Tensor)}
        # Guards are conditions on the extents of the inputs before they are replaced by their storages.
        is_guarded = bool(getattr(self._exported, "_guards_code", None))
        return {name: layout for name, layout in found.items()
                if layout is not None and not (is_guarded and -1 in layout.shape)}

    def _find_returned(self) -> dict[int, str]:
        """Results that are arguments of the call to which it wrote; the program does not compute these."""
        users = {s.arg.name for s in self._specs.input_specs if s.kind == InputKind.USER_INPUT}
        nodes = {node.name: node for node in self._exported.graph.nodes}
        found = {}
        for i, spec in enumerate(self._specs.output_specs):
            node = nodes.get(spec.arg.name) if spec.kind == OutputKind.USER_OUTPUT and isinstance(spec.arg, TensorArgument) else None
            argument = _aliases.written_argument(node) if node is not None and node.op == "call_function" else None
            if argument is not None and argument.name in users:
                found[i] = argument.name
        return found if len(found) < len(self._specs.output_specs) else {}

    def _find_modules(self) -> dict[str, str]:
        """The module of each node of the program; for a function's own nodes, the function."""
        if self._program is not None:
            return {}
        modules = _modules.table(self._exported.graph.nodes)
        if isinstance(self._owner, _export.Function):
            modules.update({node: self._owner.name for node, path in modules.items() if path == _export.Function.__name__})
        return modules

    def _find_place(self) -> _devices.Place:
        values = (value for node in self._exported.graph.nodes for value in pytree.tree_leaves(node.meta.get("val")))
        return _devices.find((value.device for value in values if isinstance(value, torch.Tensor)), self._options.device)

    def _value(self, name: str) -> torch.Tensor:
        holder, key = self._where[name]
        return holder[key]  # type: ignore[no-any-return]

    def _constants(self) -> dict[str, torch.Tensor]:
        """The constants of the program that are small and never written to."""
        names = [spec.arg.name for spec in self._specs.input_specs if spec.kind == InputKind.CONSTANT_TENSOR]
        return {n: self._value(n) for n in names if 0 < self._value(n).numel() * self._value(n).element_size() <= 1024}

    def _input(self) -> bytes:
        """The archive or program text to compile."""
        return self._program if self._program is not None else self._archive(self._constants(), self._layouts)

    def _named_input(self) -> bytes:
        """The same, with the modules of the nodes."""
        return self._program if self._program is not None else _modules.put_in_archive(self._input(), self._modules)

    def _archive(self, tensors: Mapping[str, torch.Tensor], layouts: Mapping[str, _strides.Layout],
                 is_saved: bool = False) -> bytes:
        """The archive. ``tensors``: the values that it contains; ``layouts``: of inputs that are replaced by their
        storages; ``is_saved``: whether the artifact will be called without this object."""
        if is_saved and self._names:
            raise _errors.CompileError("cannot be saved: the caller computes " + ", ".join(map(str, self._names)))
        graph = _archive.copy_graph(self._exported.graph)
        arguments = graph.find_nodes(op="placeholder")
        for node in arguments:
            if node.name in layouts:
                mode = torch._guards.detect_fake_mode(node.meta["val"])
                _strides.lay_out(graph, node, layouts[node.name], arguments[-1].next, mode)
        ranges = dict(self._exported.range_constraints)
        added = _computed.add_ints(graph, self._names, ranges) if self._names else []
        _archive.strip_metadata(graph)
        inputs = [InputSpec(s.kind, s.arg, s.arg.name if s.kind in _STORED else s.target, s.persistent)
                  for s in self._specs.input_specs]
        inputs += [InputSpec(InputKind.USER_INPUT, SymIntArgument(name), None) for name in added]
        names = {path: name for name, path in self._stored.items()}
        outputs = [OutputSpec(s.kind, s.arg, names.get(s.target, s.target) if s.kind == OutputKind.BUFFER_MUTATION
                              else s.target) for s in self._specs.output_specs]
        if not is_saved and self._returned:
            kept = [i for i in range(len(outputs)) if i not in self._returned]
            outputs, results = [outputs[i] for i in kept], graph.output_node().args[0]
            graph.output_node().args = (tuple(results[i] for i in kept),)  # type: ignore[index]
        return _archive.write_archive(_archive.UnrunGraph(self._exported.graph_module, graph),
                                      ExportGraphSignature(inputs, outputs), tensors, ranges,
                                      [g for g in self._guards if is_saved or not _computed.is_for_caller(g)], self._names,
                                      self._dims)

    @property
    def report(self) -> _report.Report:
        """The compiler's report. The first access compiles again, unless the compilation measured or wrote a report to a
        file; without measurements the result is the same program. It also compiles again if the cached artifact was made
        for a model with other names."""
        if self._report is None:
            texts = self._place.texts(self._options)
            data, _, self._report = _report.compile_with_report(self._named_input(), "graph", texts)
            if _report.is_searched(texts) and _modules.without(data) != _modules.without(self._data):
                self._report.remarks.append("describes another search than the one that found the running program, which came from the cache")
        self._report.in_place = self._in_place
        return self._report

    def ir(self, phase: str = "scheduled") -> str:
        """The program after a phase: "imported", "rolled", "saturated", "fused", "scheduled" or "lowered"."""
        texts = [*self._place.texts(self._options), f"--emit={phase}"]
        return _capi.compile_bytes(self._input(), "graph", texts)[0].decode()

    def rule_texts(self) -> list[str]:
        """The options of saturation, as the C interface takes them."""
        return self._options.rule_texts()

    def of_program(self, text: str) -> CompiledModel:
        """The same model, compiled from the text of another program with the same signature, without applying rules."""
        options = dataclasses.replace(self._options, rules=(), rule_sets=("none",), search_budget=0.0, search_candidates=0)
        return CompiledModel(self._exported, self._owner, options, text.encode())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an artifact with the present values of the weights, for ``luminal.load`` and ``luminal-run``."""
        values = {name: self._value(name) for name in self._where}
        texts = [t for t in self._place.texts(self._options) if t != "--allow-missing-weights"] + ["--embed-weights"]
        if self._program is None:
            data, _ = _capi.compile_bytes(self._archive(values, {}, is_saved=True), "graph", texts)
            data = _modules.put(data, self._modules)
        else:
            with tempfile.TemporaryDirectory() as folder:
                weights = pathlib.Path(folder) / "weights.safetensors"
                _archive.write_safetensors(weights, values)
                data, _ = _capi.compile_bytes(self._program, "graph", [*texts, f"--weights={weights}"])
        _cache.write_atomically(pathlib.Path(path), data)

    def profile(self, trace: str | os.PathLike[str] | None = None, args: tuple[Any, ...] | None = None,
                kwargs: Mapping[str, Any] | None = None, *, calls: int = 1) -> _profile.Profile:
        """Times each step of a call, or of several calls. ``trace``: a file for Perfetto (ui.perfetto.dev).

        ``args`` and ``kwargs``: by default those for which the model was compiled. The first call of a model allocates
        memory and precomputes values from weights; call the model once before, to see the times of later calls.
        """
        given, named = self._samples(args, kwargs)
        with torch.no_grad():
            return _profile.profile(self.artifact, lambda: self._call(given, named), calls, trace)

    def graph(self) -> _drawing.Graph:
        """The steps of a call as a graph, in boxes that are named for the modules of the model."""
        from . import _drawing
        if not isinstance(self.artifact, Artifact):
            raise _errors.DeviceError("the device that runs the program does not tell of its steps")
        return _drawing.of_artifact(self._data, self.artifact)

    def debug(self, args: tuple[Any, ...] | None = None, kwargs: Mapping[str, Any] | None = None, *,
              on_step: Callable[[_steps.StepCall], object] = _steps.tell) -> Any:
        """Makes a call that waits for each step. ``on_step`` is called before and after each step and may read the step's
        operands and results; an exception that it raises ends the call. By default it prints the steps. ``args`` and
        ``kwargs``: see ``profile``.
        """
        given, named = self._samples(args, kwargs)
        with torch.no_grad():
            return _steps.watch(self.artifact, lambda: self._call(given, named), on_step)

    def _samples(self, args: tuple[Any, ...] | None, kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The given arguments, or those for which the model was compiled."""
        if args is None and kwargs is None:
            if self._exported.example_inputs is None:
                raise _errors.ArgumentError("the program has no sample inputs: args has to be given")
            # Clone the samples, because the model may write to its arguments.
            args, kwargs = pytree.tree_map_only(torch.Tensor, torch.clone, self._exported.example_inputs)
        return args or (), dict(kwargs or {})

    def _make_direct(self, options: Options) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any] | None] | None:
        """A fast call that does not check each tensor. None if the model takes or returns anything but row-major tensors,
        or if Python must read their addresses."""
        users = [spec.arg.name for spec in self._specs.input_specs if spec.kind == InputKind.USER_INPUT]
        outputs = [spec for i, spec in enumerate(self._specs.output_specs)
                   if spec.kind == OutputKind.USER_OUTPUT and i not in self._returned]
        if (integers_of(self.artifact) or self._checks or self._names or self._in_place is not None
                or not all(isinstance(spec.arg, TensorArgument) for spec in [*outputs, *self._specs.input_specs])):
            return None
        places = {name: i for i, name in enumerate([*users, *self._where])}
        order = [places[t.name] for t in self._sources]
        program = _program.Program(
            b"", {t.name: _program.Argument(i, False) for i, t in zip(order, self._sources)}, {},
            [_program.Output(i) for i in range(len(outputs))], {}, len(places), self._place,
            [result.device for result in self._results], {}, {})
        stored = _stored.Stored(list(self._where.values()))
        runner = GraphRunner(self.artifact, program, options.freeze, is_guarded=False, stored=stored)
        runner.watch = self._watch  # a single count of changes for all calls
        if runner.reader is None or not runner.is_direct or any(result.device != self._place.at for result in self._results):
            return None
        computed = iter(range(len(outputs)))
        order = [len(outputs) + users.index(self._returned[i]) if i in self._returned else next(computed)
                 for i, spec in enumerate(self._specs.output_specs) if spec.kind == OutputKind.USER_OUTPUT]
        return _direct.make(runner.direct(), self._calls.in_spec, self._calls.out_spec, stored, self._place.at,
                            order if self._returned else [])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._direct is not None and (done := self._direct(args, kwargs)) is not None:
            return done[0]
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call that checks each tensor."""
        inputs = self._flatten(args, kwargs)
        tensors = [inputs[t.name] if t.name in inputs else self._value(t.name) for t in self._sources]
        for tensor, spec in zip(tensors, self._sources if self._in_place is None else self._in_place.arguments):
            check_tensor(tensor, spec, self._place.at)
        for guard, holds in self._checks:
            if not holds(inputs):
                raise _errors.ShapeError(f"the model was traced for {guard}")
        inputs |= _computed.compute(self._names, self._symbols, inputs) if self._names else {}
        integers = tuple(check_integer(inputs[name], name) for name in integers_of(self.artifact))
        results = iter(self._call_guarded(integers, *tensors))
        outputs: list[Any] = []
        for i, spec in enumerate(self._specs.output_specs):
            if spec.kind != OutputKind.USER_OUTPUT:
                continue
            if i in self._returned:
                outputs.append(inputs[self._returned[i]])
            elif isinstance(spec.arg, TensorArgument):
                outputs.append(next(results))
            elif isinstance(spec.arg, SymIntArgument):
                outputs.append(int(next(results)))
            else:
                outputs.append(spec.arg.value)
        return pytree.tree_unflatten(outputs, self._calls.out_spec)

    def _flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        expected = self._calls.in_spec
        try:
            from torch.export._tree_utils import reorder_kwargs
            kwargs = reorder_kwargs(kwargs, expected)
        except ValueError as error:
            raise _errors.ArgumentError(str(error)) from None
        leaves, given = pytree.tree_flatten((args, kwargs))
        if given != expected:
            raise _errors.ArgumentError(f"the arguments have the structure {given}, the model was compiled for {expected}")
        named = {}
        users = [spec.arg for spec in self._specs.input_specs if spec.kind == InputKind.USER_INPUT]
        for leaf, arg in zip(leaves, users):
            if isinstance(arg, ConstantArgument):
                if type(leaf) is not type(arg.value) or leaf != arg.value:
                    raise _errors.ArgumentError(
                        f"argument '{arg.name}' is {leaf!r}, the model was compiled for {arg.value!r}")
            else:
                named[arg.name] = leaf
        return named

    def _run(self, integers: tuple[int, ...], *tensors: torch.Tensor) -> list[torch.Tensor]:
        from ._runner import run_tensors
        return run_tensors(self.artifact, list(tensors), self._results, place=self._place, watch=self._watch,
                           in_place=self._in_place, integers=integers)


def _has(module: torch.nn.Module, path: str) -> bool:
    try:
        _owner_of(module, path)
    except AttributeError:
        return False
    return True


