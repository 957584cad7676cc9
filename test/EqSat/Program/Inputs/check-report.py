# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the JSON report of eqsat-saturate to itself and to its remarks.

usage: check-report.py REPORT REMARKS
"""

import json
import re
import sys

RULE = {
    "name": str, "location": str, "promise": str, "stratum": str, "dtypes": list, "admitted": bool,
    "matches": int, "useful": int, "new_nodes": int, "unions": int, "refused": int, "idle": bool, "bans": int,
    "undone": int, "match_milliseconds": (int, float), "apply_milliseconds": (int, float), "extracted_ops": int, "used_steps": int,
}
FUNCTION = {
    "name": str, "stop": str, "nodes": int, "classes": int, "undone_rounds": int, "alternatives_rest": bool, "peak_bytes": int,
    "milliseconds": dict, "iterations": list, "rules": list, "extraction": dict,
}
REPORT = {"precision": str, "max_ulps": (int, float), "seed": int, "functions": list}
ITERATION = {"stratum": str, "nodes": int, "classes": int, "useful": int}
STRATA = ["canonical", "recovery", "lowering", "alternatives"]


def check(where, value, fields):
    assert set(value) == set(fields), f"{where}: {sorted(set(value) ^ set(fields))}"
    for name, kind in fields.items():
        isOfKind = isinstance(value[name], kind) and isinstance(value[name], bool) == (kind is bool)
        assert isOfKind, f"{where}.{name}: {value[name]!r}"


report = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
check("report", report, REPORT)
(function,) = report["functions"]
check("function", function, FUNCTION)
times = function["milliseconds"]
assert set(times) == {"total", "match", "apply", "rebuild", "extract"}
assert all(t >= 0 for t in times.values())
assert times["match"] + times["apply"] + times["rebuild"] <= times["total"] * 1.01
rounds, rules = function["iterations"], function["rules"]
assert rounds and rules
for i, r in enumerate(rounds):
    check("iteration", r, ITERATION)
    assert 0 < r["classes"] <= r["nodes"]
assert [STRATA.index(r["stratum"]) for r in rounds] == sorted(STRATA.index(r["stratum"]) for r in rounds)
assert function["nodes"] == rounds[-1]["nodes"] and function["classes"] == rounds[-1]["classes"]
assert function["stop"] == "saturated" and rounds[-1]["useful"] == 0
assert function["peak_bytes"] > 16 * function["nodes"]
for r in rules:
    check(r.get("name"), r, RULE)
    assert r["matches"] >= r["useful"] >= 0 and r["location"] and r["stratum"] in STRATA
    assert re.fullmatch(r"exact|finite|rounding\([0-9.e+-]+(\.\.[0-9.e+]+)?\)", r["promise"])
    assert r["admitted"] or r["matches"] == 0
    assert r["useful"] or not r["new_nodes"] + r["unions"] + r["extracted_ops"]
    assert r["unions"] or not r["extracted_ops"]
assert len({r["name"] for r in rules}) == len(rules)
# Every useful match belongs to a rule and a round.
assert sum(r["useful"] for r in rules) == sum(r["useful"] for r in rounds) > 0
extraction = function["extraction"]
assert set(extraction) == {"cost", "ops"} and extraction["ops"] >= sum(r["extracted_ops"] for r in rules) > 0
# The remarks say the same.
for name, value in [("nodes", function["nodes"]), ("classes", function["classes"]), ("stop", function["stop"]),
                    ("ops", extraction["ops"])]:
    assert re.search(rf"\b{name}={value}\b", text), f"{name}={value} is in no remark"
for r in rules:
    line = [x for x in text.splitlines() if re.search(rf"rule={r['name']}(,|$|\s)", x)]
    told = r["matches"] != 0
    assert len(line) <= 1 and (line or not told), f"{len(line)} remarks of {r['name']}"
    for field in ("matches", "useful", "unions", "refused", "bans") if line else ():
        assert re.search(rf"\b{field}={r[field]}\b", line[0]), f"{r['name']}: {field}={r[field]}: {line[0]}"
print(f"{len(rules)} rules, {len(rounds)} rounds")
