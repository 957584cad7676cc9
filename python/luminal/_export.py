# ===- _export.py - A model as an exported program --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the model given to ``luminal.compile``, and reports errors as one sentence with the user's line."""
from __future__ import annotations

import contextlib
import inspect
import logging
import os
import unittest.mock
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.export import ExportedProgram, _trace
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from . import _caches, _errors, _places

log = logging.getLogger("luminal")

Source = torch.nn.Module | Callable[..., Any] | ExportedProgram | str | os.PathLike[str]


class Function(torch.nn.Module):
    """A function as a module. It keeps the names of the arguments, which ``dynamic_shapes`` and the program's inputs use.
    """

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        super().__init__()
        self.function = function

        def forward(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        try:
            forward.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        except ValueError:  # a builtin function such as torch.sin
            forward.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
                *(inspect.Parameter(f"args_{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(len(args))),
                *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in kwargs)])
        self.forward = forward
        self.name: str = getattr(function, "__name__", type(function).__name__)

    def place(self) -> str:
        """The function's location as a stack trace, because torch.export only records lines of modules."""
        code = getattr(self.function, "__code__", None)
        return f'  File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_name}\n' if code else ""


def export(model: Source, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None,
           dynamic_shapes: Any) -> tuple[ExportedProgram, torch.nn.Module | None]:
    """The exported program, and the module that holds its weights; None if the program holds them.

    Raises ArgumentError for arguments that do not fit, CompileError for a model that cannot be traced.
    """
    if isinstance(model, ExportedProgram):
        return model, None
    if isinstance(model, (str, os.PathLike)):
        return load(os.fspath(model)), None
    _check_model(model)
    _caches.register()
    if not isinstance(args, tuple):
        raise _errors.ArgumentError(f"args is a {type(args).__name__}: expected a tuple of sample inputs")
    if not isinstance(kwargs or {}, Mapping):
        raise _errors.ArgumentError(f"kwargs is a {type(kwargs).__name__}: expected a dict of sample inputs by name")
    named = dict(kwargs or {})
    owner = model if isinstance(model, torch.nn.Module) else Function(model, args, named)
    _check_arguments(owner, args, named)
    try:
        with torch.no_grad(), _quiet():
            exported = torch.export.export(owner, *_distinct(owner, args, named), dynamic_shapes=dynamic_shapes, strict=False)
    except Exception as error:  # any exception of the model or of torch.export
        log.debug("torch.export failed", exc_info=True)
        raise _explain(error, dynamic_shapes is not None) from None
    if isinstance(owner, Function):
        for node in exported.graph.nodes:
            if not _places.place_of(node)[0]:
                node.meta["stack_trace"] = owner.place()
    return exported, owner


def _distinct(owner: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Replaces repeated tensors among the arguments by copies. torch.export assumes that arguments that are the same
    object, or the same as a weight, are equal in every later call too."""
    seen = {id(tensor) for tensor in (*owner.parameters(), *owner.buffers())}

    def take(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in seen:
            seen.add(id(tensor))
            return tensor
        if torch._debug_has_internal_overlap(tensor):  # several elements at one address
            return tensor.detach()
        copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
        return copy.copy_(tensor).requires_grad_(tensor.requires_grad)

    return pytree.tree_map_only(torch.Tensor, take, (args, kwargs))  # type: ignore[no-any-return]


def load(path: str) -> ExportedProgram:
    """The program in a ``.pt2`` file. Raises ArgumentError if the file is anything else."""
    if not os.path.isfile(path):
        raise _errors.ArgumentError(f"{path}: there is no such file")
    try:
        with zipfile.ZipFile(path) as members:
            is_artifact = "manifest.json" in members.namelist()
    except (OSError, zipfile.BadZipFile):
        raise _errors.ArgumentError(f"{path}: this is not an archive of torch.export.save (.pt2)") from None
    if is_artifact:
        raise _errors.ArgumentError(f"{path}: this is an artifact, which is already compiled: luminal.load runs it")
    try:
        with _quiet():
            return torch.export.load(path)
    except Exception as error:  # torch has no exception class for this
        log.debug("torch.export.load failed", exc_info=True)
        raise _errors.ArgumentError(f"{path}: PyTorch cannot read this archive: {_errors.sentence(error)}") from None


def check_effects(exported: ExportedProgram) -> None:
    """Raises UnsupportedOpError, with lines, for ops with effects that torch orders by tokens, such as checks in linear
    algebra."""
    found = [node for node in exported.graph.find_nodes(op="call_function", target=torch.ops.higher_order.with_effects)]
    ops = [_errors.UnsupportedOp(f"{node.args[1]}: has effects besides its results", node.name, *_places.place_of(node))
           for node in found]
    if ops:
        raise _errors.UnsupportedOpError("unsupported ops: " + "; ".join(map(str, ops)), ops)


def _check_model(model: Any) -> None:
    if hasattr(model, "artifact") and hasattr(model, "profile"):
        raise _errors.ArgumentError("model is compiled already")
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise _errors.ArgumentError(f"model is a {type(model).__name__} of TorchScript: pass the Python module from which it was made")
    if not callable(model):
        raise _errors.ArgumentError(f"model is a {type(model).__name__}: expected a module, a function, an "
                                    "ExportedProgram or the path of a .pt2 file")
    for name, module in model.named_modules() if isinstance(model, torch.nn.Module) else ():
        for value in vars(module).values():
            if isinstance(value, torch.ScriptObject):
                kind = value._type().qualified_name().split(".")[-1]
                raise _errors.CompileError(f"module '{name}' holds a {kind}, weights that only PyTorch's quantised kernels "
                                           "read: compile the model before it is quantised")


def _check_arguments(owner: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        signature = inspect.signature(owner.forward)
    except ValueError:
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        name = getattr(owner.function, "__name__", "the function") if isinstance(owner, Function) else (
            f"{type(owner).__name__}.forward")
        raise _errors.ArgumentError(f"args and kwargs do not fit {name}{signature}: {error}") from None


def _explain(error: Exception, has_shapes: bool) -> _errors.LuminalError:
    """Converts an exception of torch.export to one of this package. If the model itself raised it, the error is about the
    model."""
    if isinstance(error, _errors.LuminalError):
        return error
    place = _errors.user_place(error)
    at = f" ({place})" if place else ""
    if isinstance(error, GuardOnDataDependentSymNode):
        return _errors.CompileError(f"the model's Python code depends on the values of a tensor{at}, which a program of the whole model "
                                    "cannot: use torch.where, or torch.compile, which splits the model there")
    if has_shapes and not place:
        return _errors.ArgumentError(f"dynamic_shapes do not fit the model: {_errors.sentence(error)}")
    return _errors.CompileError(f"torch.export cannot trace the model{at}: {_errors.sentence(error)}")


# Loggers that print the error that torch also raises.
_LOUD = ("torch.export", "torch.export.pt2_archive._package", "torch.fx.experimental.symbolic_shapes", "torch._subclasses.fake_tensor")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences torch's logging, since the exception reports errors once; LUMINAL_LOG=debug and TORCH_LOGS show
    everything."""
    if os.environ.get("TORCH_LOGS"):
        yield
        return
    levels = {name: logging.getLogger(name).level for name in _LOUD}
    try:
        for name in _LOUD:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        # torch.export prints the part of the graph traced so far.
        with unittest.mock.patch.object(_trace, "print", lambda text, **_: log.debug("%s", text), create=True):
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
