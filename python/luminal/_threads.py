# ===- _threads.py - Whose threads calls use -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs calls on PyTorch's OpenMP threads. These spin for milliseconds after each of PyTorch's loops, so separate threads
of the library would compete with them for the processor."""
from __future__ import annotations

import ctypes
import os
import sys

from . import _capi

_asked = False


def lend() -> None:
    """Makes calls use OpenMP threads if PyTorch is imported and has them, unless ``LUMINAL_OPENMP`` is 0. Has an effect
    only once."""
    global _asked
    torch = sys.modules.get("torch")
    if _asked or torch is None:
        return
    _asked = True
    if os.environ.get("LUMINAL_OPENMP") == "0" or not torch.backends.openmp.is_available():
        return
    # PyTorch loads its OpenMP library globally; a different library is recognised by its number of threads.
    everyone = ctypes.CDLL(None)
    try:
        team, most = everyone.GOMP_parallel, everyone.omp_get_max_threads
    except AttributeError:
        return
    if most() == torch.get_num_threads():
        _capi.library().luminal_set_team(ctypes.cast(team, ctypes.c_void_p))
