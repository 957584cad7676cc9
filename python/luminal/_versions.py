# ===- _versions.py - Which versions of torch are supported --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The supported versions of torch: the package uses private functions (its serializer, AOTAutograd) and is tested with
these."""
from __future__ import annotations

import torch

from . import _errors

OLDEST, NEWEST = (2, 11), (2, 13)
# Whether dynamo detects that the `data` of a weight was replaced by a tensor with other strides or another shape.
GUARDS_WEIGHTS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)


def check_torch(version: str) -> None:
    """Raises LibraryError for an unsupported version of torch."""
    try:
        major, minor = (int(part) for part in version.split(".")[:2])
    except ValueError:
        raise _errors.LibraryError(f"torch has version {version!r}, which cannot be read") from None
    if not OLDEST <= (major, minor) <= NEWEST:
        oldest, newest = (".".join(map(str, v)) for v in (OLDEST, NEWEST))
        raise _errors.LibraryError(f"torch {version} is not supported: luminal needs torch {oldest} to {newest}")
