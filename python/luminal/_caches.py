# ===- _caches.py - Caches of transformers as arguments and results ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers the key and value caches of transformers models (``DynamicCache``, ``StaticCache``, ``EncoderDecoderCache``
and their subclasses) as pytree containers of their tensors, layer by layer, because torch.export takes tensors only in
containers it knows. Everything else in such an object must be the same in every call."""
from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree


@dataclasses.dataclass(frozen=True)
class _Slot:
    """Stands for a tensor, by its number."""

    index: int


@dataclasses.dataclass(frozen=True)
class _Object:
    """A cache or one of its layers, without its tensors."""

    kind: type
    attributes: tuple[tuple[str, Any], ...]


@dataclasses.dataclass(frozen=True)
class _Container:
    kind: type
    items: tuple[Any, ...]


def _kinds() -> tuple[type, ...]:
    """The classes of caches and of their layers that have been imported."""
    module = sys.modules.get("transformers.cache_utils")
    names = ("Cache", "CacheLayerMixin")
    return tuple(getattr(module, name) for name in names if isinstance(getattr(module, name, None), type))


def _take(value: Any, kinds: tuple[type, ...], tensors: list[torch.Tensor]) -> Any:
    """Moves the tensors of a value to ``tensors``; returns the rest."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return _Slot(len(tensors) - 1)
    if isinstance(value, kinds):
        return _Object(type(value), tuple((name, _take(item, kinds, tensors)) for name, item in vars(value).items()))
    if type(value) in (list, tuple):
        return _Container(type(value), tuple(_take(item, kinds, tensors) for item in value))
    if type(value) is dict:
        return _Container(dict, tuple((key, _take(item, kinds, tensors)) for key, item in value.items()))
    return value


def _give(rest: Any, tensors: list[Any]) -> Any:
    """Rebuilds the value with other tensors."""
    if isinstance(rest, _Slot):
        return tensors[rest.index]
    if isinstance(rest, _Object):
        made = rest.kind.__new__(rest.kind)
        made.__dict__.update({name: _give(item, tensors) for name, item in rest.attributes})
        return made
    if isinstance(rest, _Container):
        if rest.kind is dict:
            return {key: _give(item, tensors) for key, item in rest.items}
        return rest.kind([_give(item, tensors) for item in rest.items])
    return rest


def _flatten(cache: Any) -> tuple[list[Any], Any]:
    tensors: list[Any] = []
    return tensors, _take(cache, _kinds(), tensors)


def _flatten_with_keys(cache: Any) -> tuple[list[tuple[Any, Any]], Any]:
    tensors, rest = _flatten(cache)
    return [(pytree.SequenceKey(i), tensor) for i, tensor in enumerate(tensors)], rest


def _unflatten(tensors: Any, rest: Any) -> Any:
    return _give(rest, list(tensors))


def _all_kinds(kind: type) -> Iterator[type]:
    yield kind
    for derived in kind.__subclasses__():
        yield from _all_kinds(derived)


def register() -> None:
    """Registers the cache classes imported so far, except for those that are registered already."""
    for base in _kinds()[:1]:
        for kind in _all_kinds(base):
            if kind not in pytree.SUPPORTED_NODES:
                pytree.register_pytree_node(kind, _flatten, _unflatten, serialized_type_name=f"{kind.__module__}.{kind.__qualname__}",
                                            flatten_with_keys_fn=_flatten_with_keys)
