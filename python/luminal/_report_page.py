# ===- _report_page.py - A report as a page with plots ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One HTML file with inline SVG, without scripts, external styles or fonts."""
from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import _tables

if TYPE_CHECKING:
    from ._report import Report, Step

_STYLE = """body{font:14px/1.4 sans-serif;margin:2em;max-width:1100px}table{border-collapse:collapse;margin:1em 0}
td,th{padding:2px 10px 2px 0;text-align:left;border-bottom:1px solid #ddd;vertical-align:top}svg{display:block;margin:1em 0}
text{font:11px sans-serif}h2{margin-top:2em}"""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 320, 70, 40
_BLUE, _RED, _GREY = "#2a6fb0", "#c0392b", "#888"
# Maximum number of bars for modules; the table has all of them.
_MOST_BARS = 24


def write(report: Report) -> str:
    parts = [f"<h1>Report of a compile</h1><p>{html.escape(report.head())}</p><ul>" + "".join(
        f"<li>{html.escape(note)}</li>" for note in report.notes()) + "</ul>"]
    for name, search in report.searches.items():
        parts.append(f"<h2>{html.escape(name.capitalize())}</h2>" + _curve(search) + _candidates(search))
    if report.program:
        parts.append("<h2>Time by module</h2>" + _modules(report.program))
        parts.append("<h2>Kernels against the roofline</h2>" + _roofline(report))
    for title, steps in ("Steps of a call", report.program), ("Once, from weights", report.prepare):
        if steps:
            parts.append(f"<h2>{title}</h2>" + _steps(steps))
    if report.rules:
        parts.append("<h2>Rules</h2><p>By which the program was found equal to the one given.</p>" + _tables.page(
            ["rule", "ops of the program", "steps of the proof"], [[r.name, str(r.ops), str(r.steps)] for r in report.rules]))
    return (f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>Luminal: {html.escape(str(report.data['input']))}"
            f"</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n")


def _steps(steps: Sequence[Step]) -> str:
    return _tables.page(
        ["step", "kernel", "source", "MB", "MFLOP", "predicted us", "of roofline", "schedule", "why"],
        [[s.name, s.kernel, s.source, f"{s.bytes / 1e6:.3f}", f"{s.flops / 1e6:.3f}",
          "-" if s.seconds is None else f"{1e6 * s.seconds:.2f}", "-" if s.roofline is None else f"{100 * s.roofline:.0f} %",
          s.schedule, s.why] for s in steps])


def _candidates(search: dict[str, Any]) -> str:
    def time(value: float | None) -> str:
        return "-" if value is None else f"{1e6 * value:.2f}"

    return _tables.page(["program", "kernels, us", "whole, us", ""], [
        [c["title"], time(c["sum_of_kernels"]), time(c.get("seconds")), "won" if c.get("won") else "kept" if c.get("kept") else ""]
        for c in search["candidates"]])


def _svg(body: str, height: int = _HEIGHT, title: str = "") -> str:
    return (f"<svg width='{_WIDTH}' height='{height}' viewBox='0 0 {_WIDTH} {height}' role='img'>"
            f"<title>{html.escape(title)}</title>{body}</svg>")


def _text(x: float, y: float, text: str, anchor: str = "start", color: str = "black") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='{color}'>{html.escape(text)}</text>"


def _axes(x: str, y: str) -> str:
    base = _HEIGHT - _BOTTOM
    return (f"<path d='M{_LEFT} 10V{base}H{_WIDTH - 10}' fill='none' stroke='{_GREY}'/>" + _text(_WIDTH - 10, _HEIGHT - 6, x, "end")
            + _text(4, 10, y))


