# ===- _report.py - What the compiler did with a program ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's report (``--report`` of ``luminal-compile``), for programs and for readers."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from . import _capi, _errors, _report_page, _tables

T = TypeVar("T")


class Kernel(NamedTuple):
    """A kernel or library call."""

    name: str
    kind: str
    steps: int
    """Number of steps of a call, or of the precomputation from weights, that run it."""


class Step(NamedTuple):
    """A step of a call. Numbers are for nominal sizes: symbols are 64, or the nearest value in their range."""

    name: str
    """The modules of the nodes that it computes, and the kind of its kernel."""
    kernel: str
    """The kernel or library that runs it: a name in the report's ``kernels``."""
    source: str
    """The line of the model, or of PyTorch's module."""
    bytes: float
    """Bytes read and written."""
    flops: float
    """Scalar operations."""
    seconds: float | None
    """Predicted time; None for a library call."""
    roofline: float | None
    """Roofline bound divided by the predicted time."""
    least: float
    """The roofline bound: seconds that the machine needs at least to move the bytes or to execute the operations."""
    schedule: str
    why: str
    """The reasons for the schedule."""


class Rule(NamedTuple):
    """A rule by which the program was found."""

    name: str
    ops: int
    """Number of the program's ops that the rule made; 0 if other rules replaced them."""
    steps: int
    """How often the rule is applied in the proof that the program equals the given one."""


def _steps(program: Sequence[dict[str, Any]]) -> list[Step]:
    return [Step(s["name"], s["kernel"], s["source"], s.get("nominal_bytes", 0.0), s.get("nominal_flops", 0.0),
                 s.get("predicted_seconds"), s.get("roofline_share"), s.get("roofline_seconds", 0.0), s.get("schedule", ""), s.get("why", "")) for s in program]


