# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the choices of an extractor against the e-graph, and their cost against the compiler's own where a report is given."""

import json
import sys

graph, choices = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
nodes, taken = graph["nodes"], choices["choices"]
done, total = {}, 0.0


def visit(eclass):
    """The cost of a class as a tree; an open one below itself is a cycle."""
    assert done.get(eclass) != "open", "a cycle"
    if eclass not in done:
        done[eclass] = "open"
        node = nodes[taken[eclass]]
        assert node["eclass"] == eclass
        done[eclass] = node["cost"] + sum(visit(nodes[child]["eclass"]) for child in node["children"])
    return done[eclass]


tree = sum(visit(root) for root in set(graph["root_eclasses"]))
assert set(done) == set(taken), "choices for unneeded classes, or none for needed ones"
dag = sum(nodes[name]["cost"] for name in taken.values())
assert abs(tree - choices["tree_cost"]) < 1e-9 and abs(dag - choices["dag_cost"]) < 1e-9
if len(sys.argv) == 4:
    report = json.load(open(sys.argv[3], encoding="utf-8"))
    assert abs(dag - sum(f["extraction"]["cost"] for f in report["functions"])) < 1e-9
