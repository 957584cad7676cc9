# ===- run-guide.py - The commands of a page, as they are written --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: run-guide.py PAGE.md DIRECTORY: writes the blocks that name a file into the directory, and runs those of a shell
# there, in their order. LUMINAL is the source tree, python3 the tests' Python. Programs of LLVM have the names that Debian's
# packages give them (mlir-pdll-22).
import os
import pathlib
import re
import subprocess
import sys

page, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
programs = directory / "bin"
programs.mkdir(parents=True, exist_ok=True)
(programs / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
(programs / "python3").chmod(0o755)
paths = [path for path in os.environ["PATH"].split(os.pathsep) if "/llvm" not in path]
environment = dict(os.environ, LUMINAL=str(page.parent.parent),
                   PATH=f"{programs.resolve()}{os.pathsep}{os.pathsep.join(paths)}")
for language, name, text in re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", page.read_text(), re.M | re.S):
    if name:
        (directory / name).write_text(text)
    elif language == "sh":
        subprocess.run(["sh", "-exc", text], cwd=directory, env=environment, check=True, stderr=subprocess.STDOUT)
