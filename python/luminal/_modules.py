# ===- _modules.py - The user's names of the parts of a graph ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The user's module for each node of a graph, as a table beside programs and artifacts.

The table is part of neither programs nor cache keys, so models with equal graphs share one artifact, and each shows its
own names.
"""
from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _places

if TYPE_CHECKING:
    from torch import fx

# The names of the members with these tables (luminal/Support/ModulePaths.h).
_MEMBER, _PLACES = "modules.json", "places.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
# Dynamo names modules by expressions: L['self']._modules['layers'][0], G['model'].head.
_STEP = re.compile(r"\._(?:modules|parameters|buffers)\b|(?:__)?getattr(?:__)?\([^,]*, *'([^']*)'\)|\.(\w+)|\[(\d+)\]|\['([^']*)'\]")
_ROOT = re.compile(r"^[LG]\[['\"](\w+)['\"]\]")
_HIDDEN = {"__closure__", "cell_contents", "__self__", "__wrapped__", "__func__"}


# Metadata key of the path of a node, if the stack of modules alone does not determine it.
_PATH = "luminal_module"


class Root(NamedTuple):
    """The compiled function, or the module whose method it is."""

    argument: str
    """The name of the argument that is the module; empty if there is none."""
    name: str


def _path(text: str, argument: str = "self") -> str:
    """The path as the user would write it, starting from the module that is ``argument``."""
    text = text.split("@")[0]  # calls of one module after the first are numbered
    root = _ROOT.match(text)
    if root is None and "[" not in text:
        return text
    parts = [root[1]] if root is not None and root[1] != argument else []
    rest = text[root.end():] if root is not None else text
    hidden = False
    for found in _STEP.finditer(rest):
        part = next((group for group in found.groups() if group is not None), None)
        if part is None or part in _HIDDEN or (hidden and part.isdigit()):
            hidden = part == "__closure__"
            continue
        hidden = False
        parts.append(part)
    return ".".join(parts)


def _class(kind: Any) -> str:
    return (kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]


def of_node(node: fx.Node, root: Root | None = None) -> str:
    """The path of the node's module, or the class of the model itself; empty if unknown."""
    if _PATH in node.meta:
        return node.meta[_PATH]  # type: ignore[no-any-return]
    stack = node.meta.get("nn_module_stack")
    if not stack:
        # An op of the function itself has a location in its code; an op added by a pass has none.
        return root.name if root is not None and node.meta.get("stack_trace") else ""
    path, kind = next(reversed(stack.values()))
    return _path(path, root.argument if root is not None else "self") or _class(kind)


def mark(graph: fx.Graph, root: Root | None) -> None:
    """Records the paths of the nodes of ``root`` in their metadata, which copies and parts of the graph keep."""
    if root is not None:
        for node in graph.nodes:
            if path := of_node(node, root):
                node.meta[_PATH] = path


def root_of_frame() -> Root | None:
    """The root of the frame that dynamo is compiling, which it does not pass to backends."""
    import torch
    from torch._dynamo.symbolic_convert import InstructionTranslator
    try:
        tx = InstructionTranslator.current_tx()
        code, values = tx.f_code, tx.f_locals
    except (AttributeError, LookupError):
        return None
    for argument in (*code.co_varnames[:min(code.co_argcount, 1)], "self"):
        if isinstance(module := values.get(argument), torch.nn.Module):
            return Root(argument, type(module).__name__)
    # The code after a graph break is a separate function.
    return Root("", re.sub(r"^torch_dynamo_resume_in_(.*)_at_\d+$", r"\1", code.co_name).strip("<>"))


class Table(dict[str, str]):
    """Maps names of nodes to paths of modules, with the lines of the user's code."""

    places: dict[str, str]
    """``file:line``, if that differs from the innermost line, which the archive has."""


def table(nodes: Iterable[fx.Node]) -> Table:
    """The paths by the names of nodes. A node without a path gets that of a node that it reads or, failing that, of one
    that reads it."""
    nodes = [node for node in nodes if node.op not in ("placeholder", "output")]
    found = {node: of_node(node) for node in nodes}
    for order, near in ((nodes, "all_input_nodes"), (reversed(nodes), "users")):
        for node in order:
            if not found[node]:
                found[node] = next((path for other in getattr(node, near) if (path := found.get(other))), "")
    result = Table({node.name: path for node, path in found.items() if path})
    result.places = {node.name: f"{place[0]}:{place[1]}" for node in nodes
                     if (place := _places.user_place_of(node)) != _places.place_of(node)}
    return result


def put(data: bytes, modules: Mapping[str, str]) -> bytes:
    """Adds the table to an artifact, unless the artifact has one or the table is empty."""
    return _add(data, _MEMBER, modules)


def _add(data: bytes, name: str, entries: Mapping[str, str]) -> bytes:
    if not entries:
        return data
    blob = io.BytesIO(data)
    with zipfile.ZipFile(blob, "a") as archive:
        if name in archive.namelist():
            return data
        archive.writestr(zipfile.ZipInfo(name, _EPOCH), json.dumps(entries))
    return blob.getvalue()


def without(data: bytes) -> bytes:
    """The artifact without the table, which fits any model with the same graph."""
    blob = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(blob, "w") as new:
        for info in old.infolist():
            if info.filename != _MEMBER:
                new.writestr(info, old.read(info))
    return blob.getvalue()


def digest(modules: Mapping[str, str]) -> str:
    places = getattr(modules, "places", {})
    return hashlib.sha256(json.dumps([sorted(modules.items()), sorted(places.items())]).encode()).hexdigest()[:16]


def put_in_archive(data: bytes, modules: Mapping[str, str]) -> bytes:
    """Adds the table to an archive, for the compiler's messages about nodes."""
    data = _add(data, f"model/extra/{_MEMBER}", modules)
    return _add(data, f"model/extra/{_PLACES}", getattr(modules, "places", {}))
