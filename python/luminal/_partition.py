# ===- _partition.py - Graphs with ops that are not supported -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splits a graph into parts that are compiled and ops that PyTorch runs."""
from __future__ import annotations

import dataclasses
import logging
import operator
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from . import _aliases, _archive, _complex, _devices, _errors, _expressions, _graph, _modules, _places, _sizes, _trace, _views
from ._runner import DTYPES, GraphRunner

log = logging.getLogger("luminal")
CompileWhole = Callable[[fx.GraphModule], GraphRunner | None]
_dtypes = frozenset(DTYPES.values())
REFUSE_COSTLY = "--refuse-costly"
"""The compiler option that treats ops whose cost grows faster than their operands as unsupported."""
_OF_LIBRARIES = frozenset({"transformers::grouped_mm_fallback"})
"""Ops of other libraries that the importer supports."""


def compile_parts(graph_module: fx.GraphModule, compile_whole: CompileWhole, is_strict: bool,
                  note: Callable[[list[_errors.UnsupportedOp]], None] | None = None,
                  has_kernels: bool = False, decomposed: Collection[Any] = ()) -> Callable[[list[Any]], Sequence[Any]]:
    """Compiles the graph as one artifact or, if it has unsupported ops, as several artifacts with eager calls between
    them.

    ``is_strict``: raise UnsupportedOpError instead of splitting. ``note``: called with the ops that PyTorch runs.
    ``has_kernels``: whether there are user kernels, which may implement ops of other libraries. ``decomposed``: the ops
    that were decomposed in tracing. Raises DecomposeMore or FixSizes if it must be called again with another graph.
    """
    _views.explain_memory(graph_module)
    inputs, outputs = _complex.make_real(graph_module)
    return _complex.wrap(_compile_real(graph_module, compile_whole, is_strict, note, has_kernels, decomposed), inputs, outputs)


def _compile_real(graph_module: fx.GraphModule, compile_whole: CompileWhole, is_strict: bool,
                  note: Callable[[list[_errors.UnsupportedOp]], None] | None, has_kernels: bool,
                  decomposed: Collection[Any]) -> Callable[[list[Any]], Sequence[Any]]:
    """The same for a graph whose arguments and results are real."""
    unsupported: dict[str, _errors.UnsupportedOp] = {}
    # Arguments that are written to have remained complex.
    is_inside = not any(map(_complex.is_complex, (*graph_module.graph.find_nodes(op="placeholder"),
                                                  *graph_module.graph.output_node().all_input_nodes)))
    foreign = _foreign_nodes(graph_module, has_kernels, is_inside)
    try:
        if not foreign:
            runner = compile_whole(graph_module)
            return runner.direct() if runner is not None else _eager(graph_module)
    except _errors.UnsupportedOpError as error:
        _decompose_or_note(graph_module, error, unsupported, decomposed)
        if is_strict:
            _sizes.fix_unproved(graph_module, error)
    except _errors.CompileError as error:
        _sizes.fix_unproved(graph_module, error)
        raise
    if is_strict:
        _sizes.fix(graph_module, _symbols_in_floats(graph_module, foreign), "; ".join(map(str, foreign.values())))
        ops = list(unsupported.values()) + list(foreign.values())
        raise _errors.UnsupportedOpError("unsupported ops: " + "; ".join(map(str, ops)), ops)
    # The boundaries of the parts are not known yet, so complex values could cross them.
    foreign |= _foreign_nodes(graph_module, has_kernels, takes_complex=False)
    # Ops with graphs inside cannot be in a part.
    foreign |= {node.name: _located(_errors.UnsupportedOp(f"{node.target}: is in a graph with unsupported ops",
                                                          node.name, "", 0), node)
                for node in graph_module.graph.nodes if _is_loop(node) and node.name not in unsupported}
    while True:
        parts, compiled = _split(graph_module, unsupported.keys() | foreign.keys()), {}
        try:
            for name, part in parts.named_children():
                if isinstance(part, fx.GraphModule) and name.startswith("fused_"):
                    # The results of eager ops between parts may have other strides than in the trace.
                    for argument in part.graph.find_nodes(op="placeholder"):
                        argument.meta[_graph.UNGUARDED] = True
                    compiled[name] = compile_whole(part)
            break
        except _errors.UnsupportedOpError as error:
            before = len(unsupported)
            _decompose_or_note(graph_module, error, unsupported, decomposed)
            if len(unsupported) == before:
                raise
        except _errors.CompileError as error:
            _sizes.fix_unproved(graph_module, error)
            raise
    _warn([*unsupported.values(), *foreign.values()], any(compiled.values()))
    if note is not None:
        note([*unsupported.values(), *foreign.values()])
    for name, runner in compiled.items():
        if runner is not None:
            setattr(parts, name, _Part(runner))
    return _eager(parts)


