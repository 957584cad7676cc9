#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws an e-graph in the egraph-serialize format: one box per class, one node per e-node.
Classes of a scope are in a separate box.

usage: egraph_to_dot.py graph.json [choices.json] > graph.dot

With the choices of an extractor (luminal-extract, or any file that maps classes to nodes under "choices"), the nodes
taken are filled.
"""

import json
import sys


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def fail(text):
    print(f"egraph-to-dot: error: {text}", file=sys.stderr)
    sys.exit(2)


def read(path, what, draw):
    try:
        with open(path, encoding="utf-8") as f:
            return draw(json.load(f))
    except OSError as e:
        fail(f"{path}: {e.strerror}")
    except (ValueError, RecursionError) as e:
        fail(f"{path}: is not valid JSON: {e}")
    except (AttributeError, KeyError, TypeError) as e:
        fail(f"{path}: holds no {what}: {type(e).__name__}: {e}")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    # Works for any name and locale.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    chosen = set()
    if len(sys.argv) == 3:
        chosen = read(sys.argv[2], "choices", lambda file: set(file["choices"].values()))
    print("\n".join(read(sys.argv[1], "e-graph", lambda graph: list(drawing(graph, chosen)))))


def drawing(graph, chosen):
    """The lines: all of them before any is written."""
    classes = {}
    for name, node in graph["nodes"].items():
        classes.setdefault(node["eclass"], []).append(name)
    ids = {name: f"n{i}" for i, name in enumerate(graph["nodes"])}
    box = {c: f"cluster_{i}" for i, c in enumerate(classes)}
    roots = set(graph.get("root_eclasses", []))
    yield "digraph egraph {\n  compound=true; node [shape=box];"
    data = graph.get("class_data", {})
    # A scope is a path of names: one box per name, which holds the scopes below
    # it.
    path = {c: tuple(filter(None, data.get(c, {}).get("scope", "").split("/"))) for c in classes}
    inside = ()
    num_scopes = 0
    for c, members in sorted(classes.items(), key=lambda item: path[item[0]]):
        while path[c][: len(inside)] != inside:
            yield "  }"
            inside = inside[:-1]
        while inside != path[c]:
            inside = path[c][: len(inside) + 1]
            runs = f" ({data[c]['trips']} runs)" if inside == path[c] and "trips" in data[c] else ""
            yield f"  subgraph cluster_scope_{num_scopes} {{"
            yield f"    label={quote(inside[-1] + runs)}; style=solid;"
            num_scopes += 1
        kind = data.get(c, {}).get("type", "")
        yield f"  subgraph {box[c]} {{"
        yield f"    label={quote((c + ' ' + kind).strip())}; style={'bold' if c in roots else 'dashed'};"
        for name in members:
            style = ", style=filled" if name in chosen else ""
            yield f"    {ids[name]} [label={quote(graph['nodes'][name]['op'])}{style}];"
        yield "  }"
    for _ in inside:
        yield "  }"
    for name, node in graph["nodes"].items():
        for i, child in enumerate(node.get("children", [])):
            # An edge to a class ends at its border; one into the node's own class at a node.
            target = graph["nodes"][child]["eclass"]
            head = f", lhead={box[target]}" if target != node["eclass"] else ""
            yield f"  {ids[name]} -> {ids[classes[target][0]]} [label={i}{head}];"
    yield "}"


if __name__ == "__main__":
    main()
