# ===- _aliases.py - Whose memory a value of a graph is, and how it lies there ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts about the memory of the nodes of a functional graph: sizes, strides, and ops that are only views."""
from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch import fx

from . import _expressions


def hint_of(value: Any) -> Any:
    """The value of an extent or stride in the call for which the graph was traced."""
    return value.node.hint if isinstance(value, torch.SymInt) else value


def expr_of(value: Any) -> Any:
    return value.node.expr if isinstance(value, torch.SymInt) else sympy.Integer(value)


def is_dense(tensor: torch.Tensor, order: Sequence[int]) -> bool:
    """Whether the dims in this order, the innermost last, fill memory without gaps, for all sizes for which the graph is
    valid."""
    expected = sympy.Integer(1)
    for dim in reversed(order):
        stride = _expressions.drop_max(expr_of(tensor.stride(dim)))
        if hint_of(tensor.shape[dim]) != 1 and sympy.expand(stride - expected) != 0:
            return False
        expected = expected * _expressions.drop_max(expr_of(tensor.shape[dim]))
    return True


def is_row_major(tensor: torch.Tensor) -> bool:
    return any(hint_of(extent) == 0 for extent in tensor.shape) or is_dense(tensor, range(tensor.dim()))


def stride_order(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """The dims by descending stride, if they fill memory densely in an order other than row-major; otherwise None."""
    shape, stride = tensor.shape, tensor.stride()
    if any(hint_of(value) is None for value in (*shape, *stride)) or any(hint_of(extent) == 0 for extent in shape):
        return None
    order = tuple(sorted(range(tensor.dim()), key=lambda d: (-hint_of(stride[d]), -hint_of(shape[d]), d)))
    dense = [d for d in order if hint_of(shape[d]) != 1]
    return order if dense != sorted(dense) and is_dense(tensor, order) else None


def is_injective(tensor: torch.Tensor) -> bool:
    """Whether all elements have different addresses, judging by the strides of the traced call."""
    dims = [(hint_of(step), hint_of(extent)) for step, extent in zip(tensor.stride(), tensor.shape)]
    if any(None in dim for dim in dims):
        return False
    reach = 0
    for step, extent in sorted(dim for dim in dims if dim[1] != 1):
        if step <= reach:
            return False
        reach += step * (extent - 1)
    return True


def sources(node: fx.Node) -> Iterator[fx.Node]:
    """Yields the node, then the nodes whose memory it shares according to the ops' schemas. The last one allocated the
    memory."""
    yield node
    while node.op == "call_function":
        if node.target is operator.getitem:
            if not _is_view(node.all_input_nodes[0]):
                return
        elif not _is_view(node):
            return
        node = node.all_input_nodes[0]
        yield node


def base_of(node: fx.Node) -> fx.Node:
    """The node that allocated this node's memory."""
    *_, base = sources(node)
    return base


# Ops whose results share memory with the operand only for some strides.
_MAYBE_VIEWS = ("aten::reshape", "aten::contiguous", "aten::to", "aten::flatten")


def _is_view(node: fx.Node) -> bool:
    if not isinstance(node.target, torch._ops.OpOverload) or not node.target._schema.arguments:
        return False
    alias = node.target._schema.arguments[0].alias_info
    is_view = alias is not None and not alias.is_write and node.target._schema.name not in _MAYBE_VIEWS
    return is_view and bool(node.all_input_nodes)


def written_argument(node: fx.Node) -> fx.Node | None:
    """The argument of the graph whose tensor this node is, following ops that write in place and return their operand; or
    None."""
    while node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and node.all_input_nodes:
        schema = node.target._schema
        first, result = schema.arguments[0].alias_info, schema.returns[0].alias_info if schema.returns else None
        if first is None or result is None or not (first.is_write and result.is_write) or not isinstance(node.args[0], fx.Node):
            return None
        node = node.args[0]
    return node if node.op == "placeholder" else None


def views_between(base: fx.Node, result: fx.Node) -> Iterator[fx.Node]:
    """The ops between ``base`` and ``result``, the last one first."""
    while result is not base:
        yield result
        result = result.all_input_nodes[0]


def find_shared(results: Sequence[fx.Node]) -> dict[fx.Node, fx.Node]:
    """The outputs that share memory with other outputs, each with the node that allocated this memory."""
    bases = {result: base_of(result) for result in results}
    counts: dict[fx.Node, int] = {}
    for result in bases:
        counts[bases[result]] = counts.get(bases[result], 0) + 1
    return {result: base for result, base in bases.items()
            if counts[base] > 1 and base.op == "call_function" and isinstance(base.meta.get("val"), torch.Tensor)
            and (is_packed(base.meta["val"]) or is_injective(base.meta["val"]))}


def is_packed(tensor: torch.Tensor) -> bool:
    """Whether the tensor fills its memory without gaps, in some order of its dims."""
    return is_row_major(tensor) or stride_order(tensor) is not None


def find_kept(result: fx.Node) -> fx.Node | None:
    """For an output that does not fill its memory: the node that allocated the memory, if keeping it is cheap or
    necessary for the output to have its strides."""
    value, base = result.meta["val"], base_of(result)
    memory = base.meta.get("val")
    if is_packed(value) or base is result or base.op != "call_function" or not isinstance(memory, torch.Tensor):
        return None
    hints = [[hint_of(extent) for extent in tensor.shape] for tensor in (value, memory)]
    if memory.dtype != value.dtype or not is_packed(memory) or None in hints[0] + hints[1]:
        return None
    return base if 2 * math.prod(hints[0]) >= math.prod(hints[1]) or not is_injective(value) else None
