# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command N times; what it prints must be the same each time."""
import subprocess
import sys

outputs = {subprocess.run(sys.argv[2:], capture_output=True, check=True).stderr for _ in range(int(sys.argv[1]))}
print(f"{len(outputs)} outputs, remarks in the first: {min(outputs).count(b'remark:')}")
