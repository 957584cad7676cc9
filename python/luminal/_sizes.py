# ===- _sizes.py - Programs that need a size to be known --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces symbolic sizes by their values in this call, if a program cannot be compiled for all sizes.

Dynamo then guards these sizes, and recompiles for others.
"""
from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

import torch
from torch import fx

from . import _errors

# Texts of the compiler's errors about an extent or index that is not proved for all sizes.
_UNPROVED = re.compile(r"\bprov(e|ably)\b")
_SYMBOL = re.compile(r"\bs\d+\b")
# The beginning of errors about options with invalid sizes, which no size of a call can fix.
_OF_OPTION = re.compile(r"(^|: )(range '|--find-variants: )")


class FixSizes(Exception):
    """Raised by an inference compiler to request another trace with these sizes fixed."""

    def __init__(self, sizes: dict[str, torch.SymInt], reason: str) -> None:
        super().__init__()
        self.sizes, self.reason = sizes, reason

    def fix(self) -> None:
        values = ", ".join(f"{name} = {int(size)}" for name, size in self.sizes.items())  # int() adds the guards
        warnings.warn(f"luminal compiles for {values} only, and again for other sizes: {self.reason}",
                      _errors.LuminalWarning, stacklevel=2)


def _sizes(graph_module: fx.GraphModule) -> dict[str, torch.SymInt]:
    """The symbolic sizes of the arguments of a graph, by symbol."""
    found: dict[str, torch.SymInt] = {}
    for node in graph_module.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        for size in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                found.setdefault(str(size.node.expr), size)
    return found


def fix(graph_module: fx.GraphModule, symbols: Iterable[str], reason: str) -> None:
    """Raises FixSizes if arguments have sizes with these symbols."""
    sizes = _sizes(graph_module)
    if known := {name: sizes[name] for name in sorted(set(symbols)) if name in sizes}:
        raise FixSizes(known, reason)


def fix_unproved(graph_module: fx.GraphModule, error: _errors.CompileError) -> None:
    """Raises FixSizes if the error may be caused by unknown sizes: first those that it names, otherwise all sizes of the
    graph."""
    text = str(error)
    if _OF_OPTION.search(text):
        return
    fix(graph_module, _SYMBOL.findall(text), text)
    if _UNPROVED.search(text):
        fix(graph_module, _sizes(graph_module), text)


def hold_checks(graph_module: fx.GraphModule) -> None:
    """Removes assertions about sizes that hold, since guards express them: a call that violates one is traced again, and
    fails as in eager mode."""
    for node in graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten._assert_scalar.default):
        condition = node.args[0].meta.get("val") if isinstance(node.args[0], fx.Node) else node.args[0]
        is_known = not isinstance(condition, torch.SymBool) or condition.node.hint is not None
        if is_known and condition:
            graph_module.graph.erase_node(node)
    graph_module.graph.eliminate_dead_code()


def fold_known(graph_module: fx.GraphModule) -> None:
    """Replaces sizes, and values computed from sizes, by numbers where guards determine them."""
    for node in graph_module.graph.nodes:
        if node.op != "call_function":
            continue
        value = node.meta.get("val")
        if isinstance(value, (torch.SymInt, torch.SymFloat)) and value.node.expr.is_number:
            node.replace_all_uses_with(int(value) if isinstance(value, torch.SymInt) else float(value))
    graph_module.graph.eliminate_dead_code()
