#!/usr/bin/env python3
# ===- generate_pages.py - Pages that are written from tables and tests ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes pages of docs/ from what they describe:

  Ops.md    from the importer's table (lib/Target/PT2/Aten)

With --check nothing is written, and a page that is not what would be written is an error.
"""
import argparse
import difflib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "utils/testing"))

import aten_table


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def title(path):
    """What the first line of a source says that it is."""
    return path.read_text().splitlines()[0].split(" - ", 1)[1].rsplit(" -", 1)[0]


def ops():
    """Overloads of each op, by theme; the op's other names; what is refused."""
    overloads = {}
    for path, schema in aten_table.schemas():
        name = schema.partition("(")[0]
        library, _, name = name.rpartition("::")
        op, _, overload = name.partition(".")
        key = f"{library}::{op}" if library else op
        overloads.setdefault(path, {}).setdefault(key, []).append(overload or "default")
    known = {op for theme in overloads.values() for op in theme}
    others = {}
    for other, op in aten_table.aliases():
        others.setdefault(op, []).append(other)
    count = sum(len(names) for theme in overloads.values() for names in theme.values())
    yield f"""# Ops

`utils/dev/generate_pages.py` writes this page from the importer's table (`lib/Target/PT2/Aten`).

The importer knows {count} overloads of {len(known)} ops. Ops of ATen have their own names here, those of other libraries have the
library's before theirs. Other names of an op have the same overloads. An op whose name ends in `_` writes to its first operand, and is
imported as the op without the `_`; one that ends in `_copy` is imported as the view that it copies. PyTorch's decompositions write
most other ops in these. If an archive has an op that is not known, importing it is an error that names the op; `torch.compile` leaves
the op [to PyTorch](Python.md#torchcompile).

The table has no element types: [README](../README.md#what-is-supported) lists those that are supported. `test/Target/PT2/ops` compares
programs of these ops with PyTorch, in the types that the cases of `utils/testing/aten_cases.py` name, as exported and decomposed.
[Contributing](Contributing.md#add-an-aten-op) says how to add an op.
"""
    for path in aten_table.themes():
        rows = [[code([op]), code(names), code(others.get(op, []))] for op, names in sorted(overloads[path].items())]
        yield f"\n## {title(path)}\n\n`{path.relative_to(ROOT)}`\n\n" + table(["op", "overloads", "other names"], rows)
    yield "\n## Refused\n\nErrors name the reason.\n\n" + table(["ops", "why"], [
        [code(op for op in names if op not in known), f"the op {reason}"] for reason, names in aten_table.refusals()])


PAGES = {"Ops": ops}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the pages with what would be written")
    parser.add_argument("pages", nargs="*", choices=[*PAGES, []], help="Ops; all without any")
    args = parser.parse_args()
    stale = False
    for name in args.pages or PAGES:
        path, text = ROOT / f"docs/{name}.md", "".join(PAGES[name]())
        if not args.check:
            path.write_text(text)
            continue
        written = path.read_text() if path.exists() else ""
        difference = list(difflib.unified_diff(written.splitlines(), text.splitlines(), f"docs/{name}.md", "generated", n=0, lineterm=""))
        print(*difference, *([f"docs/{name}.md: error: is not what utils/dev/generate_pages.py writes"] if difference else []),
              sep="\n", end="\n" if difference else "")
        stale |= bool(difference)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
