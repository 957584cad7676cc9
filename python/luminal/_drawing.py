# ===- _drawing.py - luminal.graph ------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of a program as a graph, in boxes that are named for the user's modules: for Graphviz, as SVG, as a page."""
from __future__ import annotations

import io
import json
import math
import os
import pathlib
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _drawing_page, _errors, _profile, _tables

if TYPE_CHECKING:
    from ._artifact import Artifact
    from ._compile import CompiledModel
    from ._export import Source

_BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "u32": 4, "f16": 2, "bf16": 2, "i16": 2, "u16": 2}


class Node(NamedTuple):
    """A step of a call, an input or an output."""

    kind: str
    """"gemm", "gemm+reduce", "input", "output"."""
    label: str
    """Its name in its box."""
    name: str
    """The modules that it computes and its kind, as in reports and profiles."""
    boxes: tuple[str, ...] = ()
    """The modules that it is in, from the outermost on."""
    kernel: str = ""
    """The kernel or the library that does it."""
    weights: tuple[str, ...] = ()
    """Those that it reads; "prepared" stands for what was computed from weights before."""
    ms: float | None = None
    """Measured, where there is a profile."""


class Edge(NamedTuple):
    source: int
    target: int
    """Positions of nodes."""
    bytes: float
    """That one writes and the other reads; nan where they depend on a size of the call."""


class Box:
    """The nodes and boxes of a module, in the order of the program."""

    def __init__(self, name: str, path: tuple[str, ...] = ()) -> None:
        self.name, self.path = name, path
        self.entries: list[Box | int] = []

    def boxes(self) -> list[Box]:
        return [entry for entry in self.entries if isinstance(entry, Box)]

    def nodes(self) -> list[int]:
        """Those of its boxes too."""
        return [node for entry in self.entries for node in (entry.nodes() if isinstance(entry, Box) else [entry])]


def _tree(nodes: Sequence[Node]) -> Box:
    root = Box("")
    known = {(): root}
    for number, node in enumerate(nodes):
        for depth, name in enumerate(node.boxes):
            path = node.boxes[:depth + 1]
            if path not in known:
                known[path] = Box(name, path)
                known[node.boxes[:depth]].entries.append(known[path])
        known[node.boxes].entries.append(number)
    return root


def _opened(root: Box, most: int) -> set[tuple[str, ...]]:
    """The boxes that are open at first: level by level while at most so many entries are seen, then one of those that are left."""
    seen, found = len(root.entries), set[tuple[str, ...]]()
    level = root.boxes()
    while level:
        inside = sum(len(box.entries) for box in level)
        if seen + inside > most:
            level = next(([box] for box in level if 1 < len(box.entries) <= most - seen), [])
            inside = sum(len(box.entries) for box in level)
        seen += inside
        found.update(box.path for box in level)
        level = [inner for box in level for inner in box.boxes()]
    return found


def _path(module: str) -> tuple[str, ...]:
    """"layers.0.mlp" as ("layers.0", "mlp"): a list of modules is no box of its own."""
    parts: list[str] = []
    for part in module.split("."):
        if part.isdigit() and parts:
            parts[-1] += f".{part}"
        else:
            parts.append(part)
    return tuple(parts)


