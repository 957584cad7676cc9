# ===- test_compile.py - luminal.compile and luminal.load -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import functools
import copy
import subprocess
import sys

import conftest
import helpers
import luminal
import numpy
import pytest
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 16)
        self.norm = nn.BatchNorm1d(16)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, given, *, scale=2):
        self.calls.add_(1)
        return {"y": self.norm(self.linear(given["x"])) * scale, "n": given["x"].shape[0], "more": (self.calls + 0, None)}


@pytest.fixture
def model():
    return Model().eval()


def compiled(model):
    batch = torch.export.Dim("batch", max=64)
    return luminal.compile(model, ({"x": torch.randn(4, 8)},), {"scale": 3},
                           dynamic_shapes={"given": {"x": {0: batch}}, "scale": None})


def test_signature_and_buffers(model):
    twin = copy.deepcopy(model)
    run = compiled(model)
    with torch.no_grad():
        for n in (2, 7):
            x = torch.randn(n, 8)
            helpers.same(run({"x": x}, scale=3), twin({"x": x}, scale=3))
    assert model.calls == 2
    with pytest.raises(luminal.ArgumentError, match="is 2, the model was compiled for 3"):
        run({"x": x}, scale=2)


def test_weights_are_the_models(model):
    run, x = compiled(model), torch.randn(3, 8)
    with torch.no_grad():
        for change in (lambda: model.linear.weight.mul_(2),
                       lambda: setattr(model.linear.weight, "data", torch.randn(16, 8)),
                       lambda: model.load_state_dict(Model().state_dict(), assign=True)):
            change()
            expected = copy.deepcopy(model)({"x": x}, scale=3)
            helpers.same(run({"x": x}, scale=3), expected)


def test_saved_and_loaded(model, tmp_path):
    run, x = compiled(model), torch.randn(5, 8)
    path = tmp_path / "model.lum"
    run.save(path)
    loaded = luminal.load(path)
    assert [t.shape for t in loaded.inputs] == [(-1, 8)]
    expected = [*copy.deepcopy(model)({"x": x}, scale=3).values()][0].detach()
    got = loaded(x)
    assert isinstance(got[0], torch.Tensor)
    helpers.same(got[0], expected)
    again = loaded(x.numpy())
    assert isinstance(again[0], numpy.ndarray) and numpy.array_equal(again[0], got[0].numpy())
    # The number of calls that the artifact counts, starting from the model's count at the time of saving.
    assert (float(got[2]), float(again[2])) == (1, 2)
    loaded.reset()
    assert float(loaded(d_x=x)[2] if loaded.inputs[0].name == "d_x" else loaded(x)[2]) == 1


def test_loaded_without_torch(model, tmp_path):
    path = tmp_path / "model.lum"
    luminal.compile(nn.Linear(8, 4), (torch.ones(2, 8),)).save(path)
    code = ("import sys, numpy, luminal\n"
            f"m = luminal.load({str(path)!r})\n"
            "y = m(numpy.ones((2, 8), 'float32'))[0]\n"
            "for bad in (numpy.ones((2, 8)), numpy.ones(8, 'float32'), numpy.ones((3, 8), 'float32'), 'x'):\n"
            "    try: m(bad); print('taken')\n"
            "    except luminal.LuminalError as e: print(type(e).__name__)\n"
            "try: m()\nexcept luminal.ArgumentError: print('none')\n"
            "print(y.shape, 'torch' in sys.modules)\n")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                         env=conftest.environment())
    assert out.stdout.split("\n")[:-1] == ["DTypeError", "ShapeError", "ShapeError", "ArgumentError", "none",
                                           "(2, 4) False"]


def test_exported_programs_and_files(tmp_path):
    module, x = nn.Linear(8, 4), torch.randn(2, 8)
    exported = torch.export.export(module, (x,))
    path = tmp_path / "model.pt2"
    torch.export.save(exported, path)
    for source in (exported, path, str(path)):
        helpers.same(luminal.compile(source)(x).detach(), module(x).detach())


