# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command in two processes at once; both must succeed."""
import subprocess
import sys

processes = [subprocess.Popen(sys.argv[1:]) for _ in range(2)]
sys.exit(max([p.wait() for p in processes], key=abs))
