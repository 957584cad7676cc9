#!/usr/bin/env python3
# ===- refuses.py - A command refuses bad input as every tool should -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""refuses.py [--usage] TEXT COMMAND...

The command must end with exit code 2, say exactly one error, which holds TEXT, print nothing else but the place, and leave
none of the files that its options name (-o FILE, --report=FILE, --output=FILE, --output-dir=DIR, --profile=FILE).
--usage: there is nothing but that one line.
"""
import os
import re
import subprocess
import sys

usage = sys.argv[1] == "--usage"
text, *command = sys.argv[2 if usage else 1:]
outputs = [b for a, b in zip(command, command[1:]) if a == "-o"]
outputs += re.findall(r"^--(?:report|output|output-dir|profile)=(.*)$", "\n".join(command), re.M)
before = {file for file in outputs if os.path.exists(file)}
done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
lines = done.stderr.splitlines()
errors = [line for line in lines if re.search(r"(^|: )error: ", line)]
problem = None
if done.returncode != 2:
    problem = f"exit code {done.returncode}"
elif len(errors) != 1:
    problem = f"{len(errors)} errors"
elif text not in errors[0]:
    problem = f"the error does not hold '{text}'"
elif usage and len(lines) != 1:
    problem = f"{len(lines)} lines"
elif done.stdout:
    problem = f"printed {done.stdout[:200]!r}"
# What stood there before stays.
elif left := [file for file in outputs if os.path.exists(file) != (file in before)]:
    problem = f"left, or took away, {left}"
if problem:
    sys.exit(f"{' '.join(command)}: {problem}\n{done.stderr[:2000]}")
