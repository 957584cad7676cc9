# ===- _versions.py - Which versions of torch are supported --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package uses private functions of torch (its serialiser, AOTAutograd), so it names the versions it was tried on."""
from __future__ import annotations

import torch

from . import _errors

OLDEST, NEWEST = (2, 11), (2, 13)
# Whether dynamo notices that a weight's `data` is another tensor, of other strides or another shape.
GUARDS_WEIGHTS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)


def check_torch(version: str) -> None:
    """Raises LibraryError for another version of torch than those that are supported."""
    try:
        major, minor = (int(part) for part in version.split(".")[:2])
    except ValueError:
        raise _errors.LibraryError(f"torch has version {version!r}, which cannot be read") from None
    if not OLDEST <= (major, minor) <= NEWEST:
        oldest, newest = (".".join(map(str, v)) for v in (OLDEST, NEWEST))
        raise _errors.LibraryError(f"torch {version} is not supported: luminal needs torch {oldest} to {newest}")