class _Part(torch.nn.Module):
    """Runs a compiled part in place of its graph."""

    def __init__(self, runner: GraphRunner) -> None:
        super().__init__()
        self.runner = runner

    def forward(self, *args: Any) -> Any:
        results = self.runner(list(args))
        return results[0] if len(results) == 1 else tuple(results)


def _eager(graph_module: fx.GraphModule) -> Callable[[list[Any]], Sequence[Any]]:
    def call(args: list[Any]) -> Sequence[Any]:
        return graph_module(*args)  # type: ignore[no-any-return]

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _decompose_or_note(graph_module: fx.GraphModule, error: _errors.UnsupportedOpError,
                       unsupported: dict[str, _errors.UnsupportedOp], decomposed: Collection[Any]) -> None:
    """Records the ops of the error by node, unless they can be decomposed: then raises DecomposeMore to trace again."""
    nodes = {node.name: node for node in graph_module.graph.nodes}
    found = {op.node: _located(op, nodes[op.node]) for op in error.ops if op.node in nodes}
    if not found:
        raise error
    known = _trace.decompositions()
    # Decomposing a costly op would not make it cheaper.
    if more := {nodes[name].target for name, op in found.items()
                if nodes[name].target in known and not op.is_costly} - set(decomposed):
        raise _trace.DecomposeMore(more)
    unsupported.update(found)


def _located(op: _errors.UnsupportedOp, node: fx.Node) -> _errors.UnsupportedOp:
    """The op with the user's module, and with the line of the user's code instead of one in PyTorch's modules."""
    file, line = _places.user_place_of(node)
    return dataclasses.replace(op, file=file, line=line, module=_modules.of_node(node))


def _values(value: Any) -> list[torch.Tensor]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return [v for v in values if isinstance(v, torch.Tensor)]


def _foreign_nodes(graph_module: fx.GraphModule, has_kernels: bool, takes_complex: bool) -> dict[str, _errors.UnsupportedOp]:
    """Nodes that no archive can express: with other dtypes, layouts or devices, or with graphs inside."""
    found = {}
    for node in graph_module.graph.nodes:
        reason = ""
        if node.op == "call_function":
            operands = [n for n in node.all_input_nodes]
            for tensor in _values(node.meta.get("val")) + [t for n in operands for t in _values(n.meta.get("val"))]:
                if _devices.of_type(tensor.device.type) is None:
                    reason = f"is on {tensor.device}"
                elif tensor.layout != torch.strided:
                    reason = f"has layout {tensor.layout}"
                elif tensor.dtype not in _dtypes and not (takes_complex and tensor.is_complex()):
                    reason = f"has dtype {str(tensor.dtype).removeprefix('torch.')}"
            # The importer supports assertions about conditions.
            is_assertion = node.target is torch.ops.aten._assert_scalar.default
            if any(_is_scalar(n) for n in operands) and not (_is_scalar(node) or _is_int(node) or is_assertion):
                reason = "has an argument that is a float or condition of sizes"
            if _is_loop(node):
                pass  # The importer reads its graph.
            elif isinstance(node.target, torch._ops.HigherOrderOperator):
                reason = "is a higher-order op" if node.target is not torch.ops.higher_order.with_effects else (
                    "has effects besides its results")
            elif not has_kernels and isinstance(node.target, torch._ops.OpOverload) and \
                    node.target.namespace not in ("aten", "prims", "_c10d_functional") and \
                    node.target._schema.name not in _OF_LIBRARIES:
                reason = "is an op of another library"
        if reason:
            op = node.args[1] if node.target is torch.ops.higher_order.with_effects else node.target
            found[node.name] = _located(_errors.UnsupportedOp(f"{op}: {reason}", node.name, "", 0), node)
    return found


