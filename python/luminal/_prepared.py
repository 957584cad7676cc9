# ===- _prepared.py - When what is computed from weights is computed again ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps the values that an artifact precomputed from weights while the weights are the same tensors with the same values.

A change of a weight is detected by its address and by the version that PyTorch increments at every write that it sees.
"""
from __future__ import annotations

import operator
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import _errors, _objects
from ._artifact import Tensor, alive

_invalidated = 0
_data_ptr, _is_inference = torch.Tensor.data_ptr, torch.Tensor.is_inference
_version_of = operator.attrgetter("_version")


def invalidate(model: torch.nn.Module | torch.Tensor | Callable[..., Any]) -> None:
    """Reports a write to weights of ``model`` that PyTorch does not see, such as ``p.data.add_(1)`` or a write by numpy.

    The next call recomputes everything that is precomputed from weights, also for other models. For CUDA graphs into
    which calls were captured, this happens at once, so none of them may be running.
    """
    global _invalidated
    if not isinstance(model, torch.Tensor) and not callable(model):
        raise _errors.ArgumentError(f"model is a {type(model).__name__}: expected a module or a tensor")
    _invalidated += 1
    for watched in list(_watches):
        watched.forget()
    for artifact in alive():
        artifact.refresh()


def synchronize() -> None:
    """Waits for all calls on GPUs, and raises their errors and those of replays of CUDA graphs into which they were
    captured: an index out of range, or a failed assertion."""
    for artifact in alive():
        artifact.synchronize()


_watches: weakref.WeakSet[Watch] = weakref.WeakSet()


class Watch:
    """Assigns numbers to the successive values of one artifact's weights."""

    def __init__(self, positions: Sequence[int], freeze: bool) -> None:
        """``positions``: of the relevant weights among the tensors of a call."""
        self.native = _objects.watch(positions, freeze)
        """Checks the weights in C; None if that is impossible."""
        self.known = 0
        """The last number from the native watch, which checks the weights at each call; 0: ``number`` must be called."""
        self._pick = operator.itemgetter(*positions) if len(positions) > 1 else lambda tensors: (tensors[positions[0]],)
        self._freeze = freeze
        self._lock = threading.Lock()
        self._seen: tuple[list[int], int] = ([], 0)
        self._held: list[torch.UntypedStorage] = []
        _watches.add(self)

    def forget(self) -> None:
        if self.native is not None:
            self.native.forget()

    def _number_natively(self, tensors: Sequence[torch.Tensor]) -> int:
        assert self.native is not None
        objects = tensors if type(tensors) is list else list(tensors)
        place = id(objects) + _objects.LIST
        with self._lock:
            if found := self.native.number(place):
                return found
            self.known = 0
            # Holding their memory ensures that no other tensor gets these addresses.
            self.native.forget()
            self._held = [t.untyped_storage() for t in self._pick(objects)]
            number = self._seen[1] + 1
            if self.native.set(place, number):
                self._seen, self.known = ([], number), number
            return self.known

    def number(self, tensors: Sequence[torch.Tensor]) -> int:
        """A number that identifies the values of the weights among the tensors of a call; 0 if they may change without
        being detected."""
        if self.native is not None:
            return self._number_natively(tensors)
        weights = self._pick(tensors)
        if any(map(_is_inference, weights)):
            # Writes in inference mode are not counted.
            if not self._freeze:
                return 0
            versions = [-1 if t.is_inference() else t._version for t in weights]
        else:
            versions = list(map(_version_of, weights))
        key = [_invalidated, *map(_data_ptr, weights), *versions]
        known, number = self._seen
        if key == known:
            return number
        with self._lock:
            known, number = self._seen
            if key == known:  # another thread has updated it
                return number
            number += 1
            # Holding their memory ensures that no other tensor gets these addresses.
            self._seen = ([], number)
            self._held = [t.untyped_storage() for t in weights]
            self._seen = (key, number)
        return number


def watch(sources: Sequence[Tensor], freeze: bool) -> Watch | None:
    """A watch for the tensors of a call, in their order; None if nothing is precomputed from them."""
    positions = [i for i, tensor in enumerate(sources) if tensor.is_prepared]
    return Watch(positions, freeze) if positions else None
