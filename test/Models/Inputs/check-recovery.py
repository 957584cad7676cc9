#!/usr/bin/env python3
# ===- check-recovery.py - The e-graph's part in a model's program --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-recovery.py REPORT RULE=N ...: RULE made at least N ops of the program that was extracted.

A program with only single-op lowerings would run as well, and fail here.
"""
import json
import sys

report = json.load(open(sys.argv[1]))
used = {rule["name"]: rule["ops"] for rule in report["used_rules"]}
(function,) = report["saturation"]["functions"]
strata = {rule["name"]: rule["stratum"] for rule in function["rules"]}
recovered = sum(ops for name, ops in used.items() if strata[name] == "recovery")
print(f"{recovered} of {sum(used.values())} ops by rules of recovery: {used}")
assert function["stop"] == "saturated", function["stop"]
missing = [argument for argument in sys.argv[2:]
           if used.get(argument.partition("=")[0], 0) < int(argument.partition("=")[2])]
sys.exit(f"too few ops by {missing}" if missing or not recovered else 0)