def _scale(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    span = high - low or 1.0
    return lambda value: begin + (value - low) / span * (end - begin)


def _curve(search: dict[str, Any]) -> str:
    """Plots the best sum of kernel times over the duration of the search."""
    points = search.get("curve", [])
    if not points:
        return ""
    end = max(search["seconds"], points[-1]["at"])
    most, last, roof = (1e6 * value for value in (points[0]["sum_of_kernels"], points[-1]["sum_of_kernels"], search["roofline_seconds"]))
    x = _scale(0, end, _LEFT, _WIDTH - 10)
    # Scale the axis so that the gain of the search takes at least half of the height, however far away the roofline is.
    y = _scale(max(min(roof, last), 2 * last - most if last < most else 0.0), most, _HEIGHT - _BOTTOM - 20, 20)
    path = f"M{x(points[0]['at']):.1f} {y(most):.1f}"
    for point in points[1:]:
        path += f"H{x(point['at']):.1f}V{y(1e6 * point['sum_of_kernels']):.1f}"
    path += f"H{x(end):.1f}"
    body = _axes("seconds", "us of kernels") + f"<path d='{path}' fill='none' stroke='{_BLUE}' stroke-width='2'/>"
    line = min(y(roof), _HEIGHT - _BOTTOM - 4)
    body += "" if line < y(roof) else f"<path d='M{_LEFT} {line:.1f}H{_WIDTH - 10}' stroke='{_RED}' stroke-dasharray='4'/>"
    body += _text(_WIDTH - 12, line - 4, f"the roofline{', below' if line < y(roof) else ''}: {roof:.1f} us", "end")
    body += "".join(_text(_LEFT - 6, y(value) + 4, f"{value:.1f}", "end") for value in sorted({most, last}))
    body += "".join(_text(x(value), _HEIGHT - _BOTTOM + 14, f"{value:.1f}", anchor)
                    for value, anchor in ((0.0, "middle"), (end / 2, "middle"), (end, "end")))
    return _svg(body, title="The best program so far, by the seconds of the search")


def by_module(steps: Sequence[Step]) -> list[tuple[str, float]]:
    """Predicted seconds (for library calls the roofline bound) by module, largest first."""
    sums: dict[str, float] = {}
    for step in steps:
        name = step.name.rpartition(" (")[0] or step.name
        sums[name] = sums.get(name, 0.0) + (step.least if step.seconds is None else step.seconds)
    return sorted(sums.items(), key=lambda item: -item[1])


def _modules(steps: Sequence[Step]) -> str:
    sums = by_module(steps)
    total, most = sum(seconds for _, seconds in sums), max((seconds for _, seconds in sums), default=0.0)
    bars, body = sums[:_MOST_BARS], ""
    for i, (name, seconds) in enumerate(bars):
        width = 300 * seconds / most if most else 0
        at, color = (404 + width, "black") if width < 180 else (404, "white")
        body += (f"<rect x='400' y='{20 * i + 4}' width='{width:.1f}' height='14' fill='{_BLUE}'/>"
                 + _text(394, 20 * i + 15, name if len(name) <= 62 else name[:59] + "...", "end")
                 + _text(at, 20 * i + 15, f"{1e6 * seconds:.2f} us, {100 * seconds / total if total else 0:.0f} %", color=color))
    rest = "" if all(step.seconds is not None for step in steps) else (
        "<p>Of a call of a library the time that it needs at least: no price predicts it.</p>")
    rest += f"<p>and {len(sums) - len(bars)} more, in the table below</p>" if len(sums) > len(bars) else ""
    return _svg(body, 20 * len(bars) + 8, "Predicted time by module") + rest


def _log_bounds(values: Iterable[float]) -> tuple[float, float]:
    logs = [math.log10(value) for value in values if value > 0]
    return (math.floor(min(logs, default=0)), math.ceil(max(logs, default=1)))


def _roofline(report: Report) -> str:
    """Plots operations per second over operations per byte, with the machine's limits."""
    machine = report.data.get("machine")
    steps = [s for s in report.program if s.seconds and s.bytes > 0 and s.flops > 0]
    if not machine or not steps:
        return "<p>No kernel has a predicted time.</p>"
    bandwidth, peak = machine["bytes_per_second"], machine["flops_per_second"]
    knee = peak / bandwidth
    left, right = _log_bounds([knee, *(s.flops / s.bytes for s in steps)])
    right += left == right
    low, high = _log_bounds([peak, *(s.flops / s.seconds for s in steps if s.seconds)])
    x, y = _scale(left, right, _LEFT, _WIDTH - 10), _scale(low, high, _HEIGHT - _BOTTOM, 20)
    at = [(value, min(peak, bandwidth * 10 ** value)) for value in (left, min(max(math.log10(knee), left), right), right)]
    roof = "L".join(f"{x(value):.1f} {y(max(math.log10(rate), low)):.1f}" for value, rate in at)
    body = _axes("operations a byte", "operations a second") + f"<path d='M{roof}' fill='none' stroke='{_RED}' stroke-width='2'/>"
    for step in steps:
        assert step.seconds
        share = f"{100 * step.roofline:.0f} % of the roofline" if step.roofline is not None else ""
        body += (f"<circle cx='{x(math.log10(step.flops / step.bytes)):.1f}' cy='{y(math.log10(step.flops / step.seconds)):.1f}' r='5' "
                 f"fill='{_BLUE}' fill-opacity='0.6'><title>{html.escape(f'{step.name}, {step.kernel}: {1e6 * step.seconds:.2f} us, {share}')}"
                 "</title></circle>")
    body += "".join(_text(x(value), _HEIGHT - _BOTTOM + 14, f"{10.0 ** value:g}", "middle") for value in range(int(left), int(right) + 1))
    body += "".join(_text(_LEFT - 6, y(value) + 4, f"1e{value}", "end") for value in range(int(low), int(high) + 1))
    return _svg(body, title="Kernels by their operations a byte and a second")
