# ===- _stored.py - Tensors that a model's modules hold ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A parameter may be replaced in the dictionary that holds it between any two calls. CPython gives a dictionary a new
version when it changes, and the library compares versions, so the tensors are listed again only after a change."""
from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import _capi, _objects

_getitem = operator.getitem
# Offset of a dictionary's version in CPython up to 3.13: after the object's head and the number of items.
_VERSION = object.__basicsize__ + ctypes.sizeof(ctypes.c_size_t)


def _version(table: dict[Any, Any]) -> int:
    return ctypes.c_uint64.from_address(id(table) + _VERSION).value


@functools.cache
def has_versions() -> bool:
    """Whether every kind of change gives a dictionary a new, unique version."""
    changes: list[Callable[[dict[str, Any]], Any]] = [
        lambda d: d.update(a=object()), lambda d: d.__setitem__("a", object()), lambda d: d.setdefault("b", object()),
        lambda d: d.pop("b"), lambda d: d.__setitem__("b", object()), lambda d: d.__delitem__("a"), lambda d: d.popitem(),
        lambda d: d.__ior__({"c": object()}), lambda d: d.clear(), lambda d: d.update({str(i): i for i in range(99)})]
    seen = []
    for _ in range(2):
        table: dict[str, Any] = {}
        for change in changes:
            change(table)
            seen.append(_version(table))
            if _version(table) != seen[-1]:
                return False
    return len(set(seen)) == len(seen)


class _List:
    """The tensors in the dictionaries at one time, as a luminal_stored_objects at ``address``."""

    __slots__ = ("tensors", "address", "_struct", "_versions")

    def __init__(self, tensors: list[Any], places: Any, versions: Any) -> None:
        self.tensors, self._versions = tensors, versions
        objects = _capi.Objects.from_address(id(tensors) + _objects.LIST)
        self._struct = _capi.StoredObjects(ctypes.sizeof(_capi.StoredObjects), objects, ctypes.addressof(places),
                                           ctypes.addressof(versions), len(versions))
        self.address = ctypes.addressof(self._struct)


class Stored:
    """The tensors at given keys of dictionaries."""

    def __init__(self, where: Sequence[tuple[dict[str, Any], str]]) -> None:
        self._holders, self._keys = [holder for holder, _ in where], [key for _, key in where]
        tables = list({id(holder): holder for holder in self._holders}.values())
        self._tables = tables if has_versions() and all(isinstance(table, dict) for table in tables) else []
        self._places = (ctypes.c_void_p * len(self._tables))(*[id(table) + _VERSION for table in self._tables])
        self._complex = [i for i, (holder, key) in enumerate(where) if torch.is_tensor(holder[key]) and holder[key].is_complex()]
        self.last = self.renew()
        self.is_seen = bool(self._tables) or not where
        """Whether the library can check that ``last`` is current; otherwise it must be renewed for each call."""

    def tensors(self) -> list[Any]:
        """The tensors that are in the dictionaries now; for complex ones, the real view that an artifact reads."""
        found = [*map(_getitem, self._holders, self._keys)]
        for position in self._complex:
            found[position] = torch.view_as_real(found[position].resolve_conj())
        return found

    def renew(self) -> _List:
        """Lists the tensors that are in the dictionaries now."""
        # Read the versions first, so that the next call sees a change that happens from here on.
        versions = (ctypes.c_uint64 * len(self._tables))(*map(_version, self._tables))
        self.last = _List(self.tensors(), self._places, versions)
        return self.last
