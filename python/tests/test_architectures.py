# ===- test_architectures.py - Architectures of transformers beside eager ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every sixth architecture of architectures.py; all of them with LUMINAL_ALL_ARCHITECTURES=1."""
import math
import os
import sys
import warnings

import helpers
import pytest
import torch
from conftest import ROOT
from torch.utils import _pytree as pytree

sys.path.insert(0, str(ROOT / "utils/testing"))
transformers = pytest.importorskip("transformers")

import architectures
import float64

# The same limit as for the model tests (utils/testing/check_models.py).
LIMIT = 4
NAMES = list(architectures.ARCHITECTURES)
CHOSEN = NAMES if os.environ.get("LUMINAL_ALL_ARCHITECTURES") else NAMES[::6]
SIZES = ((2, 9), (3, 14), (5, 6))


def floats(output):
    return [t for t in pytree.tree_leaves(output) if isinstance(t, torch.Tensor)]


def error(got, exact):
    return (got.double() - exact.double()).abs().max().item() if exact.numel() else 0.0


def ratio(got, eager, exact):
    """The error of a result, in units of the error that eager's own error permits."""
    assert got.dtype == eager.dtype and got.shape == eager.shape
    if not eager.is_floating_point():
        return 0.0 if torch.equal(got, eager) else math.inf
    finite = exact.isfinite()
    assert torch.equal(got.isnan(), eager.isnan()) and torch.equal(got[~finite].isinf(), eager[~finite].isinf())
    got, eager, exact = got[finite], eager[finite], exact[finite]
    unit = max(error(eager, exact), 1e-6 * exact.abs().max().item() if exact.numel() else 0)
    return error(got, exact) / unit if unit else (0.0 if error(got, exact) == 0 else math.inf)


def marks_of(name):
    reason = architectures.REFUSED.get(name)
    return [pytest.mark.xfail(strict=True, raises=torch._dynamo.exc.BackendCompilerFailed, reason=reason)] if reason else []


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in CHOSEN])
def test_architecture(name, compiles):
    """With dynamic batch and length (or images of one size), nothing is compiled after the second call, and no op is left
    to eager."""
    architecture = architectures.ARCHITECTURES[name]()
    exact_model = float64.copy_of(architecture.model)
    compiled = helpers.compile(architecture.model, dynamic=True if architecture.has_length else None)
    worst, counts = 0.0, []
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size in SIZES:
            inputs = architecture.inputs(*size)
            if not architecture.has_length:
                torch._dynamo.mark_dynamic(inputs["pixel_values"], 0)
            got, eager = compiled(**inputs), architecture.model(**inputs)
            exact = float64.call(lambda: exact_model(**float64.widened(inputs)), ())
            counts.append(len(compiles))
            for a, b, c in zip(floats(got), floats(eager), floats(exact), strict=True):
                worst = max(worst, ratio(a, b, c))
    assert worst <= LIMIT
    # Some models keep tensors of their first call, so their second call is another program.
    assert counts[0] > 0 and (counts[1] == counts[2] or name in architectures.FIXED)
