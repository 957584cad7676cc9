# ===- test_op_db.py - PyTorch's own samples of its ops --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every fourteenth op of PyTorch's op_db in float32; all of them with LUMINAL_ALL_OPS=1."""
import os
import re
import warnings

import pytest
import torch
from luminal._backend import backend
from torch.utils import _pytree as pytree

pytest.importorskip("expecttest")  # PyTorch's test utilities need it
from torch.testing._internal.common_methods_invocations import op_db

# Random results, decompositions that are not unique, memory without values, layouts of their own, and special functions
# that no model has.
SKIPPED = re.compile(
    "jiterator|sparse|to_sparse|rand|normal|bernoulli|multinomial|cauchy|exponential|geometric|log_normal|uniform|empty|"
    "new_empty|nn_functional_(alpha_|feature_|)dropout|nn_functional_rrelu|nn_functional_fractional|native_dropout|"
    "pca_lowrank|svd|nn_functional_multi_head|linalg_(svd|eig|lu|ldl|qr|lstsq|cond|pinv|matrix_rank|house|tensor)|lu|ormqr|"
    "qr|geqrf|fft|hash|resize_|special_(ch|he|la|le|mo|sc|sh|sp)|signal|bmm_triton|item|allclose|equal")
OPS = {op.formatted_name: op for op in op_db
       if torch.float32 in op.supported_dtypes("cpu") and not SKIPPED.match(op.formatted_name)}
CHOSEN = list(OPS) if os.environ.get("LUMINAL_ALL_OPS") else list(OPS)[::14]
SAMPLES = 3


def copies(value):
    return pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, value)


@pytest.mark.parametrize("name", CHOSEN)
def test_op(name, compiles):
    """Right on samples of several sizes, and compiled unless a warning names what is not."""
    op = OPS[name]
    samples = list(op.sample_inputs("cpu", torch.float32, requires_grad=False))
    compiled = torch.compile(lambda *args, **kwargs: op.op(*args, **kwargs), backend=backend)
    for sample in samples[::max(1, len(samples) // SAMPLES)][:SAMPLES]:
        args = (sample.input, *sample.args)
        with torch.no_grad(), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            expected = op.op(*copies(args), **copies(sample.kwargs))
            got = compiled(*copies(args), **copies(sample.kwargs))
        assert compiles or any("luminal does not support" in str(w.message) for w in heard)
        for a, b in zip(pytree.tree_leaves(got), pytree.tree_leaves(expected), strict=True):
            if isinstance(b, torch.Tensor):
                torch.testing.assert_close(a, b, rtol=2e-4, atol=2e-5, equal_nan=True)
            else:
                assert a == b
