# ===- _direct.py - Calls of a model's callable in a fixed number of steps --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ``luminal.compile`` returns, called on tensors alone: Python runs as many instructions for three hundred weights as
for two."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import _objects

_PLAIN = set(_objects.PLAIN)
_getitem = operator.getitem
_requires_grad, _device_of = operator.attrgetter("requires_grad"), operator.attrgetter("device")
_is_grad_enabled, _is_inference, _is_neg = torch.is_grad_enabled, torch.Tensor.is_inference, torch.Tensor.is_neg
_increment_version = torch.autograd.graph.increment_version


def picker(positions: Sequence[int], count: int) -> Callable[[list[Any]], Any] | None:
    """The items at ``positions`` of a list of ``count``; None where that is the list itself."""
    if list(positions) == list(range(count)):
        return None
    if len(positions) > 1:
        return operator.itemgetter(*positions)
    return lambda items: tuple([items[i] for i in positions])


def make(run: Callable[[list[Any]], Sequence[Any]], in_spec: pytree.TreeSpec, out_spec: pytree.TreeSpec,
         stored: Sequence[tuple[dict[str, Any], str]], written: Sequence[int],
         device: torch.device) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any] | None]:
    """Calls ``run`` with the arguments' leaves and the ``stored`` tensors, each named by the dictionary that holds it now and
    its key; it sees whether these are tensors of PyTorch's own classes. ``written``: positions of what is written to.

    The result is in a tuple; None says that a call is for the caller to do: its arguments have another structure, a tensor
    is not on ``device``, a leaf is of a class of its own or negated when it is read, or results have to refuse gradients.
    """
    holders, keys = [holder for holder, _ in stored], [key for _, key in stored]
    num_leaves, leaf = in_spec.num_leaves, pytree.tree_structure(0)
    is_flat = in_spec == pytree.tree_structure(((0,) * num_leaves, {}))
    is_single, is_tuple = out_spec == leaf, out_spec == pytree.tree_structure((0,) * out_spec.num_leaves)
    pick_written = picker(written, num_leaves + len(stored))
    # Of the host, the library sees at each call whether tensors are there; where there is one GPU, it copies those that are
    # not on it.
    is_only = device.type == "cpu" or (device.type == "cuda" and torch.cuda.device_count() == 1)
    devices = None if is_only else {device}

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
        if is_flat:
            if kwargs or len(args) != num_leaves:
                return None
            leaves: Sequence[Any] = args
        else:
            leaves, given = pytree.tree_flatten((args, kwargs))
            if given != in_spec:
                return None
        tensors = [*leaves, *map(_getitem, holders, keys)]
        if not {*map(type, leaves)} <= _PLAIN or any(map(_is_neg, leaves)) or (
                _is_grad_enabled() and any(map(_requires_grad, tensors))) or (
                devices is not None and {*map(_device_of, tensors)} != devices):
            return None
        results = run(tensors)
        if written:
            changed = tensors if pick_written is None else pick_written(tensors)
            # Nothing counts writes to tensors of inference mode.
            _increment_version([t for t in changed if not t.is_inference()] if any(map(_is_inference, changed)) else changed)
        if is_single:
            return (results[0],)
        return (tuple(results) if is_tuple else pytree.tree_unflatten(results, out_spec),)

    return call
