# ===- _report.py - What the compiler did with a program ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's report (``--report`` of ``luminal-compile``), to be read by programs and by people."""
from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from . import _capi

T = TypeVar("T")


class Kernel(NamedTuple):
    """A kernel, or a call of a library."""

    name: str
    kind: str
    steps: int
    """How many steps of a call it does."""


class Rule(NamedTuple):
    """A rule that made ops of the program."""

    name: str
    ops: int


class Report:
    """What the compiler did: ``data`` is the report as JSON."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.seconds: float = data["seconds"]
        self.steps: int = data["steps"]
        """Of a call."""
        self.phases: dict[str, float] = {phase["name"]: phase["seconds"] for phase in data["phases"]}
        """Seconds by phase."""
        self.kernels = [Kernel(k["name"], k["kind"], k["steps"]) for k in data["kernels"]]
        self.rules = [Rule(r["name"], r["ops"]) for r in data.get("used_rules", [])]
        self.in_place: object = None
        """The inputs that are read where they lie though they are not row-major, with the copies so far; None: there are none."""
        functions = data.get("saturation", {}).get("functions", [])
        self.stop: str = functions[0]["stop"] if functions else ""
        """Why the search for equal programs ended; "saturated": there are no more."""

    def __str__(self) -> str:
        lines = [f"{self.steps} steps for {self.data['target']} ({self.data['arch']}), compiled in {self.seconds:.2f} s; "
                 f"search: {self.stop or 'none'}"]
        width = max([6, *(len(k.name) for k in self.kernels)])
        lines += [f"  {'kernel':<{width}}  steps  kind"]
        lines += [f"  {k.name:<{width}}  {k.steps:>5}  {k.kind}" for k in self.kernels]
        if self.rules:
            lines.append("  rules: " + ", ".join(f"{r.name} ({r.ops})" for r in self.rules))
        if self.in_place is not None:
            lines.append(f"  {self.in_place}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The kernels as a table, with a bar of their steps, for notebooks."""
        most = max((k.steps for k in self.kernels), default=1)
        rows = "".join(
            f"<tr><td>{html.escape(k.name)}</td><td>{html.escape(k.kind)}</td><td>{k.steps}</td>"
            f"<td><div style='background:#4c9ed9;height:0.8em;width:{100 * k.steps // most}px'></div></td></tr>"
            for k in self.kernels)
        head = html.escape(str(self).splitlines()[0])
        return f"<p>{head}</p><table><tr><th>kernel</th><th>kind</th><th>steps</th><th></th></tr>{rows}</table>" + (
            f"<p>{html.escape(str(self.in_place))}</p>" if self.in_place is not None else "")


def compile_with_report(archive: bytes, name: str, texts: Sequence[str]) -> tuple[bytes, list[str], Report]:
    """As ``_capi.compile_bytes``, and what the compiler did."""
    (data, notes), report = with_report(texts, lambda options: _capi.compile_bytes(archive, name, options))
    return data, notes, report


def with_report(texts: Sequence[str], compile_: Callable[[list[str]], T]) -> tuple[T, Report]:
    """What ``compile_`` returns when it is given these options and one for a report, and the report."""
    descriptor, path = tempfile.mkstemp(suffix=".json")
    os.close(descriptor)
    try:
        done = compile_([*(text for text in texts if not text.startswith("--report=")), f"--report={path}"])
        with open(path, encoding="utf-8") as file:
            return done, Report(json.load(file))
    finally:
        os.unlink(path)
