#!/usr/bin/env python3
# ===- check-report.py - What a report of luminal-compile must hold ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-report.py REPORT [seed=N] [rule=NAME ...]: NAME fired. Prints the rules whose ops were extracted, with their number,
then those that the program was found by and that made none of its ops."""
import json
import sys

report = json.load(open(sys.argv[1]))
options = [argument.split("=") for argument in sys.argv[2:]]
names = [phase["name"] for phase in report["phases"]]
phases = ["imported", "rolled", "saturated", "fused", "scheduled", "lowered", "binary", "artifact"]
assert names == phases[:len(names)] and len(names) >= 3, names
assert report["producer"] and report["target"] == "cpu" and report["arch"] == "native", report
assert abs(report["seconds"] - sum(phase["seconds"] for phase in report["phases"])) < 1e-6, report["seconds"]
if "artifact" in names:
    assert report["steps"] == sum(kernel["steps"] for kernel in report["kernels"]) > 0, report["kernels"]
(function,) = report["saturation"]["functions"]
assert function["stop"] == "saturated" and function["nodes"] >= function["classes"] > 0, function["stop"]
used = {rule["name"]: rule["extracted_ops"] for rule in function["rules"] if rule["extracted_ops"]}
steps = {rule["name"]: rule["used_steps"] for rule in function["rules"] if rule["used_steps"] or rule["extracted_ops"]}
assert steps == {rule["name"]: rule["steps"] for rule in report["used_rules"]}, (steps, report["used_rules"])
assert used == {rule["name"]: rule["ops"] for rule in report["used_rules"] if rule["ops"]}, (used, report["used_rules"])
fired = {rule["name"] for rule in function["rules"] if rule["useful"]}
for key, value in options:
    assert key == "rule" or report[key] == int(value), report[key]
    assert key != "rule" or value in fired, fired
for name, ops in used.items():
    print(name, ops)
for name in steps.keys() - used.keys():
    print("by", name)