def _place(kind: str, modules: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The boxes of a step that computes these modules: what their paths begin with; and what it is called in there."""
    paths = list(dict.fromkeys(map(_path, modules)))
    common = tuple(os.path.commonprefix([list(path) for path in paths])) if paths else ()
    rest = [".".join(path[len(common):]) for path in paths if path != common]
    return common, f"{', '.join(rest)} ({kind})" if rest else kind


def _merge(nodes: Sequence[Node]) -> list[Node]:
    """A box of one node says no more than the node does with its name."""
    sizes: dict[tuple[str, ...], int] = {}
    for node in nodes:
        for depth in range(1, len(node.boxes) + 1):
            sizes[node.boxes[:depth]] = sizes.get(node.boxes[:depth], 0) + 1
    result = []
    for node in nodes:
        kept = next((depth for depth in range(len(node.boxes), 0, -1) if sizes[node.boxes[:depth]] > 1), 0)
        if dropped := ".".join(node.boxes[kept:]):
            label = f"{dropped} ({node.kind})" if node.label == node.kind else f"{dropped}: {node.label}"
            node = node._replace(label=label, boxes=node.boxes[:kept])
        result.append(node)
    return result


def _size(text: str) -> float:
    """Of an expression, where it is a number."""
    return float(text) if text.isdigit() else math.nan


def _tensor_size(spec: Mapping[str, Any]) -> float:
    return math.prod(map(_size, spec["shape"])) * _BYTES.get(spec["dtype"], 1)


def _read(manifest: Mapping[str, Any], modules: Mapping[str, str], steps: Iterable[_profile.Step]) -> tuple[list[Node], list[Edge]]:
    """The graph of a program in an artifact; ``steps``: as they are called in profiles, in their order."""
    nodes, edges = list[Node](), dict[tuple[int, int], float]()
    buffers, sizes = manifest["buffers"], dict[int, float]()
    writers: dict[int, list[int]] = {}
    weights = {spec["buffer"]: spec["name"] for spec in manifest["weights"] if "buffer" in spec}
    for i, buffer in enumerate(buffers):
        if "bytes" in buffer:
            sizes[i] = _size(buffer["bytes"])

    def whole(buffer: int) -> int:
        while buffers[buffer]["kind"] == "alias":
            buffer = buffers[buffer]["of"]
        return buffer

    def add_edges(buffer: int, target: int) -> None:
        for source in writers.get(whole(buffer), ()):
            edges[source, target] = edges.get((source, target), 0.0) + sizes.get(buffer, math.nan)

    for spec in manifest["inputs"]:
        kind = "state" if spec["state"] else "input"
        writers[spec["buffer"]], sizes[spec["buffer"]] = [len(nodes)], _tensor_size(spec)
        nodes.append(Node(kind, f"{kind} {spec['name']}", f"{kind} {spec['name']}"))
    sizes |= {spec["buffer"]: _tensor_size(spec) for spec in manifest["outputs"] if spec["buffer"] not in sizes}
    for step, named in zip(manifest["steps"], steps):
        number, kind = len(nodes), step["name"].partition(" ")[0]
        boxes, label = _place(kind, [modules[node] for node in step.get("nodes", ()) if node in modules])
        used = step["buffers"][:len(step["buffers"]) - step.get("workspace", 0)]
        read, written = used[:len(used) - step["results"]], used[len(used) - step["results"]:]
        for buffer in dict.fromkeys(read):
            add_edges(buffer, number)
        for buffer in written:
            own = whole(buffer)
            # What is written in parts is read as a whole.
            writers[own] = [number] if buffer == own else [*writers.get(own, ()), number]
        known = [weights.get(whole(buffer), "prepared" if buffers[whole(buffer)]["kind"] == "prepared" else "") for buffer in read]
        nodes.append(Node(kind, label, named.name, boxes, named.kernel, tuple(filter(None, dict.fromkeys(known)))))
    for spec in manifest["outputs"]:
        add_edges(spec["buffer"], len(nodes))
        nodes.append(Node("output", f"output {spec['name']}", f"output {spec['name']}"))
    return _merge(nodes), [Edge(source, target, count) for (source, target), count in sorted(edges.items())]


class Graph:
    """The steps of a call, and what flows between them. A notebook shows it as SVG, where a click opens and closes a box."""

    def __init__(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        self.nodes, self.edges, self.root = list(nodes), list(edges), _tree(nodes)
        """``root``: the boxes, one in the other."""

    def timed(self, profile: _profile.Profile) -> Graph:
        """The same with the times of a profile of the model. Steps of one name are told apart by their order."""
        times: dict[tuple[str, str], list[float]] = {}
        for step in profile.steps:
            times.setdefault((step.name, step.kernel), []).append(step.ms)
        nodes = [node._replace(ms=times[node.name, node.kernel].pop(0)) if times.get((node.name, node.kernel)) else node
                 for node in self.nodes]
        if any(times.values()):
            raise _errors.ArgumentError("the profile is of another model: it has other steps")
        return Graph(nodes, self.edges)

    def head(self) -> str:
        count = sum(node.kind not in _drawing_page.ENDS for node in self.nodes)
        times = [node.ms for node in self.nodes if node.ms is not None]
        return _tables.count(count, "step") + (f", {sum(times):.4f} ms" if times else "")

    def __repr__(self) -> str:
        return f"<graph: {self.head()}>"

    def dot(self) -> str:
        """The text for Graphviz (``dot -Tsvg``): all nodes, in a cluster for each module."""
        return _drawing_page.dot(self)

    def svg(self, most: int = _drawing_page.MOST) -> str:
        """The drawing with boxes opened, level by level, while at most so many nodes and boxes are seen."""
        return _drawing_page.svg(self, _opened(self.root, most))

    def html(self, most: int = _drawing_page.MOST) -> str:
        """A page that needs no other file: the drawing, where a click opens and closes a box."""
        return _drawing_page.page(self, _opened(self.root, most))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page (``.html``), the drawing (``.svg``), or the text for Graphviz (``.dot``)."""
        forms = {".html": self.html, ".svg": self.svg, ".dot": self.dot}
        suffix = pathlib.Path(path).suffix
        if suffix not in forms:
            raise _errors.ArgumentError(f"{os.fspath(path)}: a graph is written as .html, .svg or .dot")
        pathlib.Path(path).write_text(forms[suffix](), encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return _drawing_page.part(self, _opened(self.root, _drawing_page.MOST))


def of_artifact(data: bytes, artifact: Artifact) -> Graph:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        modules = json.loads(archive.read("modules.json")) if "modules.json" in archive.namelist() else {}
    return Graph(*_read(manifest, modules, _profile.steps(artifact)))


def graph(model: Source | CompiledModel, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None, *,
          profile: _profile.Profile | None = None, dynamic_shapes: Any = None, **options: Any) -> Graph:
    """The steps of a call of ``model`` as a graph: modules are boxes, edges say how many bytes flow.

    ``model``: what ``luminal.compile`` returned, or what it takes, with its arguments and options. ``profile``: of that
    model, whose times are shown. Raises ArgumentError for a profile of another one, and what ``luminal.compile`` raises.
    """
    from ._compile import CompiledModel, compile

    if not isinstance(model, CompiledModel):
        model = compile(model, args, kwargs, dynamic_shapes=dynamic_shapes, **options)
    elif args or kwargs or options or dynamic_shapes is not None:
        raise _errors.ArgumentError("the model is compiled: arguments and options are for one that is not")
    found = model.graph()
    return found if profile is None else found.timed(profile)
