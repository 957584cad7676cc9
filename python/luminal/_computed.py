# ===- _computed.py - What the caller computes of sizes, and checks ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An archive can only express some functions of sizes. The caller computes the others and passes them as integers beside
the tensors; guards that contain them are checked before the call."""
from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch import fx
from torch.utils import _pytree as pytree

from . import _expressions

aten = torch.ops.aten


def name_sizes(graph: fx.Graph) -> dict[Any, Any]:
    """Symbols for the expressions that no archive can express, keyed by expression."""
    found: dict[Any, Any] = {}
    for node in graph.nodes:
        for expr in _expressions.of_value(node.meta.get("val")):
            for part in _expressions.find_unwritable(expr):
                found.setdefault(part, sympy.Symbol(f"z{len(found)}", integer=True))
    return found


def make_int(shape_env: Any, expr: Any) -> torch.SymInt:
    symbols, function = _expressions.compiled(expr)
    hints = map(getattr(shape_env, "guarding_hint_or_throw", None) or shape_env.size_hint, symbols)
    return shape_env.create_symintnode(expr, hint=int(function(*hints)))  # type: ignore[no-any-return]


def find_symbols(graph: fx.Graph) -> dict[Any, tuple[str, int | None]]:
    """For each symbol, the argument that determines it, with the dim, or None if the argument is an int."""
    found: dict[Any, tuple[str, int | None]] = {}
    for node in graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        sizes = enumerate(value.shape) if isinstance(value, torch.Tensor) else [(None, value)]
        for dim, size in sizes:
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                found.setdefault(size.node.expr, (node.name, dim))
    return found


def add_ints(graph: fx.Graph, names: dict[Any, Any], ranges: dict[Any, Any]) -> list[str]:
    """Adds arguments for the symbols in ``names``, and their ranges to ``ranges``; returns the arguments' names."""
    values = (v for node in graph.nodes for v in pytree.tree_leaves(node.meta.get("val")))
    numbers = (n for v in values for n in (v.shape if isinstance(v, torch.Tensor) else (v,)) if isinstance(n, torch.SymInt))
    shape_env = next(numbers).node.shape_env
    last, added = graph.find_nodes(op="placeholder")[-1], []
    for expr, symbol in names.items():
        with graph.inserting_after(last):
            last = graph.placeholder(f"size_{symbol}")
        last.meta["val"] = make_int(shape_env, expr)
        ranges[symbol] = shape_env.bound_sympy(expr)
        added.append(last.name)
    forget_arithmetic(graph)
    return added


def compute(names: dict[Any, Any], symbols: dict[Any, tuple[str, int | None]], inputs: dict[str, Any]) -> dict[str, int]:
    """The values of the added arguments in a call."""
    def value_of(symbol: Any) -> Any:
        name, dim = symbols[symbol]
        return inputs[name] if dim is None else inputs[name].shape[dim]

    def evaluate(expr: Any) -> int:
        needed, function = _expressions.compiled(expr)
        return function(*map(value_of, needed))  # type: ignore[no-any-return]

    return {f"size_{symbol}": evaluate(expr) for expr, symbol in names.items()}


def bound(bounds: Any) -> Any:
    """Adds an upper bound to bounds that are not negative. The reader of archives interprets an unbounded range, as
    torch.export writes it, as an integer of which nothing is known."""
    return bounds if bounds.lower < 0 else type(bounds)(bounds.lower, min(bounds.upper, sympy.Integer(2 ** 63 - 1)))


def forget_arithmetic(graph: fx.Graph) -> None:
    """Drops the arithmetic on ints, which an archive need not or cannot express: it has the resulting expressions of
    sizes."""
    source = next((node for node in graph.find_nodes(op="placeholder")), None)
    for node in graph.nodes:
        if (node.op == "call_function" and isinstance(node.meta.get("val"), torch.SymInt)
                and not isinstance(node.target, torch._ops.OpOverload)):
            node.target, node.args, node.kwargs = aten.sym_size.int, (source, 0), {}
    graph.eliminate_dead_code()


_SOURCE = re.compile(r"""\bL((?:\['[^']*'\]|\[\d+\]|\.[a-zA-Z_]\w*(?![\w(]))+)""")


_KNOWN = frozenset(("and or not True False size stride storage_offset torch sym_float sym_int sym_min sym_max math trunc floor "
                    "ceil int float min max abs round e").split())
_UNKNOWN = re.compile(r"\btorch\.|[&|^~]|<<|>>|\b(?:round|abs)\(")


def is_for_caller(guard: str) -> bool:
    """Whether the caller must evaluate a guard: the reader of archives does not support one of its functions
    (lib/Target/PT2/Archive/Guard.cpp), and it consists of arithmetic that Python can evaluate."""
    return _UNKNOWN.search(guard) is not None and set(re.findall(r"[A-Za-z_]\w*", _SOURCE.sub("", guard))) <= _KNOWN


def compile_guards(guards: Iterable[str], users: list[str]) -> list[tuple[str, Callable[[dict[str, Any]], bool]]]:
    """The texts of guards, with functions that evaluate them on a call's inputs, which are named as in the graph.
    ``users``: the names of all arguments in order, as a strict trace numbers them."""
    def source(match: re.Match[str]) -> str:
        name = "_".join(re.sub(r"\W", "_", part).lower() for part in re.findall(r"[\w.]+", match[1].replace(".", " ")))
        if (flat := re.fullmatch(r"flat_args_(\d+)", name)) and int(flat[1]) < len(users):
            name = users[int(flat[1])]
        return f"inputs[{name!r}]"

    return [(guard, eval(f"lambda inputs: {_SOURCE.sub(source, guard)}", {"torch": torch, "math": math}))
            for guard in guards]
