# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-shown.py PAGE SECTION FOLDER: every line of a section's blocks of code is in a file of the folder, but for its indentation."""
import pathlib
import re
import sys

page, section, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
there = {line.strip() for path in folder.iterdir() for line in path.read_text().splitlines()}
text = page.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
shown = [line.strip() for _, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S) for line in block.splitlines()]
missing = [line for line in shown if line not in there]
assert not missing, f"no file of {folder} has {missing}"
print(f"{len(shown)} lines")
