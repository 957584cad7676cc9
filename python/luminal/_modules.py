# ===- _modules.py - The user's names of the parts of a graph ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which module of the user's each node of a graph is of: a table beside programs and artifacts.

It is in no program and in no key of the cache, so models with equal graphs share one artifact, and each shows its own names.
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

# What the compiler and the runtime call the table (luminal/Support/ModulePaths.h).
_MEMBER, _PLACES = "modules.json", "places.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
# Dynamo's names of modules are expressions: L['self']._modules['layers'][0], G['model'].head.
_STEP = re.compile(r"\._(?:modules|parameters|buffers)\b|(?:__)?getattr(?:__)?\([^,]*, *'([^']*)'\)|\.(\w+)|\[(\d+)\]|\['([^']*)'\]")
_ROOT = re.compile(r"^[LG]\[['\"](\w+)['\"]\]")
_HIDDEN = {"__closure__", "cell_contents", "__self__", "__wrapped__", "__func__"}


# In the metadata of nodes: the path, where the stack of modules alone does not tell it.
_PATH = "luminal_module"


class Root(NamedTuple):
    """The function that is compiled, or the module whose method it is."""

    argument: str
    """Its name for the module; empty where there is none."""
    name: str


def _path(text: str, argument: str = "self") -> str:
    """The path as the user would write it, from the module that is ``argument`` to the function."""
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
    """The path of its module, of the model itself its class; empty where PyTorch does not tell."""
    if _PATH in node.meta:
        return node.meta[_PATH]  # type: ignore[no-any-return]
    stack = node.meta.get("nn_module_stack")
    if not stack:
        # What a function computes itself has a place in its code; what a pass adds has none.
        return root.name if root is not None and node.meta.get("stack_trace") else ""
    path, kind = next(reversed(stack.values()))
    return _path(path, root.argument if root is not None else "self") or _class(kind)


def mark(graph: fx.Graph, root: Root | None) -> None:
    """Notes the paths at the nodes of dynamo's graph of ``root``, as copies and parts of it keep them."""
    if root is not None:
        for node in graph.nodes:
            if path := of_node(node, root):
                node.meta[_PATH] = path


def root_of_frame() -> Root | None:
    """Of the code that dynamo compiles now, of which it does not tell its backends."""
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
    # What follows a break of a graph is a function of its own.
    return Root("", re.sub(r"^torch_dynamo_resume_in_(.*)_at_\d+$", r"\1", code.co_name).strip("<>"))


class Table(dict[str, str]):
    """The paths by the names of nodes, and the lines of the user's code."""

    places: dict[str, str]
    """``file:line``, where that is not what an archive says, the innermost line."""


def table(nodes: Iterable[fx.Node]) -> Table:
    """The paths by the names of nodes. A node that was made without one is of the module of what it reads, else of what
    reads it."""
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
    """An artifact with the table; as it is where it has one, or the table is empty."""
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
    """An artifact without the table, for any model with its graph."""
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
    """An archive with the table, for what the compiler tells of nodes."""
    data = _add(data, f"model/extra/{_MEMBER}", modules)
    return _add(data, f"model/extra/{_PLACES}", getattr(modules, "places", {}))
