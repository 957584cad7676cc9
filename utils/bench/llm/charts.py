# ===- charts.py - Charts as SVG -------------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bars of one run and lines over runs, as text that a browser shows without a script or a network. Every axis has its unit and
begins at zero; a mark tells its value when the pointer rests on it."""
import html
import math

_COLOURS = {"eager": "#6b7280", "default": "#2f855a", "reduce-overhead": "#2b6cb0", "max-autotune": "#805ad5",
            "max-autotune-no-cudagraphs": "#b794f4", "onnxruntime": "#c53030", "openvino": "#00808a", "luminal": "#dd6b20", "engine": "#b83280"}
_TEXT = 'font-size="12" fill="currentColor"'


def colour(backend):
    return _COLOURS[backend]


def ticks(most, count=5):
    """Round values from 0 to at least ``most``, the last one first above it."""
    if not most > 0:
        return [0.0, 1.0]
    raw = most / count
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next(scale * factor for factor in (1, 2, 2.5, 5, 10) if scale * factor >= raw * (1 - 1e-9))
    return [step * i for i in range(math.ceil(most / step - 1e-9) + 1)]


def number(value):
    """Short, with three digits that count."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-3 else f"{value:.1e}"


def _svg(title, width, height, body):
    return (f'<svg role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg">'
            f"<title>{html.escape(title)}</title>{''.join(body)}</svg>")


def bars(title, unit, rows):
    """``rows``: label, backend, value or None, and what the mark tells. One bar below the other."""
    left, width, right, top, each = 190, 520, 70, 8, 26
    marks = ticks(max((value for _, _, value, _ in rows if value is not None), default=0))
    place = lambda value: left + (width - left - right) * value / marks[-1]
    bottom = top + each * len(rows)
    body = []
    for mark in marks:
        x = place(mark)
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="currentColor" stroke-opacity="0.15"/>'
                    f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" {_TEXT}>{number(mark)}</text>')
    body.append(f'<text class="axis" x="{place(marks[-1] / 2):.1f}" y="{bottom + 34}" text-anchor="middle" {_TEXT}>{html.escape(unit)}</text>')
    for index, (label, backend, value, note) in enumerate(rows):
        y = top + each * index
        body.append(f'<text x="{left - 8}" y="{y + 17}" text-anchor="end" {_TEXT}>{html.escape(label)}</text>')
        if value is None:
            body.append(f'<text class="missing" x="{left + 6}" y="{y + 17}" {_TEXT}>{html.escape(note)}</text>')
            continue
        body.append(f'<rect x="{left}" y="{y + 4}" width="{max(place(value) - left, 1):.1f}" height="{each - 8}" fill="{colour(backend)}">'
                    f"<title>{html.escape(note)}</title></rect>"
                    f'<text x="{place(value) + 5:.1f}" y="{y + 17}" {_TEXT}>{number(value)}</text>')
    return _svg(title, width, bottom + 42, body)


def lines(title, unit, labels, series):
    """``labels``: of the runs, first to last; ``series``: name, backend, whether it is dashed, and by run a value or None with what
    the mark tells. Gaps are not joined."""
    left, width, right, top, height = 110, 520, 16, 10, 200
    most = max((value for *_, values in series for value, _ in values if value is not None), default=0)
    marks = ticks(most)
    x_of = lambda i: left + (width - left - right) * (i + 0.5) / len(labels)
    y_of = lambda value: top + height * (1 - value / marks[-1])
    body = []
    for mark in marks:
        body.append(f'<line x1="{left}" x2="{width - right}" y1="{y_of(mark):.1f}" y2="{y_of(mark):.1f}" stroke="currentColor" stroke-opacity="0.15"/>'
                    f'<text class="tick" x="{left - 6}" y="{y_of(mark) + 4:.1f}" text-anchor="end" {_TEXT}>{number(mark)}</text>')
    body.append(f'<text class="axis" transform="translate(46 {top + height / 2}) rotate(-90)" text-anchor="middle" {_TEXT}>{html.escape(unit)}</text>')
    every = math.ceil(len(labels) / 12)
    for i in range(0, len(labels), every):
        body.append(f'<text class="run" transform="translate({x_of(i) + 4:.1f} {top + height + 16}) rotate(-35)" text-anchor="end" {_TEXT}>{html.escape(labels[i])}</text>')
    for _, backend, is_dashed, values in series:
        known = [None if value is None else (x_of(i), y_of(value)) for i, (value, _) in enumerate(values)]
        for before, after in zip(known, known[1:]):
            if before and after:
                body.append(f'<line x1="{before[0]:.1f}" y1="{before[1]:.1f}" x2="{after[0]:.1f}" y2="{after[1]:.1f}" stroke="{colour(backend)}" '
                            f'stroke-width="2"{" stroke-dasharray=" + chr(34) + "5 4" + chr(34) if is_dashed else ""}/>')
        for point, (_, note) in zip(known, values):
            if point:
                body.append(f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="4" fill="{colour(backend)}"><title>{html.escape(note)}</title></circle>')
    return _svg(title, width, top + height + 120, body)
