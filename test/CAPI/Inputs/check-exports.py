#!/usr/bin/env python3
# ===- check-exports.py - A library exports what a header declares -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import subprocess
import sys

text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.S)
declared = set(re.findall(r"\b(luminal_\w+)\s*\(", text))
listed = subprocess.run(["llvm-nm", "-D", "--defined-only", sys.argv[2]], capture_output=True, text=True, check=True)
exported = {line.split()[-1] for line in listed.stdout.splitlines()}
if declared != exported:
    sys.exit(f"declared only: {sorted(declared - exported)}, exported only: {sorted(exported - declared)}")
