# ===- blocks.py - The files that a page shows ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: blocks.py PAGE.md DIRECTORY: writes the blocks that name a file into the directory.
import pathlib
import re
import sys

for name, text in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", pathlib.Path(sys.argv[1]).read_text(), re.M | re.S):
    (pathlib.Path(sys.argv[2]) / name).write_text(text)
