# ===- check-forms.py - A rule of many forms is one rule in reports ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: check-forms.py REPORT NAIVE: the rules of pdl-ranges.mlir, saturated incrementally and not.
import json
import sys

given, naive = (json.load(open(path))["functions"] for path in sys.argv[1:])
expected = {
    "all": {"All": 4},
    "all_not": {},
    "rest": {"Rest": 5, "RestOfTwo": 2},
    "same": {"Same": 2},
    "fewer": {"Fewer": 5},
    "registered": {"Registered": 2},
}
for function, other in zip(given, naive):
    names = [rule["name"] for rule in function["rules"]]
    assert len(names) == len(set(names)) == 13, names
    assert names == [rule["name"] for rule in other["rules"]]
    for key in ("name", "stop", "nodes", "classes"):
        assert function[key] == other[key], (key, function["name"])
    useful = {rule["name"]: rule["useful"] for rule in function["rules"]}
    assert useful == {rule["name"]: rule["useful"] for rule in other["rules"]}, function["name"]
    matches = {rule["name"]: rule["matches"] for rule in function["rules"] if rule["matches"]}
    assert matches == expected.get(function["name"], matches), (function["name"], matches)
