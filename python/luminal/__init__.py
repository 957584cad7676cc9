# ===- __init__.py - Luminal for Python -----------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Luminal, a tensor compiler.

``torch.compile(model, backend="luminal")`` needs no import of this package. ``luminal.compile`` compiles a model and
keeps its signature. ``luminal.load`` runs an artifact and needs no torch. ``luminal.explain`` reports how a function is
compiled, ``luminal.explore`` shows the equal programs among which the compiler chooses, and ``luminal.bench`` times a
model beside eager PyTorch and Inductor. ``luminal.LLM`` generates text with a model from a checkpoint folder.
"""
from __future__ import annotations

import importlib
import logging
import os
import warnings
from typing import TYPE_CHECKING, Any

from ._errors import (ArgumentError, ArtifactError, CallError, CompileError, DeviceError, DTypeError,
                      FailedAssertionError, LibraryError, LuminalError, LuminalWarning, ShapeError, TrainingError,
                      UnsupportedOp, UnsupportedOpError)

if TYPE_CHECKING:
    from ._bench import bench
    from ._compile import compile
    from ._drawing import graph
    from ._explain import explain
    from ._explore import explore
    from ._load import load
    from ._prepared import invalidate, synchronize
    from .llm import LLM

__version__ = "0.1.0"
__all__ = ["ArgumentError", "ArtifactError", "CallError", "CompileError", "DTypeError", "DeviceError",
           "FailedAssertionError", "LLM", "LibraryError", "LuminalError", "LuminalWarning", "ShapeError", "TrainingError",
           "UnsupportedOp", "UnsupportedOpError", "bench", "compile", "devices", "explain", "explore", "graph", "invalidate", "load",
           "synchronize"]

# torch imports this package while torch itself is being imported (TORCH_LOGS), so nothing here may import torch.
_MODULES = {"bench": "_bench", "compile": "_compile", "explain": "_explain", "explore": "_explore", "graph": "_drawing", "invalidate": "_prepared",
            "load": "_load", "LLM": "llm", "synchronize": "_prepared"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    if name == "devices":
        return importlib.import_module(".devices", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _log(level: str | None) -> None:
    """LUMINAL_LOG=info logs what is compiled and what came from the cache; debug also logs reasons and PyTorch's own
    errors."""
    if not level:
        return
    if level.lower() not in ("info", "debug"):
        warnings.warn(f"LUMINAL_LOG is {level!r}: expected info or debug", LuminalWarning, stacklevel=3)
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("luminal: %(message)s"))
    logger = logging.getLogger(__name__)
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    logger.propagate = False


_log(os.environ.get("LUMINAL_LOG"))