def _is_loop(node: fx.Node) -> bool:
    """Whether the node runs a graph for each row of tensors."""
    return isinstance(node.target, torch._ops.HigherOrderOperator) and node.target.name() in ("scan", "associative_scan")


def _symbols_in_floats(graph_module: fx.GraphModule, names: Collection[str]) -> set[str]:
    """Symbols of the sizes that these nodes read as floats or conditions."""
    values = [n.meta["val"] for node in graph_module.graph.nodes if node.name in names
              for n in node.all_input_nodes if isinstance(n.meta.get("val"), (torch.SymFloat, torch.SymBool))]
    return {str(symbol) for value in values for symbol in value.node.expr.free_symbols}


def _is_scalar(node: fx.Node) -> bool:
    return isinstance(node.meta.get("val"), (torch.SymFloat, torch.SymBool, float, bool))


def _is_int(node: fx.Node) -> bool:
    return isinstance(node.meta.get("val"), (torch.SymInt, int))


def _is_of_write(node: fx.Node) -> bool:
    """Whether the node writes to an argument, or is a view of one that was written to."""
    return any(source.target is torch.ops.aten.copy_.default for source in _aliases.sources(node))


class _Support(OperatorSupportBase):
    def __init__(self, refused: set[str]) -> None:
        self.refused = refused

    def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
        if node.op != "call_function" or node.name in self.refused:
            return False
        # Writes, and views of their results, stay after all ops that read. Floats and conditions of sizes are computed in
        # Python.
        if (_is_of_write(node) or node.target is torch.ops.aten._assert_scalar.default
                or any(map(_is_scalar, (node, *node.all_input_nodes)))):
            return False
        return not (node.target is operator.getitem and node.all_input_nodes[0].name in self.refused)


def _split(graph_module: fx.GraphModule, refused: set[str]) -> fx.GraphModule:
    copy = fx.GraphModule(graph_module, _archive.copy_graph(graph_module.graph))
    partitioner = CapabilityBasedPartitioner(copy, _Support(refused), allows_single_node_partition=True)
    parts = partitioner.partition_and_fuse()
    for node in parts.graph.find_nodes(op="call_module"):
        _give_symbols(parts, node)
    parts.recompile()
    return parts


def _give_symbols(parts: fx.GraphModule, call: fx.Node) -> None:
    """Passes ints to a part whose sizes depend on them, if no extent of an argument is exactly that int."""
    part = parts.get_submodule(str(call.target))
    assert isinstance(part, fx.GraphModule)
    arguments = part.graph.find_nodes(op="placeholder")
    values = [node.meta.get("val") for node in arguments]
    numbers = [n for v in values for n in (v.shape if isinstance(v, torch.Tensor) else (v,)) if isinstance(n, torch.SymInt)]
    needed = {symbol for node in part.graph.nodes for expr in _expressions.of_value(node.meta.get("val"))
              for symbol in expr.free_symbols}
    for symbol in sorted(needed - {number.node.expr for number in numbers}, key=str):
        source = _views.symbol_node(parts, call, symbol)
        if source is None:
            continue
        with part.graph.inserting_after(arguments[-1]) if arguments else part.graph.inserting_before():
            arguments.append(part.graph.placeholder(f"symbol_{symbol}"))
        arguments[-1].meta["val"] = source.meta["val"]
        call.args = (*call.args, source)
    part.recompile()


def _warn(ops: Sequence[_errors.UnsupportedOp], is_compiled: bool) -> None:
    texts = "; ".join(sorted({str(op) for op in ops}))
    count = f"{len(ops)} op{'s' if len(ops) > 1 else ''} of this graph"
    warnings.warn(f"luminal does not support {count}, which PyTorch runs: {texts}" if is_compiled else
                  f"luminal does not support {count}, and compiles nothing of it: {texts}", _errors.LuminalWarning, stacklevel=2)
