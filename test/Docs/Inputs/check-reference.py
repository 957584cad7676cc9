# ===- check-reference.py - Whether the generated pages say what they should ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: check-reference.py DIRECTORY: fails for an entry of a page without a summary or without a description, and for a
# pass of luminal-opt that has no entry.
import pathlib
import re
import subprocess
import sys

problems, passes = [], set()
for page in sorted(pathlib.Path(sys.argv[1]).glob("*.md")):
    entries = re.findall(r"^### `?(-?[\w.-]+)`? ?[^\n]*\n(.*?)(?=^#{2,3} |\Z)", page.read_text(), re.M | re.S)
    print(f"{page.stem}: {len(entries)} entries")
    for name, text in entries:
        if name.startswith("-"):
            passes.add(name[1:])
        summary = re.match(r"\s*_(.+?)_\n", text, re.S)
        if not summary:
            problems.append(f"{page.name}: {name} has no summary")
            continue
        # The syntax, tables and headings are generated, not written by hand.
        rest = re.sub(r"^(Syntax:\n\n)?```\n.*?^```\n", "", text[summary.end():].lstrip(), flags=re.M | re.S)
        # The cases of an enum need no text.
        if not re.search("#### Cases:|an enum of type", text) and re.match(r"\s*(#{4}|Traits:|Interfaces:|\Z)", rest):
            problems.append(f"{page.name}: {name} has no description")
listed = subprocess.run(["luminal-opt", "--help"], capture_output=True, text=True, check=True).stdout
ours = set(re.findall(r"^ +--((?:hlir|llir|eqsat|convert-llir)-[\w-]+) ", listed, re.M))
problems += [f"no page has the pass {name}" for name in sorted(ours - passes)]
print(*problems, sep="\n")
sys.exit(bool(problems))
