# ===- _graph.py - From AOTAutograd's graph to a program and its bindings ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a functional ATen graph to an exported program.

Inputs of such a graph are tensors and symbolic ints. Its mutations are trailing ``aten.copy_`` ops, its constants are
attributes. An int that equals the extent of an input is read from it; any other int becomes an integer of the program.
"""
from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch import fx
from torch.export.graph_signature import (ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec,
                                          SymIntArgument, TensorArgument)
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from . import _aliases, _archive, _computed, _devices, _errors, _expressions, _modules, _places, _strides, _versions
from ._program import Argument, Constant, InputView, Output, Program, View

# Larger constants stay in their memory and are bound like inputs.
_MAX_CONSTANT_BYTES = 1024
# Metadata key of arguments that are weights, that is, the same tensors in most calls.
WEIGHT = "luminal_weight"
# Metadata key of arguments whose strides may differ from those of the traced call.
UNGUARDED = "luminal_unguarded"
# Metadata key of arguments whose writes AOTAutograd counts.
COUNTED = "luminal_counted"
aten = torch.ops.aten


def make_program(graph_module: fx.GraphModule, device: str = "", in_place: bool = True) -> Program | None:
    """Builds the program; None if the graph computes no tensor. ``device``: name of the device that runs it, or empty.
    ``in_place``: whether strided arguments are read in place. Raises DTypeError or DeviceError."""
    return _Builder(graph_module).build(device, in_place)


def _view_of(base: torch.Tensor, part: torch.Tensor) -> View:
    return View(tuple(map(_aliases.expr_of, part.shape)), tuple(map(_aliases.expr_of, part.stride())),
                _aliases.expr_of(part.storage_offset()) - _aliases.expr_of(base.storage_offset()))


class _Builder:
    def __init__(self, source: fx.GraphModule) -> None:
        self.source = source
        self.graph = _archive.copy_graph(source.graph)
        self.output = self.graph.output_node()
        self.arguments = self.graph.find_nodes(op="placeholder")
        # In a part of a graph, the inputs are at their first uses; move them to the beginning.
        for node in reversed(self.arguments):
            if node is not next(iter(self.graph.nodes)):
                next(iter(self.graph.nodes)).prepend(node)
        self.last = self.arguments[-1] if self.arguments else None
        self.inputs: dict[str, Argument | Constant] = {}
        self.integers: dict[str, Any] = {}
        self.constants: dict[str, torch.Tensor] = {}
        self.weights: set[str] = set()
        self.symbols: dict[Any, tuple[int, int | None]] = {}
        self.extents: dict[Any, tuple[fx.Node, int]] = {}
        self.shape_env: Any = None
        self.writes: dict[fx.Node, fx.Node] = {}
        self.fake_mode: Any = torch._guards.detect_fake_mode([n.meta.get("val") for n in self.arguments])

    def build(self, device: str, in_place: bool) -> Program | None:
        for position, node in enumerate(self.arguments):
            self.read_argument(position, node)
        for position, node in enumerate(self.arguments):
            if not isinstance(node.meta["val"], torch.Tensor):
                self.read_int(position, node)
        self.carry_symbols()
        self.refuse_unknown_sizes()
        self.lift_constants()
        self.expand_size_sums()
        place = _devices.find((value.device for node in self.graph.nodes
                               for value in pytree.tree_leaves(node.meta.get("val")) if isinstance(value, torch.Tensor)),
                              device)
        mutations = self.take_mutations()
        outputs, tensors = self.read_outputs()
        if not tensors and not mutations:
            return None
        self.output.args = ((*(value for _, value in mutations), *tensors),)
        self.graph.eliminate_dead_code()
        for node in list(self.writes):
            self.graph.erase_node(node)
        written = {target for target, _ in mutations}
        for position, node in enumerate(self.arguments):
            value = node.meta["val"]
            if isinstance(value, torch.Tensor):
                is_strided = not _aliases.is_row_major(value)
                is_guarded = not node.meta.get(UNGUARDED) and (_versions.GUARDS_WEIGHTS or not node.meta.get(WEIGHT))
                layout = _strides.find(value, is_guarded, bool(written)) if in_place and node not in written else None
                self.inputs[node.name] = Argument(position, is_strided, is_guarded, layout, bool(node.meta.get(COUNTED)))
                if (node.meta.get(WEIGHT) and (layout is not None or not is_strided)
                        and all(isinstance(extent, int) for extent in value.shape)):
                    self.weights.add(node.name)
                if layout is not None:
                    assert self.last is not None
                    _strides.lay_out(self.graph, node, layout, self.last.next, self.fake_mode)
        self.weights -= {target.name for target, _ in mutations}
        names = self.name_sizes()
        _computed.forget_arithmetic(self.graph)
        modules = _modules.table(self.graph.nodes)
        _archive.strip_metadata(self.graph)
        graph_module = _archive.UnrunGraph(self.source, self.graph)
        ranges = {symbol: self.range_of(symbol) for symbol in self.symbols}
        ranges |= {symbol: self.range_of(expr) for expr, symbol in names.items()}
        archive = _archive.write_archive(graph_module, self.signature(mutations, tensors), self.constants, ranges, names=names)
        return Program(archive, self.inputs, self.integers, outputs, self.symbols, len(self.arguments), place,
                       [_devices.locate(node.meta["val"].device) for node in tensors],
                       {str(symbol): expr for expr, symbol in names.items()}, modules)

    def range_of(self, expr: Any) -> Any:
        bounds = self.shape_env.bound_sympy(expr)
        return bounds if expr in self.extents else _computed.bound(bounds)

    def add_input(self, name: str, value: torch.Tensor | torch.SymInt) -> fx.Node:
        before = self.last.next if self.last is not None else next(iter(self.graph.nodes))
        with self.graph.inserting_before(before):
            node = self.graph.placeholder(name)
        node.meta["val"] = value
        self.last = node
        return node

    def read_argument(self, position: int, node: fx.Node) -> None:
        value = node.meta["val"]
        if isinstance(value, torch.Tensor):
            if _devices.of_type(value.device.type) is None:
                raise _errors.DeviceError(f"input '{node.name}' is on {value.device}: programs run on "
                                          f"{', '.join(_devices.registered())}")
            if value.layout != torch.strided:
                raise _errors.DeviceError(f"input '{node.name}' has layout {value.layout}, which is not supported")
            for dim, extent in enumerate(value.shape):
                if isinstance(extent, torch.SymInt):
                    self.shape_env = extent.node.shape_env
                    if extent.node.expr.is_Symbol:
                        self.symbols.setdefault(extent.node.expr, (position, dim))
                        self.extents.setdefault(extent.node.expr, (node, dim))
        elif isinstance(value, torch.SymInt):
            self.shape_env = value.node.shape_env
        elif not isinstance(value, int):
            raise _errors.DTypeError(f"input '{node.name}' is a {type(value).__name__}: inputs must be tensors or ints")

    def read_int(self, position: int, node: fx.Node) -> None:
        """Handles an int argument: keeps it in the graph if the caller must pass it, otherwise replaces it by an extent
        or constant."""
        value = node.meta["val"]
        if node.users and isinstance(value, torch.SymInt):
            expr = value.node.expr
            if expr not in self.extents:
                self.integers[node.name] = position
                if expr.is_Symbol:
                    self.symbols.setdefault(expr, (position, None))
                return
            tensor, dim = self.extents[expr]
            with self.graph.inserting_before(self.last.next):  # type: ignore[union-attr]
                size = self.graph.call_function(aten.sym_size.int, (tensor, dim))
            size.meta["val"] = value
            node.replace_all_uses_with(size)
        elif node.users:
            node.replace_all_uses_with(value)
        if not node.users:
            if self.last is node:
                self.last = node.prev if node.prev.op == "placeholder" else None
            self.graph.erase_node(node)

    def carry_symbols(self) -> None:
        """Adds ints that no node reads but that extents depend on."""
        needed = {symbol for node in self.arguments if isinstance(node.meta["val"], torch.Tensor) and node.users
                  for extent in node.meta["val"].shape for symbol in _aliases.expr_of(extent).free_symbols}
        for position, node in enumerate(self.source.graph.find_nodes(op="placeholder")):
            value = node.meta["val"]
            if isinstance(value, torch.SymInt) and value.node.expr in needed - self.symbols.keys():
                self.integers[self.add_input(f"size_{node.name}", value).name] = position
                self.symbols[value.node.expr] = (position, None)

    def refuse_unknown_sizes(self) -> None:
        """Refuses a part that reads a tensor whose extents depend on sizes that no argument of the part determines."""
        tensors = [node for node in self.arguments if isinstance(node.meta.get("val"), torch.Tensor) and node.users]
        extents = [(node, _aliases.expr_of(extent)) for node in tensors for extent in node.meta["val"].shape]
        extents += [(node, _aliases.expr_of(node.meta["val"])) for node in self.arguments if node.name in self.integers]
        known = set(self.symbols)
        for _, expr in extents:
            # Like the runtime (luminal/Support/SymbolSolver.h), solves for one symbol in an extent that is linear in it.
            unknown = expr.free_symbols - known
            if len(unknown) == 1 and (slope := sympy.expand(expr).diff(*unknown)).is_Integer and slope != 0:
                known |= unknown
        for node, expr in extents:
            if expr.free_symbols - known:
                reason = f"reads a size, {expr}, which no argument of the compiled part determines"
                ops = [_errors.UnsupportedOp(f"{user.target}: {reason}", user.name, *_places.place_of(user))
                       for user in node.users]
                raise _errors.UnsupportedOpError("; ".join(map(str, ops)), ops)

    def lift_constants(self) -> None:
        for node in list(self.graph.find_nodes(op="get_attr")):
            value = getattr(self.source, node.target)
            if not isinstance(value, torch.Tensor):
                continue  # the graph of a higher-order op; the importer reports it
            with _disable_current_modes():
                real = value.detach()
            meta = node.meta.get("val")
            if meta is None:
                meta = self.fake_mode.from_tensor(value)
            lifted = self.add_input(f"constant_{len(self.constants) + len(self.inputs)}", meta)
            node.replace_all_uses_with(lifted)
            self.graph.erase_node(node)
            if real.numel() * real.element_size() <= _MAX_CONSTANT_BYTES and real.numel():
                self.constants[lifted.name] = real
            else:
                self.inputs[lifted.name] = Constant(real)

    def expand_size_sums(self) -> None:
        """Replaces sums of sizes by additions, because archives do not support ``torch.sym_sum``."""
        for node in self.graph.find_nodes(op="call_function", target=torch.sym_sum):
            total: Any = 0
            for term in node.args[0]:
                value = sum(t.meta["val"] if isinstance(t, fx.Node) else t for t in (total, term))
                if isinstance(total, fx.Node) or isinstance(term, fx.Node):
                    with self.graph.inserting_before(node):
                        total = self.graph.call_function(operator.add, (total, term))
                    total.meta["val"] = value
                else:
                    total = value
            node.replace_all_uses_with(total)
            self.graph.erase_node(node)

    def take_mutations(self) -> list[tuple[fx.Node, fx.Node]]:
        nodes = self.graph.find_nodes(op="call_function", target=aten.copy_.default)
        self.writes = {node: node.args[0] for node in nodes if node.args[0].op == "placeholder"}
        return [(target, node.args[1]) for node, target in self.writes.items()]

    def name_sizes(self) -> dict[Any, Any]:
        """Symbols for expressions that no archive can express, keyed by expression. The caller computes each as an
        integer."""
        found = _computed.name_sizes(self.graph)
        for expr, symbol in found.items():
            self.require_symbols(expr)
            if not expr.free_symbols <= self.symbols.keys():
                raise _errors.CompileError(f"cannot prove what the size {expr} is: it depends on sizes that no argument determines")
            if expr not in self.extents:
                self.integers[self.add_input(f"size_{symbol}", _computed.make_int(self.shape_env, expr)).name] = expr
        return found

    def view_input(self, position: int, base: fx.Node, result: fx.Node) -> InputView:
        """An output that is a view of an argument. AOTAutograd creates such outputs again from this one's strides and
        offset."""
        def value_of(arg: Any) -> Any:
            if not isinstance(arg, fx.Node):
                return arg
            expr = _aliases.expr_of(arg.meta["val"])
            self.require_symbols(expr)
            return expr

        ops = []
        for node in _aliases.views_between(base, result):
            args = node.args[1:] if node.args else ()
            ops.append((node.target, fx.map_arg(args, value_of), fx.map_arg(node.kwargs, value_of)))
        return InputView(position, tuple(reversed(ops)))

    def read_outputs(self) -> tuple[list[Output], list[fx.Node]]:
        outputs: list[Output] = []
        tensors: list[fx.Node] = []
        results = self.output.args[0]
        results = results if isinstance(results, (list, tuple)) else [results]
        shared = _aliases.find_shared([r for r in results if isinstance(r, fx.Node) and isinstance(r.meta["val"], torch.Tensor)])
        known: dict[fx.Node, Output] = {}
        positions = {node: position for position, node in enumerate(self.arguments)}
        positions |= {node: positions[target] for node, target in self.writes.items()}
        for result in results:
            if isinstance(result, fx.Node) and (base := _aliases.base_of(result)) in positions:
                outputs.append(Output(input_view=self.view_input(positions[base], base, result)))
                continue
            value: Any = result.meta["val"] if isinstance(result, fx.Node) else result
            if isinstance(value, torch.Tensor):
                assert isinstance(result, fx.Node)
                base = shared.get(result) or _aliases.find_kept(result)
                view = _view_of(base.meta["val"], value) if base is not None else None
                if view is None or not self.knows((*view.shape, *view.strides, view.offset)):
                    base, view = result, None
                if base not in known:
                    known[base] = self.give(base, tensors)
                outputs.append(dataclasses.replace(known[base], view=view))
            elif isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                if not self.knows((value.node.expr,)):
                    self.leave_numbers(value.node.expr.free_symbols - self.symbols.keys())
                    raise _errors.CompileError(f"output '{result}' depends on sizes that no argument determines: {value.node.expr}")
                kind = int if isinstance(value, torch.SymInt) else float if isinstance(value, torch.SymFloat) else bool
                outputs.append(Output(size=value.node.expr, type=kind))
            else:
                outputs.append(Output(value=value))
        return outputs, tensors

    def leave_numbers(self, symbols: set[Any]) -> None:
        """Leaves the ops that read numbers from tensors to PyTorch, if an output depends on such numbers."""
        ops = [_errors.UnsupportedOp(f"{node.target}: returns a number to the caller", node.name, *_places.place_of(node))
               for node in self.source.graph.find_nodes(op="call_function", target=aten._local_scalar_dense.default)
               if any(expr.free_symbols & symbols for expr in _expressions.of_value(node.meta["val"]))]
        if ops:
            raise _errors.UnsupportedOpError("; ".join(map(str, ops)), ops)

    def give(self, result: fx.Node, tensors: list[fx.Node]) -> Output:
        """Makes a node an output of the program."""
        value, index = result.meta["val"], len(tensors)
        order = _aliases.stride_order(value)
        if order is None:
            tensors.append(result)
            strides = tuple(map(_aliases.expr_of, value.stride()))
            is_copy = not _aliases.is_row_major(value) and _aliases.is_injective(value) and self.knows(strides)
            return Output(index, strides=strides if is_copy else None)
        with self.graph.inserting_before(self.output):
            permuted = self.graph.call_function(aten.permute.default, (result, list(order)))
        permuted.meta["val"] = value.permute(order)
        tensors.append(permuted)
        return Output(index, permutation=tuple(order.index(d) for d in range(len(order))))

    def knows(self, exprs: Sequence[Any]) -> bool:
        """Whether a call determines all symbols of these expressions."""
        for expr in exprs:
            self.require_symbols(expr)
        return all(expr.free_symbols <= self.symbols.keys() for expr in exprs)

    def require_symbols(self, expr: Any) -> None:
        """Finds int arguments that were removed because only such an output reads them; the caller still passes their
        values."""
        for symbol in expr.free_symbols:
            for position, node in enumerate(self.source.graph.find_nodes(op="placeholder")):
                value = node.meta["val"]
                if isinstance(value, torch.SymInt) and value.node.expr == symbol:
                    self.symbols.setdefault(symbol, (position, None))

    def signature(self, mutations: list[tuple[fx.Node, fx.Node]], tensors: list[fx.Node]) -> ExportGraphSignature:
        inputs = []
        for node in self.graph.find_nodes(op="placeholder"):
            if node.name in self.integers:
                inputs.append(InputSpec(InputKind.USER_INPUT, SymIntArgument(node.name), None))
                continue
            kind = (InputKind.CONSTANT_TENSOR if node.name in self.constants else
                    InputKind.PARAMETER if node.name in self.weights else InputKind.USER_INPUT)
            inputs.append(InputSpec(kind, TensorArgument(node.name), node.name if kind != InputKind.USER_INPUT else None))
        outputs = [OutputSpec(OutputKind.USER_INPUT_MUTATION, TensorArgument(value.name), node.name)
                   for node, value in mutations]
        outputs += [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None) for node in tensors]
        return ExportGraphSignature(inputs, outputs)
