# ===- _bench.py - luminal.bench ----------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a model in eager PyTorch, through Inductor and through Luminal, side by side, with errors against float64."""
from __future__ import annotations

import copy
import dataclasses
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import _backend, _devices, _errors

FORMS = ("eager", "inductor", "luminal")


@dataclasses.dataclass
class Row:
    """One form of the model."""

    form: str
    milliseconds: float
    """Of a call: the median over the rounds of each round's fastest."""
    first_seconds: float
    """Of the first call, which compiles."""
    error: float
    """The largest difference from float64, by the largest value there."""
    problem: str = ""
    """Why there are no numbers."""


class Table(list[Row]):
    """The rows, which ``print`` shows as a table."""

    def __str__(self) -> str:
        eager = next((row.milliseconds for row in self if row.form == "eager"), 0.0)
        width = max([10, *(len(row.form) + 1 for row in self)])
        lines = [f"{'':<{width}}{'ms a call':>12}{'by eager':>10}{'first s':>10}{'error':>10}"]
        for row in self:
            if row.problem:
                lines.append(f"{row.form:<{width}}{row.problem}")
                continue
            lines.append(f"{row.form:<{width}}{row.milliseconds:>12.4f}{row.milliseconds / eager if eager else 0:>10.3f}"
                         f"{row.first_seconds:>10.2f}{row.error:>10.1e}")
        return "\n".join(lines)


def bench(model: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None, *,
          forms: tuple[str, ...] = FORMS, rounds: int = 7, seconds: float = 0.05,
          options: Mapping[str, Any] | None = None, others: Mapping[str, Callable[..., Any]] | None = None) -> Table:
    """Calls ``model`` in every form, the forms taking turns round by round.

    ``others``: more forms by name, called as they are: candidates of ``luminal.explore``, compiled.

    ``seconds``: of each form in each round, at least. ``options``: of ``torch.compile`` with this backend. Tensors on a
    GPU are waited for. A form that fails has its reason in the table.
    """
    if repeated := set(forms) & set(others or {}):
        raise _errors.ArgumentError(f"there are two forms {min(repeated)!r}")
    if unknown := set(forms) - set(FORMS):
        raise _errors.ArgumentError(f"there is no form {min(unknown)!r}: forms are {', '.join(FORMS)}")
    given = dict(kwargs or {})
    exact = _float64(model, args, given)
    rows, calls = Table(), {}
    compiled = [(form, _compile(model, form, options)) for form in forms]
    for form, call in compiled + list((others or {}).items()):
        row = Row(form, 0.0, 0.0, 0.0)
        rows.append(row)
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                begin = time.perf_counter()
                outputs = call(*args, **given)
                _wait(outputs)
                row.first_seconds = time.perf_counter() - begin
                row.error = _error(outputs, exact)
                calls[form] = call
        except Exception as error:  # whatever another compiler raises
            row.problem = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    times: dict[str, list[float]] = {form: [] for form in calls}
    with torch.no_grad():
        for _ in range(rounds):
            for form, call in calls.items():
                times[form].append(_fastest(call, args, given, seconds))
    for row in rows:
        if row.form in times:
            row.milliseconds = 1e3 * statistics.median(times[row.form])
    return rows


def _compile(model: Callable[..., Any], form: str, options: Mapping[str, Any] | None) -> Callable[..., Any]:
    if form == "eager":
        return model
    if form == "inductor":
        return torch.compile(copy.copy(model))
    return torch.compile(copy.copy(model), backend=_backend.backend, options=dict(options or {}))


def _fastest(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float) -> float:
    best, end = float("inf"), time.perf_counter() + seconds
    while best == float("inf") or time.perf_counter() < end:
        begin = time.perf_counter()
        _wait(call(*args, **kwargs))
        best = min(best, time.perf_counter() - begin)
    return best


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _wait(outputs: Any) -> None:
    for device in {tensor.device for tensor in _tensors(outputs)}:
        if runs := _devices.of_type(device.type):
            runs.synchronize(device)


def _float64(model: Callable[..., Any], args: Any, kwargs: Any) -> list[torch.Tensor] | None:
    """The outputs in float64; None where the model cannot run so."""
    def widen(value: Any) -> Any:
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    wide = copy.deepcopy(model).double() if isinstance(model, torch.nn.Module) else model
    try:
        with torch.no_grad():
            return _tensors(wide(*pytree.tree_map(widen, args), **pytree.tree_map(widen, kwargs)))
    except (RuntimeError, TypeError):
        return None


def _error(outputs: Any, exact: list[torch.Tensor] | None) -> float:
    if exact is None:
        return float("nan")
    worst = 0.0
    for got, want in zip(_tensors(outputs), exact):
        if want.numel() and want.is_floating_point():
            difference = (got.double() - want).abs()
            scale = want[want.isfinite()].abs().max().item() if want.isfinite().any() else 1.0
            worst = max(worst, difference[difference.isfinite()].max().item() / (scale or 1.0))
    return worst
