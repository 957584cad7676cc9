# ===- quick_export.py - What each export does again, done once ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For tests that export many small programs. Importing this leaves out of PyTorch's export, whose archives stay the same bytes,

- of `run_decompositions`, 52 searches of the dispatcher for all ops that are composites of others (one is enough), and the
  types of some 6,000 functions that it registers, which are made anew for each;
- of `save`, the canonical form of the program, which is made and thrown away.
"""
import functools

import torch._export.serde.serialize
import torch._export.utils
import torch._ops

torch._export.utils._materialize_cpp_cia_ops = functools.cache(torch._export.utils._materialize_cpp_cia_ops)


def py_impl(op, key, whole=torch._ops.OperatorBase.py_impl):
    if not isinstance(key, torch._C.DispatchKey) or key == torch._C.DispatchKey.Python:
        return whole(op, key)

    def register(function):
        assert key not in op.py_kernels
        op.py_kernels[key] = function
        op._dispatch_cache.clear()
        return function

    return register


torch._ops.OperatorBase.py_impl = py_impl
torch._export.serde.serialize.canonicalize = lambda program, constants=None: program
