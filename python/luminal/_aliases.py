# ===- _aliases.py - Whose memory a value of a graph is, and how it lies there ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the nodes of a functional graph say of memory: sizes, strides, and which ops only look at it differently."""
from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch import fx


def hint_of(value: Any) -> Any:
    """An extent or stride as it was when the graph was traced."""
    return value.node.hint if isinstance(value, torch.SymInt) else value


def expr_of(value: Any) -> Any:
    return value.node.expr if isinstance(value, torch.SymInt) else sympy.Integer(value)


def is_dense(tensor: torch.Tensor, order: Sequence[int]) -> bool:
    """Whether the dims in this order, the innermost last, fill memory: for all sizes that the graph is for."""
    expected = sympy.Integer(1)
    for dim in reversed(order):
        if hint_of(tensor.shape[dim]) != 1 and sympy.expand(expr_of(tensor.stride(dim)) - expected) != 0:
            return False
        expected = expected * expr_of(tensor.shape[dim])
    return True


def is_row_major(tensor: torch.Tensor) -> bool:
    return any(hint_of(extent) == 0 for extent in tensor.shape) or is_dense(tensor, range(tensor.dim()))


def stride_order(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """The dims by falling stride, where these fill memory densely in an order that is not row-major."""
    shape, stride = tensor.shape, tensor.stride()
    if any(hint_of(value) is None for value in (*shape, *stride)) or any(hint_of(extent) == 0 for extent in shape):
        return None
    order = tuple(sorted(range(tensor.dim()), key=lambda d: (-hint_of(stride[d]), -hint_of(shape[d]), d)))
    dense = [d for d in order if hint_of(shape[d]) != 1]
    return order if dense != sorted(dense) and is_dense(tensor, order) else None


def base_of(node: fx.Node) -> fx.Node:
    """The node whose memory this one's is, by the schemas of the ops between."""
    while node.op == "call_function":
        if node.target is operator.getitem:
            source = node.all_input_nodes[0]
            if not _is_view(source):
                return node
            node = source
        if not _is_view(node):
            return node
        node = node.all_input_nodes[0]
    return node


# Their results share memory with the operand for some strides only.
_MAYBE_VIEWS = ("aten::reshape", "aten::contiguous", "aten::to", "aten::flatten")


def _is_view(node: fx.Node) -> bool:
    if not isinstance(node.target, torch._ops.OpOverload) or not node.target._schema.arguments:
        return False
    alias = node.target._schema.arguments[0].alias_info
    is_view = alias is not None and not alias.is_write and node.target._schema.name not in _MAYBE_VIEWS
    return is_view and bool(node.all_input_nodes)


def views_between(base: fx.Node, result: fx.Node) -> Iterator[fx.Node]:
    """The ops that make ``result`` of ``base``, the last one first."""
    while result is not base:
        yield result
        result = result.all_input_nodes[0]


def find_shared(results: Sequence[fx.Node]) -> dict[fx.Node, fx.Node]:
    """Outputs that share memory with other outputs, and the node that made that memory."""
    bases = {result: base_of(result) for result in results}
    counts: dict[fx.Node, int] = {}
    for result in bases:
        counts[bases[result]] = counts.get(bases[result], 0) + 1
    return {result: base for result, base in bases.items()
            if counts[base] > 1 and base.op == "call_function" and isinstance(base.meta.get("val"), torch.Tensor)
            and (is_row_major(base.meta["val"]) or stride_order(base.meta["val"]) is not None)}