def test_functions_and_options(tmp_path):
    report = tmp_path / "report.json"
    run = luminal.compile(lambda x, y: (x @ y).softmax(-1), (torch.randn(3, 4), torch.randn(4, 5)), report=str(report),
                          precision="rounding", workers=2)
    x, y = torch.randn(3, 4), torch.randn(4, 5)
    helpers.same(run(x, y), (x @ y).softmax(-1))
    assert report.exists()


def test_one_tensor_as_two_arguments():
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    for sample in (x, x.T.contiguous().T, torch.randn(1, 4).expand(3, 4)):
        run = luminal.compile(lambda a, more: a - more["b"], (sample, {"b": sample}))
        helpers.same(run(x, {"b": y}), x - y)
    module, y = nn.Linear(4, 4), torch.randn(4, 4)
    weight = module.weight.detach()
    helpers.same(luminal.compile(module, (module.weight,))(y).detach(), y @ weight.T + module.bias.detach())


def test_symbols_have_the_users_names():
    seq, batch = torch.export.Dim("seq", min=1, max=64), torch.export.Dim("batch", max=64)
    x, y = torch.randn(4, 3), torch.randn(5, 8)
    run = luminal.compile(lambda x, pair: ((x * 2).sum(-1), pair["y"].cumsum(0) + 1), (x, {"y": y}),
                          dynamic_shapes=({0: seq}, {"y": (batch, 2 * seq)}))
    assert [t.symbols for t in run.artifact.inputs] == [("seq", "3"), ("batch", "2 * seq")]
    assert "seq in [1, 64]" in run.ir("imported")
    helpers.same(run(x[:2], {"y": y[:, :4]})[1], y[:, :4].cumsum(0) + 1)
    # A name with a meaning in programs is not used.
    run = luminal.compile(lambda x: x + 1, (x,), dynamic_shapes=({0: torch.export.Dim("mod", max=9)},))
    assert run.artifact.inputs[0].symbols[0].startswith("s")


def test_variants():
    seq = torch.export.Dim("seq", min=1, max=64)
    x, w = torch.randn(4, 16), torch.randn(16, 8)
    run = luminal.compile(lambda x: (x @ w).softmax(-1), (x,), dynamic_shapes=({0: seq},), variants=["seq=1", "seq=2..8"])
    assert [v["ranges"] for v in run.report.data["variants"]] == ["seq in [1, 1]", "seq in [2, 8]"]
    for n in (1, 5, 20):
        x = torch.randn(n, 16)
        helpers.same(run(x), (x @ w).softmax(-1))
    with pytest.raises(luminal.LuminalError, match="token"):
        luminal.compile(lambda x: x + 1, (x,), variants=["token=1"])


def test_find_variants(tmp_path):
    seq = torch.export.Dim("seq", min=1, max=16)
    x, w = torch.randn(4, 256), torch.randn(256, 256)
    run = luminal.compile(lambda x: (x @ w).softmax(-1), (x,), dynamic_shapes=({0: seq},), find_variants="seq",
                          plan_cache=str(tmp_path))
    assert any(tmp_path.iterdir()), "nothing was measured"
    # The clock decides which ranges are profitable.
    assert all(v["ranges"].startswith("seq in [") for v in run.report.data["variants"])
    for n in (1, 2, 7, 16):
        x = torch.randn(n, 256)
        helpers.same(run(x), (x @ w).softmax(-1))


def test_threads_of_the_compiler(tmp_path):
    model, x = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 8)), torch.randn(4, 16)
    files = []
    for threads in (1, 2, 3):
        files.append(tmp_path / f"{threads}.lum")
        luminal.compile(model, (x,), threads=threads, cache=False).save(files[-1])
    assert len({file.read_bytes() for file in files}) == 1
    with pytest.raises(luminal.LuminalError, match="threads"):
        luminal.compile(model, (x,), threads=-1)


