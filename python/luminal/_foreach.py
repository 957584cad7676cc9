# ===- _foreach.py - Ops of lists of tensors, tensor by tensor -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of ``torch._foreach_*``, which optimizers and gradient clipping use, into the op of each tensor."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

aten = torch.ops.aten
_PREFIX = "aten::_foreach_"
# Where the op of a tensor has another name, or an overload that takes no number.
_NAMES = {("norm", "Scalar"): "linalg_vector_norm", ("maximum", "Scalar"): "clamp_min", ("maximum", "ScalarList"): "clamp_min",
          ("minimum", "Scalar"): "clamp_max", ("minimum", "ScalarList"): "clamp_max", ("max", ""): "amax"}
# Ops whose last operand is a keyword of the op of a tensor.
_VALUED = ("addcdiv", "addcmul")


def _tensor_by_tensor(name: str, op: Any, lists: list[bool], lists_of_keywords: dict[str, bool], *args: Any, **kwargs: Any) -> list[Any]:
    count = next(len(arg) for arg, is_list in zip(args, lists) if is_list)
    results = []
    for i in range(count):
        own = [arg[i] if is_list else arg for arg, is_list in zip(args, lists)]
        keywords = {key: value[i] if lists_of_keywords.get(key) else value for key, value in kwargs.items()}
        if name in _VALUED and len(own) > 3:
            keywords["value"] = own.pop()
        results.append(op(*own, **keywords))
    return results


def _rule(schema: Any) -> Callable[..., Any] | None:
    """The decomposition of the op of this schema; None if there is no op of a tensor."""
    name, overload = schema.name.removeprefix(_PREFIX), schema.overload_name
    op = getattr(aten, _NAMES.get((name, overload), name), None)
    # A tensor of numbers, whose element i belongs to tensor i, is no number while tracing.
    if op is None or (name in _VALUED and overload == "Tensor"):
        return None
    lists = [str(arg.type).startswith("List[") for arg in schema.arguments]
    keywords = {arg.name: is_list for arg, is_list in zip(schema.arguments, lists)}
    return functools.partial(_tensor_by_tensor, name, op, lists, keywords)


def decompositions() -> dict[Any, Callable[..., Any]]:
    table = {}
    for schema in torch._C._jit_get_all_schemas():
        packet = schema.name.removeprefix("aten::")
        if not schema.name.startswith(_PREFIX) or packet.endswith("_") or "out" in schema.overload_name:
            continue
        if rule := _rule(schema):
            table[getattr(getattr(aten, packet), schema.overload_name or "default")] = rule
    return table