class Report:
    """The compiler's report; ``data`` is its JSON. ``print`` shows it as text, a notebook as tables; ``html`` returns a
    page with plots."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.seconds: float = data["seconds"]
        self.steps: int = data["steps"]
        """Number of steps of a call."""
        self.phases: dict[str, float] = {phase["name"]: phase["seconds"] for phase in data["phases"]}
        """Seconds by phase."""
        self.kernels = [Kernel(k["name"], k["kind"], k["steps"]) for k in data["kernels"]]
        self.program = _steps(data.get("program", []))
        """The steps of a call, in order."""
        self.prepare = _steps(data.get("prepare", {}).get("program", []))
        """The steps that run once, when weights are bound."""
        found = data.get("used_rules") or data.get("search", {}).get("used_rules", [])
        self.rules = [Rule(r["name"], r["ops"], r["steps"]) for r in found]
        self.searches: dict[str, dict[str, Any]] = {key: data[key] for key in data if key.startswith("search")}
        """Reports of the measuring search: "search", and "search of RANGES" for each variant. Empty if nothing was
        measured."""
        self.in_place: object = None
        """The inputs that are read in place although they are not row-major, with the number of copies so far; None if
        there are none."""
        self.remarks: list[str] = []
        """Remarks about the report itself."""
        functions = data.get("saturation", {}).get("functions", [])
        self.stop: str = functions[0]["stop"] if functions else ""
        """Why saturation ended; "saturated": the rules found everything they can."""

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Report:
        """Reads the report that a compilation wrote (``--report=FILE``). Raises ArgumentError for any other file."""
        try:
            with open(path, encoding="utf-8") as file:
                return Report(json.load(file))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _errors.ArgumentError(f"{os.fspath(path)} is not a report of a compilation ({type(error).__name__}: {error})") from None

    def head(self) -> str:
        return (f"{_tables.count(self.steps, 'step')} for {self.data['target']} ({self.data['arch']}), compiled in {self.seconds:.2f} s; "
                f"search: {self.stop or 'none'}")

    def notes(self) -> list[str]:
        """Notes of one line each: phases, rules, measurements, inputs read in place."""
        lines = ["phases: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in self.phases.items())]
        if self.rules:
            lines.append("rules: " + ", ".join(f"{r.name} ({r.ops})" if r.ops else r.name for r in self.rules))
        lines += [f"{name}: {summary(search)}" for name, search in self.searches.items()]
        if self.in_place is not None:
            lines.append(str(self.in_place))
        return lines + self.remarks

    def _rows(self, steps: Sequence[Step]) -> list[list[str]]:
        return [[s.name, s.kernel, f"{s.bytes / 1e6:.3f}", f"{s.flops / 1e6:.3f}",
                 "-" if s.seconds is None else f"{1e6 * s.seconds:.2f}", "-" if s.roofline is None else f"{100 * s.roofline:.0f} %",
                 s.source] for s in steps]

    def __str__(self) -> str:
        lines = [self.head()]
        for what, steps in ("step", self.program), ("once, from weights", self.prepare):
            if steps:
                table = _tables.text([what, *COLUMNS], self._rows(steps))
                lines += [f"  {line}" for line in table[:1] + [
                    line + (f"  {s.why}" if s.why else "") for line, s in zip(table[1:], steps)]]
        return "\n".join(lines + [f"  {note}" for note in self.notes()])

    def _repr_html_(self) -> str:
        """The steps as a table, for notebooks."""
        rows = [[*row, s.why] for row, s in zip(self._rows(self.program), self.program)]
        return _tables.page(["step", *COLUMNS, "why"], rows, self.head(), self.notes())

    def html(self) -> str:
        """A self-contained page: the search, kernels against the roofline, time by module, and all tables."""
        return _report_page.write(self)


COLUMNS = ["kernel", "MB", "MFLOP", "us", "of roofline", "source"]


def summary(search: dict[str, Any]) -> str:
    """One line about a search: programs tried, kept and found."""
    candidates = search["candidates"]
    won = next((c["title"] for c in candidates if c.get("won")), search["program"])
    times = [(f"{1e6 * search[key]:.1f} us") if search.get(key) is not None else "" for key in ("program_seconds", "static_seconds")]
    found = f"{times[0]} a call, {times[1]} by static prices" if all(times) else (
        f"{1e6 * search['sum_of_kernels']:.1f} us of kernels, {1e6 * search['sum_of_static_kernels']:.1f} by static prices")
    spent = ", ".join(f"{seconds:.1f} s {_PARTS[part]}" for part, seconds in search.get("phases", {}).items())
    return (f"{len(candidates)} programs tried, {sum(c.get('kept', False) for c in candidates)} kept, '{won}' won ({found}); "
            f"{search['kernels_timed']} kernels timed, {search['cache_hits']} from the cache; ended by {search['ended']} after "
            f"{search['seconds']:.1f} s" + (f" ({spent})" if spent else ""))


_PARTS = {"programs": "drawing and lowering programs", "schedules": "proposing schedules", "kernels": "timing kernels",
          "wholes": "timing whole programs"}


def is_searched(texts: Sequence[str]) -> bool:
    """Whether these options measure, so that compiling again may find another program."""
    return any(text.startswith(("--search-budget=", "--search-candidates=", "--find-variants=")) for text in texts)


def compile_with_report(archive: bytes, name: str, texts: Sequence[str]) -> tuple[bytes, list[str], Report]:
    """Like ``_capi.compile_bytes``, with the report."""
    (data, notes), report = with_report(texts, lambda options: _capi.compile_bytes(archive, name, options))
    return data, notes, report


def with_report(texts: Sequence[str], compile_: Callable[[list[str]], T]) -> tuple[T, Report]:
    """Calls ``compile_`` with these options, plus one for a report if they have none; returns its result and the report.
    """
    own = next((text.partition("=")[2] for text in texts if text.startswith("--report=")), None)
    if own:
        return compile_(list(texts)), Report.read(own)
    descriptor, path = tempfile.mkstemp(suffix=".json")
    os.close(descriptor)
    try:
        return compile_([*texts, f"--report={path}"]), Report.read(path)
    finally:
        os.unlink(path)
