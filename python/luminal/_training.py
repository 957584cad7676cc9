# ===- _training.py - What happens to gradients ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled graphs have no backward: differentiating outputs that eager mode could differentiate raises an error."""
from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch

from . import _errors

log = logging.getLogger("luminal")
_MESSAGE = ("this was compiled for inference by luminal and has no gradients: train with another backend, or call it "
            "under torch.no_grad() if you need none")


class _Refuse(torch.autograd.Function):
    """The identity, whose backward raises an error."""

    @staticmethod
    def forward(ctx: Any, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        # The first tensor only makes the results require gradients. Returning a view of a tensor would forbid later
        # writes to it.
        return tuple(t.detach() for t in tensors[1:])

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise _errors.TrainingError(_MESSAGE)


def _can_have_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value._base is None


def guard(function: Callable[..., Any]) -> Callable[..., Any]:
    """Calls ``function`` without gradients. In grad mode, differentiating its outputs raises TrainingError."""
    hinted = False

    def call(*args: Any) -> Any:
        nonlocal hinted
        if not torch.is_grad_enabled():
            return function(*args)
        with torch.no_grad():
            results = function(*args)
        source = next((a for a in args if isinstance(a, torch.Tensor) and a.requires_grad), None)
        if source is None:
            return results
        if not hinted:
            hinted = True
            log.info("gradients are enabled and inputs require them: torch.no_grad() makes calls cheaper")
        results = list(results)
        places = [i for i, value in enumerate(results)
                  if _can_have_gradient(value) and not any(value is a for a in args)]
        if places:
            with torch.enable_grad():
                guarded = _Refuse.apply(source, *(results[i] for i in places))  # type: ignore[no-untyped-call]
            for i, value in zip(places, guarded):
                results[i] = value
        return results

    return call
