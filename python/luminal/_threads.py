# ===- _threads.py - Whose threads calls use -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's threads of OpenMP as those of calls: they spin for milliseconds behind each of its loops, where threads of the
library beside them would have half a processor each."""
from __future__ import annotations

import ctypes
import os
import sys

from . import _capi

_asked = False


def lend() -> None:
    """Has calls use them, if PyTorch is imported, has some, and ``LUMINAL_OPENMP`` is not 0; once in a process."""
    global _asked
    torch = sys.modules.get("torch")
    if _asked or torch is None:
        return
    _asked = True
    if os.environ.get("LUMINAL_OPENMP") == "0" or not torch.backends.openmp.is_available():
        return
    # PyTorch loads its OpenMP library for all; another one has another number of threads.
    everyone = ctypes.CDLL(None)
    try:
        team, most = everyone.GOMP_parallel, everyone.omp_get_max_threads
    except AttributeError:
        return
    if most() == torch.get_num_threads():
        _capi.library().luminal_set_team(ctypes.cast(team, ctypes.c_void_p))
