#!/usr/bin/env python3
"""Draws an e-graph in the egraph-serialize form: one box a class, one node a node.
Classes of a scope stand in a box of their own.

usage: egraph-to-dot.py graph.json [choices.json] > graph.dot

With the choices of an extractor (luminal-extract, or any file that maps classes to nodes under "choices"), the nodes
taken are filled.
"""

import json
import sys


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    # Whatever a name holds and the locale is.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    with open(sys.argv[1], encoding="utf-8") as f:
        graph = json.load(f)
    chosen = set()
    if len(sys.argv) == 3:
        with open(sys.argv[2], encoding="utf-8") as f:
            chosen = set(json.load(f)["choices"].values())
    classes = {}
    for name, node in graph["nodes"].items():
        classes.setdefault(node["eclass"], []).append(name)
    ids = {name: f"n{i}" for i, name in enumerate(graph["nodes"])}
    box = {c: f"cluster_{i}" for i, c in enumerate(classes)}
    roots = set(graph.get("root_eclasses", []))
    print("digraph egraph {\n  compound=true; node [shape=box];")
    data = graph.get("class_data", {})
    # A scope is a path of names: one box a name, which holds what begins with it.
    path = {c: tuple(filter(None, data.get(c, {}).get("scope", "").split("/"))) for c in classes}
    inside = ()
    num_scopes = 0
    for c, members in sorted(classes.items(), key=lambda item: path[item[0]]):
        while path[c][: len(inside)] != inside:
            print("  }")
            inside = inside[:-1]
        while inside != path[c]:
            inside = path[c][: len(inside) + 1]
            runs = f" ({data[c]['trips']} runs)" if inside == path[c] and "trips" in data[c] else ""
            print(f"  subgraph cluster_scope_{num_scopes} {{")
            print(f"    label={quote(inside[-1] + runs)}; style=solid;")
            num_scopes += 1
        kind = data.get(c, {}).get("type", "")
        print(f"  subgraph {box[c]} {{")
        print(f"    label={quote((c + ' ' + kind).strip())}; style={'bold' if c in roots else 'dashed'};")
        for name in members:
            style = ", style=filled" if name in chosen else ""
            print(f"    {ids[name]} [label={quote(graph['nodes'][name]['op'])}{style}];")
        print("  }")
    for _ in inside:
        print("  }")
    for name, node in graph["nodes"].items():
        for i, child in enumerate(node.get("children", [])):
            # An edge to a class ends at its border; one into the node's own class at a node.
            target = graph["nodes"][child]["eclass"]
            head = f", lhead={box[target]}" if target != node["eclass"] else ""
            print(f"  {ids[name]} -> {ids[classes[target][0]]} [label={i}{head}];")
    print("}")


if __name__ == "__main__":
    main()
