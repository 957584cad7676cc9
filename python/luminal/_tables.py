# ===- _tables.py - Tables for terminals and notebooks -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import html
from collections.abc import Sequence


def text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table: the first column is left-aligned, the others right-aligned."""
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return ["  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))]).rstrip()
            for line in lines]


def page(columns: Sequence[str], rows: Sequence[Sequence[str]], head: str = "", notes: Sequence[str] = ()) -> str:
    """HTML for notebooks: a heading paragraph, the table, and a list of notes."""
    names = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return (f"<p>{html.escape(head)}</p>" if head else "") + f"<table><tr>{names}</tr>{body}</table>" + (
        f"<ul>{items}</ul>" if items else "")


def count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
