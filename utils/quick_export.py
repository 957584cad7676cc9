# ===- quick_export.py - Decompositions that are looked up once ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For tests that export many small programs: each `run_decompositions` asks the dispatcher 52 times for all ops that are
composites of others, which takes longer than the rest of it. Importing this makes it ask once."""
import functools

import torch._export.utils

torch._export.utils._materialize_cpp_cia_ops = functools.cache(torch._export.utils._materialize_cpp_cia_ops)