def test_search(tmp_path):
    x, y = torch.randn(32, 16), torch.randn(16, 8)
    run = luminal.compile(lambda x, y: (x @ y).softmax(-1), (x, y), search_candidates=1, plan_cache=str(tmp_path))
    helpers.same(run(x, y), (x @ y).softmax(-1))
    search = run.report.data["search"]
    assert search["candidates"] and all(kernel["seconds"] > 0 for kernel in search["kernels"])
    assert (tmp_path / "plans" / "kernel").is_dir()


def test_sample_inputs(tmp_path):
    """Programs are measured with the sizes of the samples instead of assumed sizes."""
    rows, sample = torch.export.Dim("rows", min=1, max=64), tmp_path / "x.npy"
    numpy.save(sample, torch.randn(3, 16).numpy())

    def measured_bytes(*samples):
        run = luminal.compile(lambda x: x * x, (torch.randn(4, 16),), dynamic_shapes=({0: rows},), search_candidates=1,
                              plan_cache=str(tmp_path), sample_inputs=samples)
        return sum(kernel["bytes"] for kernel in run.report.data["search"]["kernels"])

    assert measured_bytes(sample) * 64 == measured_bytes(f"x={sample}") * 64 == measured_bytes() * 3
    with pytest.raises(luminal.ArgumentError, match="there is no such file"):
        measured_bytes("x=none.npy")
    numpy.save(sample, torch.randn(3, 17).numpy())
    with pytest.raises(luminal.LuminalError, match="sample of input 'x': dim 1 is 17, expected 16"):
        measured_bytes(sample)


def test_check_kernels():
    x, y = torch.randn(32, 16), torch.randn(16, 8)
    run = luminal.compile(lambda x, y: (x @ y).softmax(-1), (x, y), check_kernels=True)
    helpers.same(run(x, y), (x @ y).softmax(-1))
    assert "checked" in [phase["name"] for phase in run.report.data["phases"]]
    run = luminal.compile(lambda x, y: (x @ y).softmax(-1), (x, y))
    assert "checked" not in [phase["name"] for phase in run.report.data["phases"]]


def test_strided_inputs():
    x = torch.randn(8, 3).t()
    run = luminal.compile(lambda x: x.mul_(2) + 1, (torch.randn(3, 8),))
    before = x.clone()
    assert torch.equal(run(x), before * 2 + 1)
    assert torch.equal(x, before * 2)


def test_gradients(model):
    y = compiled(model)({"x": torch.randn(2, 8)}, scale=3)["y"]
    with pytest.raises(luminal.TrainingError):
        y.sum().backward()


