# ===- list-schedules.py - The schedules that pages show -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: list-schedules.py DOCS: a module with the schedule of each example on the pages as an attribute.
import pathlib
import re
import sys

for page in sorted(pathlib.Path(sys.argv[1]).glob("*.md")):
    for block in re.findall(r"^```mlir.*?^```$", page.read_text(), re.M | re.S):
        for loops in re.findall(r"\bloops<[^<>]*>", block):
            text = re.sub(r"\s+", " ", loops)
            print(f'module attributes {{shown.page = "{page.name}", shown.schedule = #llir.{text}}} {{}}')
