# ===- test_bad_use.py - Each misuse has its error ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import struct
import subprocess
import sys
import warnings

import conftest
import helpers
import luminal
import pytest
import torch
import torch._inductor
from luminal import _artifact, _capi, _runner, _versions
from luminal._options import Options
from torch import nn


def inner(call):
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
        call()
    return caught.value.inner_exception


@pytest.mark.parametrize("options, text", [({"frob": 1}, "there is no option 'frob'"), ({"workers": "2"}, "type int"),
                                           ({"fallback": "never"}, "expected 'eager' or 'error'"),
                                           ({"search_budget": -1}, "expected 0 or more"),
                                           ({"search_candidates": 0.5}, "type int"),
                                           ({"sample_inputs": ["x=none.npy"]}, "no such file")])
def test_options(options, text):
    error = inner(lambda: helpers.compile(lambda x: x + 1, options=options)(torch.ones(2)))
    assert isinstance(error, luminal.ArgumentError) and text in str(error)


def test_mode():
    error = inner(lambda: torch.compile(lambda x: x + 1, backend=luminal._backend.backend, mode="fast")(torch.ones(2)))
    assert isinstance(error, luminal.ArgumentError) and "'fast'" in str(error)


@pytest.mark.parametrize("mode, budget", [(mode, 30 if mode.startswith("max") else 0) for mode in
                                          torch._inductor.list_mode_options()])
def test_modes_of_torch(mode, budget):
    assert Options.parse({}, mode).search_budget == budget
    assert Options.parse({"search_budget": 2}, mode).search_budget == 2


def test_options_of_inductor_are_told():
    with pytest.warns(UserWarning, match="ignores options of Inductor: max_autotune, triton.cudagraphs$") as heard:
        function = helpers.compile(lambda x: x + 1, options={"max_autotune": True, "seed": 1, "triton.cudagraphs": True})
        helpers.same(function(torch.ones(2)), torch.full((2,), 2.0))
    assert len(heard) == 1


def test_compiler_options():
    error = inner(lambda: helpers.compile(lambda x: x + 1, options={"arch": "frob"})(torch.ones(2)))
    assert isinstance(error, luminal.ArgumentError) and "unknown processor 'frob'" in str(error)


@pytest.mark.parametrize("options, text", [({"variants": ("s0=1",)}, "range 's0=1' names no symbol of the program"),
                                           ({"find_variants": "s0", "search_candidates": 1}, "'s0' is not a symbol of the program")])
