# ===- _archive.py - A graph as the bytes of an archive ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the archive that the importer reads (the layout of ``torch.export.save``), without the weights.

Uses ``torch._export.serde``, which is private: ``_versions.py`` says which versions of torch are supported.
"""
from __future__ import annotations

import ctypes
import io
import json
import pathlib
import re
import zipfile
from collections.abc import Mapping
from typing import Any

import torch
from torch._export.serde import serialize as serde
from torch.export.graph_signature import ExportGraphSignature
from torch.utils._python_dispatch import _disable_current_modes

from . import _errors, _expressions, _places

# The members of an archive with one model are in a folder, whose name has no meaning.
_ROOT = "model"
_CONFIG = f"{_ROOT}/data/constants/model_constants_config.json"
# A constant time stamp for zip members, so that equal graphs give equal bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def copy_graph(graph: torch.fx.Graph) -> torch.fx.Graph:
    """A copy of the graph whose nodes keep their names."""
    copy = torch.fx.Graph()
    copy.output(copy.graph_copy(graph, {}))
    for old, new in zip(graph.nodes, copy.nodes):
        new.name = old.name
    return copy


def strip_metadata(graph: torch.fx.Graph) -> None:
    """Removes metadata that an archive does not need: keeps the values, and the innermost line of the user's code.

    The rest contains addresses of objects, which differ from process to process.
    """
    for node in graph.nodes:
        kept = {key: node.meta[key] for key in ("val",) if key in node.meta}
        file, line = _places.place_of(node)
        if file:
            kept["stack_trace"] = f'  File "{file}", line {line}\n'
        node.meta = kept


class UnrunGraph(torch.fx.GraphModule):
    """A graph that is serialized but never called, so no Python code is generated for it. Only torch's serializer asks
    for that text, for a message that is not shown."""

    def recompile(self) -> Any:
        return None

    def print_readable(self, *args: Any, **kwargs: Any) -> str:
        return ""


def write_archive(graph_module: torch.fx.GraphModule, signature: ExportGraphSignature,
                  constants: Mapping[str, torch.Tensor], ranges: Mapping[Any, Any], guards: list[str] | None = None,
                  names: Mapping[Any, Any] | None = None, symbols: Mapping[str, str] | None = None) -> bytes:
    """The archive of a graph. ``constants``: the tensors that it contains, by name; ``ranges``: ranges of its symbols;
    ``names``: symbols that replace expressions; ``symbols``: new names of symbols. Raises UnsupportedOpError."""
    try:
        module = serde.GraphModuleSerializer(signature, []).serialize(graph_module)
    except serde.SerializeError as error:
        raise _refusal(graph_module, error) from error
    if names:
        _name_sizes(module.graph, graph_module, names)
    program = serde.ExportedProgram(  # type: ignore[attr-defined]
        graph_module=module, opset_version={"aten": torch._C._get_max_operator_version()},
        range_constraints=serde.serialize_range_constraints(dict(ranges)),
        schema_version=serde.SchemaVersion(*serde.SCHEMA_VERSION),  # type: ignore[attr-defined]
        verifiers=["ATEN"], torch_version=torch.__version__,
        guards_code=guards or [])
    blob = io.BytesIO()
    with zipfile.ZipFile(blob, "w") as archive:
        def add(name: str, data: bytes | str) -> None:
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)

        add(f"{_ROOT}/models/model.json", _rename_symbols(program, symbols or {}))
        config = {}
        for index, (name, tensor) in enumerate(constants.items()):
            with _disable_current_modes():  # the constants of a graph that is traced now are real
                value = tensor.detach().cpu().contiguous()
            add(f"{_ROOT}/data/constants/tensor_{index}", _bytes_of(value))
            config[name] = {"path_name": f"tensor_{index}", "is_param": False, "use_pickle": False,
                            "tensor_meta": serde._dataclass_to_dict(  # type: ignore[no-untyped-call]
                                serde.serialize_tensor_meta(value))}
        if config:
            add(_CONFIG, json.dumps({"config": config}, cls=serde.EnumEncoder))
        for name, text in (("byteorder", "little"), ("archive_format", "pt2"), ("archive_version", "0")):
            add(f"{_ROOT}/{name}", text)
    return blob.getvalue()


def _rename_symbols(program: Any, symbols: Mapping[str, str]) -> bytes:
    """The JSON of a program with renamed symbols. In the text of an expression, each symbol is a constructor call."""
    program.range_constraints = {symbols.get(name, name): bounds for name, bounds in program.range_constraints.items()}
    data: bytes = serde._to_json_bytes(program)
    return re.sub(rb"Symbol\('(\w+)'", lambda m: b"Symbol('%b'" % symbols.get(m[1].decode(), m[1].decode()).encode(), data)


def _refusal(graph_module: torch.fx.GraphModule, error: Exception) -> _errors.CompileError:
    """The error for a failure of torch's serializer, with the op that caused it."""
    reason = str(error.__cause__ or error).strip().split("\n")[0]
    found = re.match(r"Failed serializing node (\S+) in graph", str(error))
    for node in graph_module.graph.nodes:
        if found is not None and node.name == found[1]:
            op = _errors.UnsupportedOp(f"{node.target}: an archive cannot express it: {reason}", node.name, *_places.place_of(node))
            return _errors.UnsupportedOpError(f"unsupported op {op}", [op])
    return _errors.CompileError(f"torch cannot write the graph: {reason}")


def _name_sizes(graph: Any, graph_module: torch.fx.GraphModule, names: Mapping[Any, Any]) -> None:
    """Replaces expressions by symbols, in the form in which torch writes them."""
    texts = {serde._print_sympy(expr): serde._print_sympy(_expressions.replace(expr, names))
             for node in graph_module.graph.nodes for expr in _expressions.of_value(node.meta.get("val"))}
    sizes = list(graph.sym_int_values.values())
    for meta in graph.tensor_values.values():
        sizes += [*meta.sizes, *meta.strides, meta.storage_offset]
    for size in sizes:
        if size.type == "as_expr":
            size.as_expr.expr_str = texts.get(size.as_expr.expr_str, size.as_expr.expr_str)


# The names of element types in .safetensors files.
_SAFE = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64", torch.int32: "I32",
         torch.int64: "I64", torch.bool: "BOOL", torch.int8: "I8", torch.uint8: "U8", torch.float8_e4m3fn: "F8_E4M3",
         torch.float8_e5m2: "F8_E5M2", torch.int16: "I16", torch.uint16: "U16", torch.uint32: "U32"}


def write_safetensors(path: pathlib.Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Writes a .safetensors file: a header with the offset of each tensor, then their elements."""
    header, end = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": _SAFE[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(_bytes_of(tensor.detach().cpu().contiguous()))


def _bytes_of(tensor: torch.Tensor) -> bytes:
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()) if tensor.numel() else b""
