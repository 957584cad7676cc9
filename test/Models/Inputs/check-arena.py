# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-arena.py MODEL.pt2 LIMIT: the arena is at most LIMIT times what is live at once (luminal-compile in PATH)."""
import re
import subprocess
import sys

model, limit = sys.argv[1], float(sys.argv[2])
command = ["luminal-compile", model, "--emit=lowered", "-o", "/dev/null", "--remarks-filter=llir-plan-memory"]
remarks = subprocess.run(command, check=True, capture_output=True, text=True).stderr
found = re.findall(r"\] arena \|.*Function=main \|.*at least=(\d+),.*\bbytes=(\d+)", remarks)
if len(found) != 1:
    sys.exit(f"{model}: expected one remark of an arena, found {len(found)}\n{remarks}")
least, total = map(int, found[0])
print(f"arena {total} bytes, at least {least}: {total / least:.3f}")
if not 0 < total <= limit * least:
    sys.exit(f"{model}: above {limit}")
