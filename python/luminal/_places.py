# ===- _places.py - The lines that nodes of a graph come from ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Knows no torch: artifacts are loaded without it."""
from __future__ import annotations

import pathlib
import re
from typing import TYPE_CHECKING

from . import _errors

if TYPE_CHECKING:
    from torch import fx

_OWN = str(pathlib.Path(__file__).resolve().parent)


def place_of(node: fx.Node) -> tuple[str, int]:
    """The file and the innermost line of the user's code, or an empty name."""
    frames = re.findall(r'File "([^"]*)", line (\d+)', node.meta.get("stack_trace") or "")
    # Neither code that torch.fx wrote, nor the wrapper of a function that is exported.
    users = [(file, int(line)) for file, line in frames if not file.startswith(("<eval_with_key>", _OWN))]
    return users[-1] if users else ("", 0)


def user_place_of(node: fx.Node) -> tuple[str, int]:
    """The same of code that is not PyTorch's, if there is some: the call of a module rather than its code."""
    frames = re.findall(r'File "([^"]*)", line (\d+)', node.meta.get("stack_trace") or "")
    return next(((file, int(line)) for file, line in reversed(frames) if _errors.is_of_user(file)), None) or place_of(node)
