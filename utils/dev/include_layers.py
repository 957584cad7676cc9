#!/usr/bin/env python3
# ===- include_layers.py - Which folder may include which ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails where a file of lib/ or include/ includes a folder that the table in docs/Architecture.md does not allow."""
import argparse
import pathlib
import re
import sys

SUFFIXES = {".h", ".cpp", ".td", ".def"}


def read_table(page):
    """Each folder of the table to the folders that it may include."""
    rows = {}
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3 and re.fullmatch(r"`[\w/]+`", cells[0]):
            name = cells[0].strip("`")
            rows[name] = {name, "Support"} | set(re.findall(r"`([\w/]+)`", cells[2]))
        elif rows and not line.startswith("|"):
            break
    return rows


def folder_of(path, rows):
    """The row that has `path` (from lib/ or include/luminal): the longest that begins it."""
    path = re.sub(r"\.\w+$", "", path)
    fits = [name for name in rows if path == name or path.startswith(name + "/")]
    return max(fits, key=len, default=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    rows = read_table(root / "docs/Architecture.md")
    errors = []
    used = set()
    for top in ("include/luminal", "lib"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            name = file.relative_to(root / top).as_posix()
            folder = folder_of(name, rows)
            if folder is None:
                errors.append(f"{top}/{name}: no row of docs/Architecture.md has its folder")
                continue
            used.add(folder)
            for number, line in enumerate(file.read_text().splitlines(), 1):
                found = re.match(r'#?\s*include "luminal/([^"]+)"', line)
                target = folder_of(found[1], rows) if found else folder
                if target not in rows[folder]:
                    errors.append(f"{top}/{name}:{number}: {folder} may not include {target or found[1]}")
    errors += [f"docs/Architecture.md: {name} is not a folder with sources" for name in rows if name not in used]
    errors += [f"docs/Architecture.md: {name} may include {other}, which has no row"
               for name, others in rows.items() for other in sorted(others - rows.keys())]
    print("\n".join(errors), end="\n" if errors else "", file=sys.stderr)
    return 1 if errors or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
