# ===- _bench.py - luminal.bench ----------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a model in eager PyTorch, Inductor and Luminal, interleaved, and compares their results with float64."""
from __future__ import annotations

import copy
import dataclasses
import functools
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import _backend, _devices, _errors, _notices, _tables

FORMS = ("eager", "inductor", "luminal")


@dataclasses.dataclass
class Row:
    """Results for one form of the model."""

    form: str
    milliseconds: float
    """Time of a call: the median over the rounds of the fastest call in each round."""
    first_seconds: float
    """Time of the first call, which includes compilation."""
    error: float
    """The largest difference from the float64 result, relative to its largest value."""
    problem: str = ""
    """The reason if there are no numbers."""
    notes: list[str] = dataclasses.field(default_factory=list)
    """Exceptions to the form's name, such as ops of the form ``luminal`` that PyTorch runs."""


class Table(list[Row]):
    """The rows. ``print`` and notebooks show them as a table."""

    COLUMNS = ("", "ms a call", "by eager", "first s", "error")

    def _cells(self) -> list[list[str]]:
        eager = next((row.milliseconds for row in self if row.form == "eager"), 0.0)
        return [[row.form, *(("-",) * 4 if row.problem else (
            f"{row.milliseconds:.4f}", f"{row.milliseconds / eager if eager else 0:.3f}", f"{row.first_seconds:.2f}",
            f"{row.error:.1e}"))] for row in self]

    def _notes(self) -> list[str]:
        return [f"{row.form}: {note}" for row in self for note in [row.problem, *row.notes] if note]

    def __str__(self) -> str:
        return "\n".join(_tables.text(self.COLUMNS, self._cells()) + self._notes())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _tables.page(self.COLUMNS, self._cells(), notes=self._notes())


def bench(model: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None, *,
          forms: tuple[str, ...] = FORMS, rounds: int = 7, seconds: float = 0.05,
          options: Mapping[str, Any] | None = None, others: Mapping[str, Callable[..., Any]] | None = None) -> Table:
    """Times ``model`` in every form, interleaving the forms round by round.

    ``others``: additional forms by name, which are called as they are, such as compiled candidates of
    ``luminal.explore``.

    ``seconds``: minimum time for each form in each round. ``options``: of ``torch.compile`` with this backend. Each call
    waits for tensors on a GPU. If a form fails, the table shows the reason.
    """
    if not callable(model):
        raise _errors.ArgumentError(f"model is a {type(model).__name__}: expected a module or a function")
    if repeated := set(forms) & set(others or {}):
        raise _errors.ArgumentError(f"there are two forms {min(repeated)!r}")
    if unknown := set(forms) - set(FORMS):
        raise _errors.ArgumentError(f"there is no form {min(unknown)!r}: forms are {', '.join(FORMS)}")
    given = dict(kwargs or {})
    exact = _float64(model, args, given)
    rows, calls = Table(), {}
    graphs: list[int] = []
    compiled = [(form, _compile(model, form, options, graphs)) for form in forms]
    for form, call in compiled + list((others or {}).items()):
        row = Row(form, 0.0, 0.0, 0.0)
        rows.append(row)
        try:
            with torch.no_grad(), _notices.heard() as row.notes:
                begin = time.perf_counter()
                outputs = call(*args, **given)
                _wait(outputs)
                row.first_seconds = time.perf_counter() - begin
                row.error = _error(outputs, exact)
                calls[form] = call
            if form == "luminal" and not graphs:
                row.notes.insert(0, "no graph was compiled: these are the times of eager PyTorch")
        except Exception as error:  # any exception of another compiler
            row.problem = f"{type(error).__name__}: {_errors.sentence(getattr(error, 'inner_exception', None) or error)}"
    times: dict[str, list[float]] = {form: [] for form in calls}
    with torch.no_grad():
        for _ in range(rounds):
            for form, call in calls.items():
                times[form].append(_fastest(call, args, given, seconds))
    for row in rows:
        if row.form in times:
            row.milliseconds = 1e3 * statistics.median(times[row.form])
    return rows


def _compile(model: Callable[..., Any], form: str, options: Mapping[str, Any] | None,
             graphs: list[int]) -> Callable[..., Any]:
    """Compiles ``model`` in a form. Appends to ``graphs`` for each graph that this backend compiles."""
    if form == "eager":
        return model
    if form == "inductor":
        return torch.compile(copy.copy(model))

    @functools.wraps(_backend.backend)
    def backend(graph: torch.fx.GraphModule, inputs: Any, **given: Any) -> Callable[..., Any]:
        graphs.append(len(graph.graph.nodes))
        return _backend.backend(graph, inputs, **given)

    backend._torchdynamo_orig_backend = _backend.backend  # type: ignore[attr-defined]
    return torch.compile(copy.copy(model), backend=backend, options=dict(options or {}))


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
    """The outputs in float64; None if the model cannot run in float64."""
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
