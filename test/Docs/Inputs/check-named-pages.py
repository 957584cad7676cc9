# ===- check-named-pages.py - Whether the pages that sources name are there ----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: check-named-pages.py SOURCE: pages in the folder docs that sources and pages name, with the heading where one follows in
# quotes. (The Python tests look at links.)
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
FOLDERS = ("docs", "include", "lib", "python", "test", "tools", "utils")
SUFFIXES = (".md", ".h", ".cpp", ".td", ".def", ".py", ".sh", ".mlir", ".test", ".pdll")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def headings(page):
    return re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.M)


wrong, count = [], 0
for path in sorted(path for folder in FOLDERS for path in (source / folder).rglob("*")):
    if path.suffix not in SUFFIXES or not path.is_file():
        continue
    name = path.relative_to(source)
    for page, heading in re.findall(r'docs/(\w+)\.md(?:,\s+(?:#\s+|//\s+|\*\s+)?"([^"]+)")?', path.read_text(errors="replace")):
        count += 1
        to = source / "docs" / f"{page}.md"
        if not to.exists():
            wrong.append(f"{name}: docs/{page}.md: no such page")
        elif heading and not any(known.startswith(re.sub(r"\s+", " ", heading)) for known in headings(to)):
            wrong.append(f'{name}: docs/{page}.md, "{heading}": no such heading')
if wrong:
    sys.exit("\n".join(wrong))
print(f"{count} pages are named")
