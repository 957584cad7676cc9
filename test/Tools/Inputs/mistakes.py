# ===- mistakes.py - Each line of a list is a command that is refused ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: mistakes.py LIST. A line `COMMAND | TEXT` ends with exit code 2, and says one error that holds TEXT: nothing else
but the place that it shows and notes that name more places. No file is made, and nothing is printed that only we understand."""
import os
import re
import subprocess
import sys

lines = [line.rstrip("\n").split(" | ", 1) for line in open(sys.argv[1]) if re.match(r"luminal-\S+.* \| ", line)]
wrong, before = [], set(os.listdir())
for command, text in lines:
    done = subprocess.run(command.split(), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    errors = [line for line in done.stderr.splitlines() if re.search(r"(^|: )error: ", line)]
    problems = [f"exit code {done.returncode}"] * (done.returncode != 2)
    problems += [f"{len(errors)} errors"] * (len(errors) != 1)
    problems += [f"no '{text}'"] * (text not in "\n".join(errors))
    problems += ["output"] * bool(done.stdout) + ["a warning"] * ("warning: " in done.stderr)
    problems += [f"a path of no file of the user's: {path}" for path in re.findall(r"/proc/\S*|<eval_with_key>", done.stderr)]
    problems += [f"made {name}" for name in set(os.listdir()) - before]
    if problems:
        wrong.append(f"{command}: {'; '.join(problems)}\n{done.stderr[:600]}")
if wrong or len(lines) < 25:
    sys.exit("\n".join([*wrong, f"{len(wrong)} of {len(lines)} mistakes are not told well"]))