def test_entry_point(tmp_path):
    """An installed package provides the backend by its name."""
    # Installs without the library, which would take a build; the wheel has its own test.
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index",
                    "--config-settings=wheel.cmake=false", "--target", tmp_path / "site", conftest.ROOT / "python"],
                   check=True)
    code = "import torch\nf = torch.compile(lambda x: x + 1, backend='luminal', fullgraph=True)\nprint(f(torch.ones(2)))"
    env = {**conftest.environment(), "PYTHONPATH": str(tmp_path / "site"),
           "LUMINAL_LIBRARY": str(luminal._capi.library()._name)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert out.stdout.strip() == "tensor([2., 2.])"


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64])
def test_integer_division_by_zero(dtype):
    """Division by zero gives the result of PyTorch's CUDA kernels on every device; its CPU kernels raise an error."""
    info = torch.iinfo(dtype)
    x = torch.tensor([5, 0, info.max, info.min, 7], dtype=dtype)
    x[4] = -7 if info.min else 7
    f = torch.compile(lambda a, b: (torch.fmod(a, b), a % b, torch.div(a, b, rounding_mode="trunc"), a // b),
                      backend=luminal._backend.backend, options={"fallback": "error"})
    ones = [2**32 - 1 if dtype == torch.int64 and 0 <= v < 2**32 else info.max if not info.min else -1 for v in x.tolist()]
    down = [-2 if v < 0 else q for v, q in zip(x.tolist(), ones)]
    for result, expected in zip(f(x, torch.zeros_like(x)), (ones, ones, ones, down)):
        assert result.tolist() == expected


@pytest.mark.parametrize("view", [lambda k, n: k[n.shape[0]:], lambda k, n: k[:n.shape[0]], lambda k, n: k[-n.shape[0]:],
                                  lambda k, n: k.narrow(0, 1, n.shape[0]), lambda k, n: k[k.shape[0] // 2:], lambda k, n: k,
                                  lambda k, n: (k[n.shape[0]:], k[:n.shape[0]].flip(0), k.view(2, -1).t())])
def test_views_of_written_inputs(view):
    """Views of written inputs share the caller's memory: a later write to the view changes the input."""
    def function(k, n):
        k.add_(1)
        return view(k, n)

    compiled = helpers.compile(function, dynamic=True)
    for rows, size in ((8, 3), (8, 2), (10, 4)):
        results = []
        for call in (compiled, function):
            k = torch.arange(float(rows))
            found = call(k, torch.ones(size))
            (found[0] if isinstance(found, tuple) else found).mul_(3)
            results.append((k, found))
        helpers.same(*results)


@pytest.mark.parametrize("function", [lambda x: (x * 2)[:, :2], lambda x: (x * 2)[:, 1], lambda x: (x * 2)[1:].expand(2, -1, -1),
                                      lambda x: (x * 2).sum(0, keepdim=True).expand(4, 3),
                                      lambda x: torch.empty_strided((4, 3), (5, 1)).copy_(x * 2)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_strides_of_outputs(function, dynamic):
    x = torch.rand(4, 3)
    helpers.same(helpers.compile(function, dynamic=dynamic)(x), function(x))


def _scaled(x, y=None, *, scale=1.0):
    return x * scale if y is None else x * scale + y


ROWS = torch.export.Dim("rows", max=99)


@pytest.mark.parametrize("function, args, kwargs, shapes", [
    (_scaled, 1, {}, ({0: ROWS},)), (_scaled, 2, {}, [{0: ROWS}, {0: ROWS}]), (_scaled, 2, {}, {"x": {0: ROWS}, "y": {0: ROWS}}),
    (_scaled, 1, {"scale": 2.0}, {"x": {0: ROWS}, "scale": None}), (lambda pair, k: pair[0] * k + pair[1], (2, 3), {}, (({0: ROWS}, {0: ROWS}), None)),
    (lambda *all: all[0] + all[1], 2, {}, {"all": ({0: ROWS}, {0: ROWS})}), (torch.sin, 1, {}, ({0: ROWS},)),
    (functools.partial(_scaled, scale=3.0), 1, {}, {"x": {0: ROWS}})])
def test_dynamic_shapes_of_functions(function, args, kwargs, shapes):
    """Dynamic shapes in the forms of torch.export, by position or by the function's argument names."""
    def make(rows):
        if isinstance(args, tuple):
            return (tuple(torch.randn(rows, 4) for _ in range(args[0])), args[1])
        return tuple(torch.randn(rows, 4) for _ in range(args))

    compiled = luminal.compile(function, make(3), kwargs, dynamic_shapes=shapes)
    for given in (make(3), make(7)):
        helpers.same(compiled(*given, **kwargs), function(*given, **kwargs))


def test_mapped_functions():
    """torch.export keeps the steps of vmap in its graph."""
    def function(x, weight):
        return torch.vmap(lambda row: (row @ weight).softmax(-1))(x)

    args = torch.randn(5, 3, 4), torch.randn(4, 6)
    torch.testing.assert_close(luminal.compile(function, args)(*args), function(*args))


def test_functions_name_their_inputs():
    compiled = luminal.compile(_scaled, (torch.randn(3, 4),), {"scale": 2.0})
    assert [t.name for t in compiled.artifact.inputs] == ["x"]
    with pytest.raises(luminal.ArgumentError, match="arg names \\['x'\\]"):
        luminal.compile(_scaled, (torch.randn(3, 4),), dynamic_shapes={"z": {0: ROWS}})


class _Integers(torch.nn.Module):
    def forward(self, x, n):
        return x + n % 7, torch.full((2,), n), x[:, :1] * int(n / 2), (x * 0 + max(n, 0)).sum()


def test_integers_of_exported_programs():
    """For an unconstrained int, torch.export states a range of 0 or more; the actual constraints are guards."""
    x = torch.randn(2, 3)
    exported = torch.export.export(_Integers(), (x, 5), dynamic_shapes=(None, torch.export.Dim.DYNAMIC), strict=True)
    compiled = luminal.compile(exported)
    for n in (5, -5, 0, -3, 2**40 + 1):
        helpers.same(compiled(x, n), _Integers()(x, n))
    for n in (2**63, 1.5, True, None):
        with pytest.raises(luminal.LuminalError, match="'n' is"):
            compiled(x, n)

    def guarded(x, n):
        return x + (n if n >= 0 else 2)

    compiled = luminal.compile(guarded, (x, 5), dynamic_shapes=(None, torch.export.Dim.DYNAMIC))
    helpers.same(compiled(x, 0), x)
    with pytest.raises(luminal.LuminalError, match="L\\['n'\\] >= 0"):
        compiled(x, -1)


@pytest.mark.parametrize("function", [
    lambda x, n: x + abs(n), lambda x, n: x * (n & 7), lambda x, n: x + round(n / 4) + (n | 3), lambda x, n: x[:x.shape[0] & 3] + abs(n),
    lambda x, n: x.new_zeros(round(x.shape[0] / 2)) + n])
def test_arithmetic_that_the_caller_does(function, tmp_path):
    """Arithmetic that no archive can express is computed at each call, so the program cannot be saved for other callers.
    """
    x, dynamic = torch.arange(6.0), torch.export.Dim.DYNAMIC
    compiled = luminal.compile(function, (x, 5), dynamic_shapes=({0: dynamic}, dynamic))
    for given, n in ((x, 5), (torch.arange(7.0), -5), (x, 2**50 + 1)):
        helpers.same(compiled(given, n), function(given, n))
    with pytest.raises(luminal.CompileError, match="cannot be saved: the caller computes"):
        compiled.save(tmp_path / "model.lum")
    assert not (tmp_path / "model.lum").exists()


@pytest.mark.parametrize("strict", [False, True])
def test_guards_that_python_checks(strict):
    """A size that is computed with floats is fixed by a guard in a non-strict trace, and otherwise computed."""
    class Rows(nn.Module):
        def forward(self, x):
            return x[:int(x.shape[0] * 0.75)] + 1

    exported = torch.export.export(Rows(), (torch.ones(7),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},), strict=strict)
    compiled = luminal.compile(exported)
    for rows in (6, 7, 8, 9):
        if strict or int(rows * 0.75) == 5:
            helpers.same(compiled(torch.ones(rows)), Rows()(torch.ones(rows)))
        else:
            with pytest.raises(luminal.ShapeError, match="the model was traced for .*0.75"):
                compiled(torch.ones(rows))


def test_numbers_that_nothing_reads_are_not_drawn():
    class Dropped(nn.Module):
        def forward(self, x):
            skipped, _ = torch.rand([]), torch.rand(4) < 0.5
            return x if self.training and skipped < 0.1 else x.sin()

    model, x = Dropped().eval(), torch.randn(8)
    torch.testing.assert_close(luminal.compile(model, (x,))(x), model(x))

    class Noisy(nn.Module):
        def forward(self, x):
            return x + torch.rand(8)

    with pytest.raises(luminal.UnsupportedOpError, match="aten.rand.*draws random numbers"):
        luminal.compile(Noisy(), (x,))
