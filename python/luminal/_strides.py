# ===- _strides.py - Arguments that are not row-major, read where they lie --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program reads row-major memory, through any view. For an argument that is not row-major, it takes the row-major
storage instead and begins with the view that restores the argument."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from . import _aliases, _errors
from ._artifact import Tensor, row_major

aten = torch.ops.aten
# Alignment in bytes of memory that kernels read in place (kBufferAlignment of the runtime).
_ALIGNMENT = 16


@dataclasses.dataclass(frozen=True)
class Layout:
    """The layout of an argument in its storage, which begins at the same address.

    Dense: the dims in ``order``, the outermost first, fill the storage. Flat: the storage has one dim, which the argument
    reads with strides. In both cases, the elements along a dim of ``expanded`` share one address.
    """

    shape: tuple[int, ...]
    """Shape of the argument; -1 for a dynamic dim."""
    order: tuple[int, ...]
    expanded: tuple[int, ...]
    strides: tuple[int, ...] | None
    """Strides of the argument, if the storage is flat; otherwise None."""
    is_injective: bool
    """Whether all elements of the argument have different addresses, so that an argument with another layout can be
    copied to this one."""

    def storage_shape(self, shape: Sequence[Any]) -> tuple[Any, ...]:
        if self.strides is None:
            return tuple(shape[dim] for dim in self.order)
        return (1 + sum((shape[dim] - 1) * self.strides[dim] for dim in self.order),)

    def strides_of(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Strides of an argument of this shape; those of dims of extent 1 are irrelevant."""
        if self.strides is not None:
            return self.strides
        inner = row_major(tuple(shape[dim] for dim in self.order))
        strides = [0] * len(shape)
        for dim, stride in zip(self.order, inner):
            strides[dim] = stride
        return tuple(strides)

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor has this layout."""
        shape = tensor.shape
        return all(extent == 1 or a == b for extent, a, b in zip(shape, tensor.stride(), self.strides_of(shape)))

    def storage_of(self, tensor: torch.Tensor) -> torch.Tensor:
        shape = self.storage_shape(tensor.shape)
        return tensor.as_strided(shape, row_major(shape), tensor.storage_offset())

    def view(self, storage: Any, shape: Sequence[Any], call: Callable[..., Any]) -> Any:
        """The argument as a view of its storage. ``call`` applies an ATen op to arguments."""
        if self.strides is not None:
            return call(aten.as_strided.default, storage, list(shape), list(self.strides), 0)
        kept = sorted(self.order)
        if (order := [self.order.index(dim) for dim in kept]) != list(range(len(kept))):
            storage = call(aten.permute.default, storage, order)
        for dim in self.expanded:
            storage = call(aten.unsqueeze.default, storage, dim)
        if self.expanded:
            storage = call(aten.expand.default, storage, [shape[d] if d in self.expanded else -1 for d in range(len(shape))])
        return storage


def find(value: torch.Tensor, is_guarded: bool, has_writes: bool) -> Layout | None:
    """The layout of a tensor in a graph; None if it is row-major, or a program cannot read it in place.

    ``is_guarded``: whether every call passes a tensor with these strides. ``has_writes``: whether the program writes to
    inputs, which may be located between the elements of this one.
    """
    shape, stride = value.shape, value.stride()
    hints = [_aliases.hint_of(extent) for extent in (*shape, *stride)]
    if any(hint is None for hint in hints) or 0 in hints[:len(shape)] or _aliases.is_row_major(value):
        return None
    extents, steps = hints[:len(shape)], hints[len(shape):]
    expanded = tuple(dim for dim in range(len(shape)) if extents[dim] != 1 and steps[dim] == 0)
    order = tuple(sorted((dim for dim in range(len(shape)) if dim not in expanded),
                         key=lambda dim: (-steps[dim], -extents[dim], dim)))
    if not all(isinstance(shape[dim], int) for dim in expanded):
        return None
    layout, known = None, tuple(extent if isinstance(extent, int) else -1 for extent in shape)
    if _aliases.is_dense(value, order):
        layout = Layout(known, order, expanded, None, not expanded)
    elif not has_writes and all(isinstance(number, int) for number in (*shape, *stride)):
        real = [dim for dim in order if extents[dim] != 1]
        apart = all(steps[dim] > sum((extents[d] - 1) * steps[d] for d in real[i + 1:]) for i, dim in enumerate(real))
        layout = Layout(known, order, expanded, tuple(steps), apart and not expanded)
    return layout if layout is not None and (is_guarded or layout.is_injective) else None


def lay_out(graph: fx.Graph, argument: fx.Node, layout: Layout, before: fx.Node, fake_mode: Any) -> None:
    """Replaces the argument by its storage, and its uses by a view of the storage, which is inserted before ``before``.
    """
    value = argument.meta["val"]
    with fake_mode:
        shape = layout.storage_shape(value.shape)
        argument.meta["val"] = torch.empty(shape, dtype=value.dtype, device=value.device)
    users = list(argument.users)

    def call(op: Any, operand: fx.Node, *rest: Any) -> fx.Node:
        node = graph.call_function(op, (operand, *rest))
        with fake_mode:
            node.meta["val"] = op(operand.meta["val"], *rest)
        return node

    with graph.inserting_before(before):
        view = layout.view(argument, value.shape, call)
    for user in users:
        user.replace_input_with(argument, view)


class Strided:
    """The inputs of a program that are read in place, and the number of times that one had to be copied nevertheless."""

    def __init__(self, layouts: dict[int, Layout], specs: Sequence[Tensor]) -> None:
        """``layouts``: by position among the tensors of a call; ``specs``: the program's tensors at these positions."""
        self.layouts = layouts
        self.names = {position: specs[position].name for position in layouts}
        self.arguments = [dataclasses.replace(spec, shape=layouts[i].shape) if i in layouts else spec
                          for i, spec in enumerate(specs)]
        """The tensors that the caller passes."""
        self.copies = {name: 0 for name in self.names.values()}
        """For each input, the number of calls in which its layout or alignment did not fit."""

    def bind(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The tensors of a call, with those that are not row-major replaced by their storages."""
        bound = list(tensors)
        for position, layout in self.layouts.items():
            tensor = bound[position]
            holds = layout.holds(tensor)
            # The call would copy an unaligned storage completely.
            is_sparse = layout.strides is not None and layout.is_injective
            if not holds or (is_sparse and tensor.data_ptr() % _ALIGNMENT):
                if not layout.is_injective:
                    raise _errors.CallError(f"'{self.names[position]}' has strides {tuple(tensor.stride())}: the program was "
                                            f"compiled for {layout.strides_of(tensor.shape)}")
                copy = torch.empty_strided(tensor.shape, layout.strides_of(tensor.shape), dtype=tensor.dtype,
                                           device=tensor.device)
                tensor = copy.copy_(tensor)
                self.copies[self.names[position]] += 1
            bound[position] = layout.storage_of(tensor)
        return bound

    def __str__(self) -> str:
        copied = [f"{name} (copied in {count} calls)" if count else name for name, count in self.copies.items()]
        return "read in place: " + ", ".join(copied)
