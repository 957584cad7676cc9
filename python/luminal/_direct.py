# ===- _direct.py - Calls of a model's callable in a fixed number of steps --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fast path of models compiled by ``luminal.compile``, for calls with tensors only. The number of Python instructions
is independent of the number of weights."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import _objects, _stored

_PLAIN = set(_objects.PLAIN)
_requires_grad, _device_of = operator.attrgetter("requires_grad"), operator.attrgetter("device")
_is_grad_enabled, _is_neg = torch.is_grad_enabled, torch.Tensor.is_neg


def make(run: Callable[[list[Any]], Sequence[Any]], in_spec: pytree.TreeSpec, out_spec: pytree.TreeSpec,
         stored: _stored.Stored, device: torch.device,
         order: Sequence[int] = ()) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any] | None]:
    """Makes a function that calls ``run`` with the arguments' leaves. ``run`` reads the ``stored`` tensors, checks that
    all tensors are of PyTorch's own classes, and counts writes to them. ``order``: positions of the results in the list
    of the results of ``run`` followed by the leaves; if empty, the results are those of ``run``.

    The function returns the result in a tuple, or None if the caller must make the call itself: because the arguments
    have another structure, a tensor is not on ``device``, a leaf has a class of its own or a negative bit, or results
    must refuse gradients.
    """
    num_leaves, leaf = in_spec.num_leaves, pytree.tree_structure(0)
    is_flat = in_spec == pytree.tree_structure(((0,) * num_leaves, {}))
    is_single, is_tuple = out_spec == leaf, out_spec == pytree.tree_structure((0,) * out_spec.num_leaves)
    # On the host, the library checks at each call that tensors are there. With a single GPU, it copies the tensors that
    # are not on it.
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
        if not {*map(type, leaves)} <= _PLAIN or any(map(_is_neg, leaves)):
            return None
        if _is_grad_enabled() or devices is not None:
            tensors = [*leaves, *stored.tensors()]
            if (_is_grad_enabled() and any(map(_requires_grad, tensors))) or (
                    devices is not None and {*map(_device_of, tensors)} != devices):
                return None
        results = run(list(leaves))
        if order:
            known = [*results, *leaves]
            results = [known[i] for i in order]
        if is_single:
            return (results[0],)
        return (tuple(results) if is_tuple else pytree.tree_unflatten(results, out_spec),)

    return call
