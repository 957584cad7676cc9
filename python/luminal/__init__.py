# ===- __init__.py - Luminal for Python -----------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Luminal, a tensor compiler.

``torch.compile(model, backend="luminal")`` needs no import of this package. ``luminal.compile`` compiles a model with
its own signature, ``luminal.load`` runs an artifact (and needs no torch). ``luminal.explain`` tells what becomes of a
function, ``luminal.explore`` shows the equal programs that the compiler chooses from, ``luminal.bench`` times a model beside eager PyTorch and Inductor.
"""
from __future__ import annotations

from typing import Any

from ._errors import (ArgumentError, ArtifactError, CallError, CompileError, DeviceError, DTypeError,
                      FailedAssertionError, LibraryError, LuminalError, ShapeError, TrainingError, UnsupportedOp, UnsupportedOpError)

__version__ = "0.1.0"
__all__ = ["ArgumentError", "ArtifactError", "CallError", "CompileError", "DeviceError", "DTypeError",
           "FailedAssertionError", "LibraryError", "LuminalError", "ShapeError", "TrainingError", "UnsupportedOp", "UnsupportedOpError", "bench", "compile", "explain",
           "explore", "invalidate", "load"]


def __getattr__(name: str) -> Any:
    # torch imports this package while it is itself imported (TORCH_LOGS), so nothing here may import torch.
    if name == "compile":
        from ._compile import compile
        return compile
    if name == "load":
        from ._load import load
        return load
    if name == "explain":
        from ._explain import explain
        return explain
    if name == "explore":
        from ._explore import explore
        return explore
    if name == "invalidate":
        from ._prepared import invalidate
        return invalidate
    if name == "bench":
        from ._bench import bench
        return bench
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