def test_options_that_name_no_symbol(options, text):
    """The error lists the known names, and no size is fixed to retry."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", luminal.LuminalWarning)
        error = inner(lambda: helpers.compile(lambda x: x + 1, dynamic=True, options=options)(torch.ones(3)))
    assert isinstance(error, luminal.CompileError) and text in str(error) and "known are: s" in str(error)


def test_meta_tensor():
    error = inner(lambda: helpers.compile(lambda x: x + 1)(torch.ones(2, device="meta")))
    assert isinstance(error, luminal.LuminalError) and "meta" in str(error)


def test_training():
    module = nn.Linear(4, 4)
    y = helpers.compile(module)(torch.randn(2, 4))
    assert y.requires_grad
    with pytest.raises(luminal.TrainingError, match="torch.no_grad"):
        y.sum().backward()
    assert module.weight.grad is None


def test_gradient_mode_without_gradients():
    module, x = nn.Linear(4, 4), torch.randn(2, 4)
    helpers.same(helpers.compile(module)(x).detach(), module(x).detach())
    assert not helpers.compile(lambda x: x + 1)(x).requires_grad


@pytest.fixture
def compiled():
    batch = torch.export.Dim("batch", min=1, max=8)
    return luminal.compile(nn.Linear(8, 4), (torch.randn(2, 8),), dynamic_shapes=({0: batch},))


X = torch.randn(3, 8)
BAD = {
    "dtype": (lambda: X.double(), luminal.DTypeError, "has element type float64, expected float32"),
    "rank": (lambda: X[0], luminal.ShapeError, "has rank 1, expected 2"),
    "extent": (lambda: X[:, :3], luminal.ShapeError, "dim 1 of 'input' is 3, expected 8"),
    "range": (lambda: torch.randn(9, 8), luminal.ShapeError, "is 9, outside the range"),
    "device": (lambda: X.to("meta"), luminal.DeviceError, "is on meta"),
    "layout": (lambda: X.to_sparse(), luminal.DeviceError, "has layout torch.sparse_coo"),
    "kind": (lambda: [1.0], luminal.ArgumentError, "structure"),
    "number": (lambda: 3, luminal.ArgumentError, "expected a tensor"),
}


@pytest.mark.parametrize("name", BAD)
def test_inputs(compiled, name):
    make, kind, text = BAD[name]
    with pytest.raises(kind) as caught:
        compiled(make())
    assert text in str(caught.value)


def test_fake_input(compiled):
    from torch._subclasses.fake_tensor import FakeTensorMode
    with pytest.raises(luminal.DeviceError, match="fake tensor"):
        compiled(FakeTensorMode().from_tensor(X))


def test_number_of_inputs(compiled):
    with pytest.raises(luminal.ArgumentError, match="structure"):
        compiled(X, X)
    with pytest.raises(luminal.ArgumentError, match="keyword"):
        compiled(X, scale=2)


@pytest.mark.parametrize("model", [3, None, "no.pt2"])
def test_models(model):
    with pytest.raises((luminal.ArgumentError, OSError)):
        luminal.compile(model, ())


def test_unsupported_ops_are_all_named():
    def function(x):
        return torch.linalg.eigvalsh(x) + torch.rand(3) + torch.linalg.eigvalsh(x + 1)

    with pytest.raises(luminal.UnsupportedOpError) as caught:
        luminal.compile(function, (torch.eye(3),))
    assert len(caught.value.ops) >= 3 and all(op.file.endswith("test_bad_use.py") for op in caught.value.ops)


def test_files(tmp_path):
    for name, data in (("none", None), ("empty", b""), ("text", b"not an artifact")):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(luminal.ArtifactError, match=str(path)):
            luminal.load(path)


def test_overlapping_memory():
    """The runtime refuses overlapping memory, which AOTAutograd never passes to it."""
    x = torch.ones(4)
    model = luminal.compile(lambda x, y: (x.add_(1), y * 2)[1], (x.clone(), x.clone()))
    with pytest.raises(luminal.CallError, match="shares memory"):
        model(x, x)


def test_counts_of_a_call(compiled):
    artifact = compiled.artifact
    with pytest.raises(luminal.ShapeError):
        artifact.shapes((1,))
    with pytest.raises(struct.error):
        artifact.call([], [], artifact.shapes((2, 8)), 1)


def test_library_is_missing(tmp_path):
    code = "import luminal\ntry: luminal.load('x')\nexcept luminal.LibraryError as e: print(e)"
    for path, text in ((tmp_path / "none.so", "is not found"), (conftest.__file__, "cannot be used")):
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                             env={**conftest.environment(), "LUMINAL_LIBRARY": str(path)})
        assert text in out.stdout


@pytest.mark.parametrize("version", ["2.10.1", "2.14.0", "3.0", "unknown"])
def test_version_of_torch(version):
    with pytest.raises(luminal.LibraryError):
        _versions.check_torch(version)


def test_codes_are_those_of_the_header():
    header = (conftest.ROOT / "include/luminal-c/Luminal.h").read_text()
    codes = {line.split()[0]: int(line.split("=")[1].strip(" ,\n")) for line in header.splitlines()
             if line.strip().startswith("LUMINAL_ERROR_") and "=" in line}
    assert codes["LUMINAL_ERROR_IMPORT"] == _capi.IMPORT_FAILED
    assert max(codes.values()) == max(_capi._EXCEPTIONS) and len(codes) == 10


def test_after_a_fork(compiled):
    expected = compiled(X).detach()
    child = os.fork()
    if child == 0:
        is_alone = _artifact._forked and _runner._get_num_threads() == 1
        os._exit(0 if torch.equal(compiled(X).detach(), expected) and is_alone else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_mode_sets_the_budget():
    from luminal._options import Options

    assert "--search-budget=30.0" in Options.parse({}, "max-autotune").texts("cpu")
    assert "--search-budget=2.0" in Options.parse({"search_budget": 2}, "max-autotune").texts("cpu")
    assert not any("search" in text for text in Options.parse({}, "default").texts("cpu"))
