# ===- _expressions.py - Sizes as expressions of symbols --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions of sizes: which of them an archive can express, and their values in a call."""
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch import fx
from torch.utils import _pytree as pytree
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

# The functions of sizes that the reader of archives supports (lib/Target/PT2/Archive/SymExpr.cpp).
_OF_INTS = frozenset(("Add", "Mul", "Max", "Min", "FloorDiv", "CeilDiv", "CleanDiv", "Mod", "PythonMod", "ModularIndexing"))
_KNOWN = _OF_INTS | {"CeilToInt", "ceiling", "FloorToInt", "TruncToInt", "floor", "IntTrueDiv", "Pow", "PowByNatural"}
_MAX_POWER = 8


def _call(function: Callable[..., Any]) -> Any:
    """A method that calls a function or, if an argument is a proxy, adds a node that calls it."""
    def method(*args: Any) -> Any:
        proxy = next((arg for arg in args if isinstance(arg, fx.Proxy)), None)
        return function(*args) if proxy is None else proxy.tracer.create_proxy("call_function", function, args, {})

    return staticmethod(method)


def _call_to_int(function: Callable[..., Any]) -> Any:
    call = _call(function).__func__
    return staticmethod(lambda value, dtype: call(value))


class _Python(PythonReferenceAnalysis):  # type: ignore[misc]
    """Evaluates functions in expressions as Python does, on numbers or on nodes."""

    trunc_to_int, floor_to_int, ceil_to_int, round_to_int = map(_call_to_int, (math.trunc, math.floor, math.ceil, round))
    int_truediv = truediv = _call(operator.truediv)
    to_dtype = _call_to_int(torch.sym_float)
    not_ = _call(torch.sym_not)
    minimum, maximum = _call(torch.sym_min), _call(torch.sym_max)
    bitwise_and, bitwise_or, bitwise_xor = _call(operator.and_), _call(operator.or_), _call(operator.xor)
    and_, or_ = bitwise_and, bitwise_or
    abs, eq, ne = _call(operator.abs), _call(operator.eq), _call(operator.ne)
    log2, sqrt = _call(torch._sym_log2), _call(torch._sym_sqrt)


def add_nodes(graph: fx.Graph, expr: Any, values: dict[Any, fx.Node]) -> Any:
    """Adds nodes that compute an expression as Python does; returns a node or a number. ``values``: the nodes of its
    symbols."""
    tracer = fx.proxy.GraphAppendingTracer(graph)
    result = sympy_interp(_Python, {s: fx.Proxy(node, tracer) for s, node in values.items()}, expr)
    return result.node if isinstance(result, fx.Proxy) else result


@functools.lru_cache(4096)
def compiled(expr: Any) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """The symbols of an expression, and a function from their values to the expression's value."""
    symbols = tuple(sorted(expr.free_symbols, key=str))
    if expr.is_Symbol:
        return symbols, lambda value: value
    graph = fx.Graph()
    nodes = {symbol: graph.placeholder(f"a{i}") for i, symbol in enumerate(symbols)}
    graph.output(add_nodes(graph, expr, nodes))
    return symbols, fx.GraphModule({}, graph).forward


def is_writable(expr: Any) -> bool:
    """Whether an archive can express it."""
    if expr.is_Symbol or expr.is_Rational:
        return True
    name = type(expr).__name__
    if name not in _KNOWN or not all(map(is_writable, expr.args)):
        return False
    if name in ("Pow", "PowByNatural"):
        return bool(expr.args[1].is_Integer and -1 <= expr.args[1] <= _MAX_POWER)
    return True


def find_unwritable(expr: Any) -> Iterator[Any]:
    """The parts of an integer expression that must be computed elsewhere so that an archive can express the rest."""
    if is_writable(expr):
        return
    if type(expr).__name__ in _OF_INTS and all(arg.is_integer for arg in expr.args):
        for arg in expr.args:
            yield from find_unwritable(arg)
    else:
        yield expr


def of_value(value: Any) -> Iterator[Any]:
    """The expressions in the value of a node: extents, strides and offsets of tensors, and ints."""
    for leaf in pytree.tree_leaves(value):
        numbers = (leaf,)
        if isinstance(leaf, torch.Tensor):
            is_strided = leaf.layout == torch.strided
            numbers = (*leaf.shape, *(leaf.stride() if is_strided else ()), leaf.storage_offset() if is_strided else 0)
        for number in numbers:
            if isinstance(number, torch.SymInt):
                yield number.node.expr


def replace(expr: Any, names: dict[Any, Any]) -> Any:
    """Replaces parts of an expression by symbols, the largest parts first."""
    if expr in names:
        return names[expr]
    return expr.func(*(replace(arg, names) for arg in expr.args)) if expr.args else expr


def drop_max(expr: Any) -> Any:
    """Removes from a stride the max(1, extent) that PyTorch adds: for an extent of 0, strides have no meaning."""
    if not expr.args:
        return expr
    args = [drop_max(arg) for arg in expr.args]
    if type(expr).__name__ == "Max" and len(args) == 2 and sympy.Integer(1) in args:
        return args[0] if args[1] == 1 else args[1]
    return expr.func(*args)
