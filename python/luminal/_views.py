# ===- _views.py - What a graph leaves to the reader about memory -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes shared memory explicit in the graph. AOTAutograd's functional graph leaves it to the strides of values, but
programs and parts of programs only have values."""
from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch._functorch._aot_autograd.schemas import OutputType

from . import _aliases, _expressions

aten = torch.ops.aten


def explain_memory(graph_module: fx.GraphModule) -> None:
    """Outputs that are views of a value written to an argument become views of the argument. Views by strides of other
    views become views of the base."""
    _view_arguments(graph_module)
    _rebase(graph_module)
    graph_module.graph.eliminate_dead_code()
    graph_module.recompile()


def _aliases_of_inputs(count: int) -> list[bool]:
    """For each of the ``count`` outputs of the graph, whether it is a view of an input according to AOTAutograd."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if metadata is None:
        return [False] * count
    views = [info.output_type in (OutputType.alias_of_input, OutputType.is_input) for info in metadata.output_info]
    found = [False] * metadata.num_mutated_inp_runtime_indices + views
    return found + [False] * (count - len(found))


def _view_arguments(graph_module: fx.GraphModule) -> None:
    graph = graph_module.graph
    output = graph.output_node()
    results = list(output.args[0]) if isinstance(output.args[0], (list, tuple)) else [output.args[0]]
    writes = {node.args[1]: node for node in graph.find_nodes(op="call_function", target=aten.copy_.default)
              if node.args[0].op == "placeholder"}
    for index, is_view in enumerate(_aliases_of_inputs(len(results))):
        if not is_view or not isinstance(results[index], fx.Node):
            continue
        ops = []
        for node in _aliases.sources(results[index]):
            if node in writes:
                results[index] = _replay(graph, writes[node], ops, output)
                break
            ops.append(node)
    output.args = (tuple(results),)


def _replay(graph: fx.Graph, base: fx.Node, ops: list[fx.Node], before: fx.Node) -> fx.Node:
    """Applies the same views, listed from last to first, to another node."""
    with graph.inserting_before(before):
        for op in reversed(ops):
            copy = graph.call_function(op.target, (base, *op.args[1:]), op.kwargs)  # type: ignore[arg-type]
            copy.meta = dict(op.meta)
            base = copy
    return base


def _rebase(graph_module: fx.GraphModule) -> None:
    graph = graph_module.graph
    for node in graph.find_nodes(op="call_function", target=aten.as_strided.default):
        operand = node.args[0]
        base = _aliases.base_of(operand)
        value, memory = operand.meta["val"], base.meta["val"]
        if base.op != "call_function" or not isinstance(memory, torch.Tensor) or _aliases.expr_of(memory.storage_offset()) != 0:
            continue
        order = None if _aliases.is_row_major(memory) else _aliases.stride_order(memory)
        if base is operand and order is None:
            continue
        with graph.inserting_before(node):
            offset = node.args[3] if len(node.args) > 3 else node.kwargs.get("storage_offset")
            if offset is None:
                offset = _number(graph_module, node, value.storage_offset())
            if order is not None:
                base = graph.call_function(aten.permute.default, (base, list(order)))
                base.meta = {**node.meta, "val": memory.permute(order)}
        node.args, node.kwargs = (base, node.args[1], node.args[2], offset), {}


def _number(graph_module: fx.GraphModule, before: fx.Node, number: Any) -> Any:
    """Turns a number of the caller, which may be symbolic, into an argument that is computed from the graph's arguments.
    """
    if not isinstance(number, torch.SymInt):
        return number
    graph, expr = graph_module.graph, number.node.expr
    values = {symbol: symbol_node(graph_module, before, symbol) for symbol in expr.free_symbols}
    result = _expressions.add_nodes(graph, expr, values)
    fill_values(graph)
    return result


def symbol_node(graph_module: fx.GraphModule, before: fx.Node, symbol: Any) -> fx.Node | None:
    """A node with the value of a symbol, which may be inserted before ``before``; None if there is none."""
    graph = graph_module.graph
    for node in graph.nodes:
        if node is before:
            return None
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt) and value.node.expr == symbol:
            return node
        if isinstance(value, torch.Tensor):
            for dim, extent in enumerate(value.shape):
                if isinstance(extent, torch.SymInt) and extent.node.expr == symbol:
                    with graph.inserting_before(before):
                        size = graph.call_function(aten.sym_size.int, (node, dim))
                    size.meta["val"] = extent
                    return size
    return None


def fill_values(graph: fx.Graph) -> None:
    """Sets the missing values of nodes that compute numbers."""
    for node in graph.nodes:
        if node.op == "call_function" and "val" not in node.meta and not isinstance(node.target, torch._ops.OpOverload):
            node.meta["val"] = node.target(*fx.map_arg(node.args, lambda n: n.meta["val"]))
