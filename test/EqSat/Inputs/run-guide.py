# ===- run-guide.py - The commands of a guide, as they are written -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: run-guide.py GUIDE.md DIRECTORY: writes the blocks that name a file into the directory, and runs those of a shell
# there, in their order. LUMINAL is the source tree.
import os
import pathlib
import re
import subprocess
import sys

guide, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
directory.mkdir(parents=True, exist_ok=True)
environment = dict(os.environ, LUMINAL=str(guide.parent.parent))
for language, name, text in re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", guide.read_text(), re.M | re.S):
    if name:
        (directory / name).write_text(text)
    elif language == "sh":
        subprocess.run(["sh", "-exc", text], cwd=directory, env=environment, check=True, stderr=subprocess.STDOUT)
