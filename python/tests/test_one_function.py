# ===- test_one_function.py - Calls as one function of Python's own ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import ctypes
import gc

import helpers
import luminal
import pytest
import torch
from luminal import _capi, _outputs, _python
from test_overhead import calls, step
from torch import nn

__all__ = ["calls"]


@pytest.fixture(params=[True, False], ids=["one function", "ctypes"])
def is_one(request, monkeypatch):
    """Runs with the builtin function, and with ctypes, which other interpreters use."""
    assert _python.is_available()
    if not request.param:
        monkeypatch.setattr(_python, "_maker", lambda: None)
    return request.param


class Counting(nn.Module):
    """Counts its calls, and raises in the third."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2, dtype=torch.int64))

    def forward(self, x):
        self.count.add_(1)
        torch._assert_async((self.count != 3).all(), "the third call")
        return x + self.count


def test_a_call_that_fails_is_made_once(is_one):
    module = Counting()
    compiled, x = helpers.compile(module), torch.zeros(2, dtype=torch.int64)
    with torch.no_grad():
        for turn in range(1, 6):
            if turn == 3:
                with pytest.raises(luminal.FailedAssertionError, match="the third call"):
                    compiled(x)
            else:
                assert compiled(x).tolist() == [turn, turn]
            assert module.count.tolist() == [turn, turn]


@pytest.mark.parametrize("dynamic", [False, True])
def test_outputs_that_cannot_be_made(monkeypatch, is_one, dynamic):
    """An exception while creating an output is raised by the call; later calls work."""
    make, fails = _outputs.allocator(torch.device("cpu")), []

    def allocate(*kind):
        if fails:
            raise MemoryError("no memory")
        return make(*kind)

    monkeypatch.setattr(_outputs, "allocator", lambda device: allocate)
    compiled = helpers.compile(lambda x: (x + 1, x * 2), dynamic=dynamic)
    with torch.no_grad():
        for n in (3, 4, 3):
            x = torch.rand(n)
            helpers.same(compiled(x), (x + 1, x * 2))
            fails.append(True)
            with pytest.raises(MemoryError, match="no memory"):
                compiled(x)
            fails.clear()
            helpers.same(compiled(x), (x + 1, x * 2))


def test_arguments_in_a_tuple(calls, is_one):
    module, x = nn.Linear(4, 4), torch.rand(3, 4)
    step(helpers.compile(module), module, x)
    run, args = calls[-1]
    with torch.no_grad():
        helpers.same(run(tuple(args))[0], module(x))


def test_weights_that_nothing_counts_writes_to(is_one):
    """Values that depend on such weights are computed at each call."""
    with torch.inference_mode():
        module = nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)).eval()
        twin, x = copy.deepcopy(module), torch.rand(2, 8)
        compiled = helpers.compile(module)
        for _ in range(3):
            helpers.same(compiled(x), twin(x))
            for each in (module, twin):
                each.parametrizations.weight.original0.mul_(2)


def test_other_weights_are_seen(is_one):
    """Weights are replaced, written to and reshaped, with values prepared from them, in a callable and through dynamo."""
    module = nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)).eval()
    x = torch.rand(2, 8)
    forms = [helpers.compile(module), luminal.compile(module, (x,))]
    scale = module.parametrizations.weight
    with torch.no_grad():
        for turn in range(8):
            for form in forms:
                helpers.same(form(x), module(x))
            if turn % 2:
                scale.original0.mul_(1.5)
            else:
                scale.original0 = nn.Parameter(torch.rand(8, 1))


def test_functions_outlive_what_made_them():
    """CPython reads a function's PyMethodDef at each garbage collection."""
    call = _python._maker()(0)
    _python._maker.cache_clear()
    gc.collect()
    assert any(isinstance(each, _python._Method) for each in gc.get_objects())
    assert call.__name__ == "luminal_python_call"
    assert _python.is_available()


@pytest.mark.parametrize("name", _python._NAMES)
def test_without_a_function_of_python(monkeypatch, name):
    """Calls then use ctypes."""
    known = ctypes.pythonapi

    class Less:
        def __getattr__(self, asked):
            if asked == name:
                raise AttributeError(asked)
            return getattr(known, asked)

    _python._maker.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(_python.ctypes, "pythonapi", Less())
            assert not _python.is_available()
    finally:
        _python._maker.cache_clear()
    assert _python.is_available()


def test_the_library_refuses_what_is_missing():
    library = _capi.library()
    given = _capi.Python()
    for size, text in ((0, "struct_size"), (ctypes.sizeof(given), "null function")):
        given.struct_size = size
        assert library.luminal_python_use(ctypes.byref(given)) == _capi.ERROR
        assert text in library.luminal_last_error().decode()
    assert library.luminal_python_use(None) == _capi.ERROR
    call = _python._maker()(0)
    for arguments in (([], 0), ([],)):
        assert call(*arguments) == _capi.ERROR
    assert "expected a list" in library.luminal_last_error().decode()
