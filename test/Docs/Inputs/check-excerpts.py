# ===- check-excerpts.py - Whether a page shows what is in files ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: check-excerpts.py PAGE.md DIRECTORY: a block whose first line is "// FILE" shows lines of that file: each line of the
# block follows in the file the one before it, where "..." stands, at any distance. At the end of a line "..." stands for its
# rest. Names of values, registers and labels do not count.
import pathlib
import re
import sys

page, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def plain(line):
    return re.sub(r"\s+", " ", re.sub(r"[%$][\w#]+", "%", line.strip()))


count = 0
for block in re.findall(r"^```\w+\n// (\S+)\n(.*?)^```$", page.read_text(), re.M | re.S):
    found = [plain(line) for line in (directory / block[0]).read_text().splitlines()]
    at, near = 0, False
    for line in map(plain, block[1].splitlines()):
        if line == "...":
            near = False
            continue
        matches = (lambda other: other.startswith(line[:-3].strip())) if line.endswith("...") else line.__eq__
        to = next((i for i in range(at, at + 1 if near else len(found)) if i < len(found) and matches(found[i])), None)
        if to is None:
            sys.exit(f"{page}: {block[0]} does not have, {'next' if near else 'further on'}: {line}")
        at, near = to + 1, True
        count += 1
print(f"{count} lines")
