#!/usr/bin/env python3
# ===- terminal.py - Runs a command whose standard error is a terminal -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""terminal.py COMMAND...: prints what the terminal shows, exits as the command does."""
import os
import pty
import subprocess
import sys

mine, theirs = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stderr=theirs)
os.close(theirs)
try:
    while data := os.read(mine, 4096):
        sys.stdout.write(data.decode().replace("\r\n", "\n"))
except OSError:
    pass  # The other end was closed.
sys.exit(process.wait())
