# ===- _dims.py - The user's names of dynamic dims -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``torch.export`` numbers its symbols (``s77``). ``torch.export.Dim`` gives them names, which then appear in programs,
reports, errors and the option ``variants``."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch.export import Dim, ExportedProgram
from torch.export.dynamic_shapes import _combine_args, _tree_map_with_path
from torch.export.graph_signature import InputKind

# Excludes names that torch, this package or index maps generate, and names with a meaning in expressions.
_NAME = re.compile(r"(?![dsuz]\d+$|(?:mod|floordiv|ceildiv|min|max|in|step)$)[A-Za-z_]\w*", re.ASCII)


def find(exported: ExportedProgram, model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any],
         dynamic_shapes: Any) -> dict[str, str]:
    """The user's name for each symbol of ``exported`` that has a usable one."""
    if not dynamic_shapes:
        return {}
    leaves: list[dict[int, str]] = []

    def visit(path: Any, leaf: Any, dims: Any) -> None:
        given = enumerate(dims) if isinstance(dims, (tuple, list)) else dims.items() if isinstance(dims, dict) else ()
        leaves.append({i: dim.__name__ for i, dim in given if isinstance(dim, Dim)})

    inputs: Any = _combine_args(model, args, dict(kwargs))
    if isinstance(dynamic_shapes, (tuple, list)):
        inputs = type(dynamic_shapes)(inputs.values())
    _tree_map_with_path(visit, inputs, dynamic_shapes)
    users = [spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT]
    values = {node.name: node.meta.get("val") for node in exported.graph.find_nodes(op="placeholder")}
    found: dict[str, str] = {}
    for name, dims in zip(users, leaves):
        shape = getattr(values[name], "shape", ())
        for dim, given in dims.items():
            size = shape[dim] if dim < len(shape) else None
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol and _NAME.fullmatch(given):
                found.setdefault(str(size.node.expr), given)
    return found
