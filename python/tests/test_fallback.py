# ===- test_fallback.py - Ops that are not supported ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import warnings

import helpers
import luminal
import pytest
import torch
from luminal._backend import backend


def between(x):
    y = x.sin() * 2
    z = torch.linalg.eigvalsh(y @ y.t())
    return z.cos() + y.sum(), y


def run(function, *args, **kwargs):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = torch.compile(function, backend=backend, **kwargs)(*args)
    return result, [str(w.message) for w in heard if "luminal" in str(w.message)]


def test_two_parts_and_one_warning(compiles):
    x = torch.randn(4, 4)
    got, heard = run(between, x)
    helpers.same(got, between(x))
    assert len(heard) == 1 and "_linalg_eigh" in heard[0] and "test_fallback.py:" in heard[0]
    assert len(compiles) == 2


class Values(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.eigvalsh(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.values = torch.nn.Softmax(-1), Values()

    def forward(self, x):
        return self.values(self.norm(x))


def test_warnings_name_modules():
    _, heard = run(Net(), torch.randn(4, 4))
    assert len(heard) == 1 and "_linalg_eigh.default (values, " in heard[0] and "test_fallback.py:" in heard[0]
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=r"_linalg_eigh.default \(values, .*test_fallback.py:"):
        run(Net(), torch.randn(4, 4), fullgraph=True)


def test_views_of_what_is_written():
    """Views of a written tensor are created after the write; reads before it see the old values."""
    def function(x, y):
        values = torch.linalg.eigvalsh(y)
        before = (x * 50).to(torch.float16)
        x.t().mul_(0.5)
        return x[1:, 1:], before, values

    y = torch.eye(3)
    ours, theirs = torch.ones(4, 3), torch.ones(4, 3)
    got, expected = run(function, ours, y)[0], function(theirs, y)
    helpers.same(got, expected)
    got[0].add_(1)
    expected[0].add_(1)
    helpers.same(ours, theirs)


@pytest.mark.parametrize("kwargs", [{"options": {"fallback": "error"}}, {"fullgraph": True}])
def test_strict(kwargs):
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
        run(between, torch.randn(4, 4), **kwargs)
    error = caught.value.inner_exception
    assert isinstance(error, luminal.UnsupportedOpError)
    assert [(op.op.split(".")[1], op.file.endswith("test_fallback.py"), op.line > 0) for op in error.ops] == [
        ("_linalg_eigh", True, True)]


def test_supported_graphs_do_not_warn():
    x = torch.randn(4, 4)
    assert run(lambda x: (x @ x).softmax(-1), x, fullgraph=True)[1] == []


@pytest.mark.parametrize(("n", "cuts"), [(1000, 0), (4096, 1)])
def test_ops_whose_cost_grows_faster_than_their_operands(n, cuts):
    """PyTorch runs such ops if they have many elements, unless the caller wants one graph. With precision "exact", scans
    are not recovered."""
    def function(x):
        return torch.cumprod(x * 2, -1) + 1, torch.cumprod(x + 1, 1)

    x, exact = torch.randn(2, n), {"precision": "exact"}
    got, heard = run(function, x)
    helpers.same(got, function(x))
    assert not heard
    torch._dynamo.reset()
    got, heard = run(function, x, options=exact)
    helpers.same(got, function(x))
    assert len(heard) == cuts
    for text in heard:
        assert f"cumprod.default: its cost grows by a pass over all elements for each doubling of {n} elements" in text
    torch._dynamo.reset()
    got, heard = run(function, x[:, :2200], fullgraph=True, options={"cache": False, **exact})
    helpers.same(got, function(x[:, :2200]))
    assert len(heard) == 2 * cuts and all("its cost grows" in text and "2200 elements" in text for text in heard)


def orders(x):
    values, places = torch.sort(x, dim=-1, stable=True)
    first, last = torch.sort(x, dim=0, stable=True, descending=True), torch.argsort(x, dim=1, stable=True)
    if x.dtype == torch.bool:
        return values, places, *first, last
    # The positions of equal elements in these results are undefined, as is the sign of zeros.
    chosen = torch.topk(x, 5)[0], torch.topk(x, x.shape[-1] // 3, largest=False)[0], torch.topk(x, 2, 0)[0]
    middle = torch.kthvalue(x, 7)[0], torch.median(x, -1)[0], torch.median(x), torch.msort(x)
    return values, places, *first, last, *(c + 0 for c in (*chosen, *middle))


def to_order(dtype, n=700):
    """Input with NaN, infinities, zeros of both signs and equal elements."""
    x = torch.randint(0, 2 if dtype == torch.bool else 90, (24, 24, n))
    if dtype.is_floating_point:
        x = torch.randn(24, 24, n).mul(4).round()
        for start, step, value in ((0, 7, -0.0), (3, 91, float("nan")), (5, 93, float("inf")), (6, 97, -float("inf"))):
            x.view(-1)[start::step] = value
    return x.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
                                   torch.int16, torch.uint8, torch.bool])
def test_orders_are_found_in_their_spelling(dtype):
    """Sorts of any type, along any dim, and top-k: PyTorch runs none of them, and none compares all pairs."""
    x = to_order(dtype)
    compiled = luminal.compile(orders, (x,))
    got, expected = compiled(x), orders(x)
    helpers.same(got, expected)
    if dtype.is_floating_point:
        assert torch.equal(torch.signbit(got[0].nan_to_num()), torch.signbit(expected[0].nan_to_num()))
    assert sum(k.steps for k in compiled.report.kernels if k.kind == "argsort") == (3 if dtype == torch.bool else 6)


def test_orders_of_any_size(compiles):
    function = torch.compile(orders, backend=backend, dynamic=True, fullgraph=True)
    for shape in ((24, 20, 2100), (3, 2, 21), (16, 20, 50)):
        x = to_order(torch.float32, 2100)[:shape[0], :shape[1], :shape[2]].contiguous()
        helpers.same(function(x), orders(x))
    assert len(compiles) == 1


def scans(x):
    extrema = *torch.cummax(x, -1), *torch.cummin(x, 0), *torch.cummax(x, 1)
    sums = torch.cumsum(x, -1), torch.cumsum(x, 1), torch.cumsum(x, 0)
    last = torch.logcumsumexp if x.is_floating_point() else torch.cumprod
    return *extrema, *sums, last(x, -1), last(x, 0)


def to_scan(dtype, n, special=True):
    x = torch.randint(-9, 9, (20, 21, n)) if not dtype.is_floating_point else torch.randn(20, 21, n).mul(8).round().div(4)
    if special and dtype.is_floating_point:
        x[0, :, 5::7] = -0.0
        x[1, 4, n // 2] = float("nan")
        x[1, 5, 3:] = -float("inf")
        x[2, 2, :4] = -float("inf")
        x[2, 7, n // 3] = float("inf")
    return x.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
                                   torch.int16, torch.uint8, torch.bool])
def test_scans_are_found_in_their_spelling(dtype):
    """Scans of any type, along any dim, over short and long rows: none reads all pairs of elements."""
    for n in (70, 4500):
        x = to_scan(dtype, n)
        function = (lambda x: (torch.cumsum(x, -1), torch.cumsum(x, 0))) if dtype == torch.bool else scans
        compiled = luminal.compile(function, (x,))
        wide = [y.double() for y in function(x.double())] if dtype.is_floating_point else function(x)
        for got, expected, exact in zip(compiled(x), function(x), wide, strict=True):
            assert got.dtype == expected.dtype
            # PyTorch adds halves one by one in f32, so compare with the exact sum.
            precise = dtype in (torch.float32, torch.float64) or not dtype.is_floating_point
            helpers.same(got, expected if precise else exact.to(expected.dtype))
        assert sum(k.steps for k in compiled.report.kernels if k.kind == "scan") >= len(wide) - 1  # a short dim may be reduced in a kernel


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_products_of_floats_are_found_in_their_spelling(dtype, compiles):
    """Products are computed from the left, like PyTorch's: results that became infinite or zero stay so, except for
    infinity times zero."""
    def function(x):
        return torch.cumprod(x, -1), torch.cumprod(x, 0)

    function = torch.compile(function, backend=backend, dynamic=True, fullgraph=True)
    for n in (5000, 70):
        x = 1 + torch.randn(20, n, dtype=torch.float64) / 64
        for row, values in enumerate([(0.0, 3.0), (float("inf"), 2.0), (float("inf"), -0.0), (float("nan"), 1.0),
                                      (1e30, 1e30), (1e-30, 1e30), (-0.0, float("inf"))]):
            x[row, 5:30], x[row, 30:60] = values
        x = x.to(dtype)
        helpers.same(function(x), (torch.cumprod(x, -1), torch.cumprod(x, 0)))
    compiled = luminal.compile(lambda x: torch.cumprod(x, -1), (x,))
    helpers.same(compiled(x), torch.cumprod(x, -1))
    assert [k.kind for k in compiled.report.kernels] == ["scan"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_members_are_found_in_their_order(dtype):
    """PyTorch runs none of these ops, and no element is compared with all others."""
    def function(x, t):
        return torch.isin(x, t), torch.isin(t, x[0, 0], invert=True)

    x, t = to_scan(dtype, 50), to_scan(dtype, 90)[0, :5]
    compiled = luminal.compile(function, (x, t))
    helpers.same(compiled(x, t), function(x, t))
    assert sum(k.steps for k in compiled.report.kernels if k.kind == "argsort") == 1


def test_scans_of_any_size(compiles):
    function = torch.compile(scans, backend=backend, dynamic=True, fullgraph=True)
    for n in (5000, 6, 333):
        x = to_scan(torch.float32, n)
        helpers.same(function(x), scans(x))
    assert len(compiles) == 1


def test_writes_around_an_unsupported_op():
    def function(x):
        x.add_(1)
        y = torch.linalg.eigvalsh(x @ x.t())
        x.mul_(y.sum())
        return y

    ours, theirs = (torch.ones(3, 3) for _ in range(2))
    got, heard = run(function, ours)
    helpers.same(got, function(theirs))
    helpers.same(ours, theirs)
    assert len(heard) == 1


@pytest.mark.parametrize("dtype", [torch.uint64])
def test_other_element_types(dtype):
    def function(x):
        return x.to(dtype).reshape(2, 2).clone(), x + 1

    x = torch.arange(4.0)
    got, heard = run(function, x)
    helpers.same(got, function(x))
    assert len(heard) == 1 and str(dtype).removeprefix("torch.") in heard[0]


def test_custom_op():
    @torch.library.custom_op("luminal_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)

    def function(x):
        return twice(x.exp() + 1).log() * x.shape[0]

    for n in (3, 5, 6):
        x = torch.randn(n, 4)
        helpers.same(run(function, x)[0], function(x))


def test_custom_op_that_no_kernel_is_declared_for(tmp_path):
    @torch.library.custom_op("luminal_tests::thrice", mutates_args=())
    def thrice(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    @thrice.register_fake
    def _(x):
        return torch.empty_like(x)

    kernels = tmp_path / "kernels.mlir"
    kernels.write_text('''
llir.user_kernel @"luminal_tests::other" (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0) {
  llir.user_code text ".version 7.0" entry "other"
      launch #llir.cuda_custom_launch<grid_x = 1, grid_y = 1, grid_z = 1, shared = 0, values = [],
                                      {block_x = 1, block_y = 1, block_z = 1, parameters = "b0 b1"}>
}
''')
    x = torch.randn(4)
    got, heard = run(lambda x: thrice(x.exp()) + 1, x, options={"kernels": (str(kernels),)})
    helpers.same(got, x.exp() * 3 + 1)
    assert len(heard) == 1 and "luminal_tests.thrice" in heard[0]


def test_random_numbers_are_those_of_pytorch():
    def function(x):
        return torch.rand_like(x) + x * 2

    x = torch.randn(4)
    torch.manual_seed(7)
    got, heard = run(function, x)
    torch.manual_seed(7)
    helpers.same(got, function(x))
    assert "rand_like" in heard[0]


def test_floats_of_sizes():
    def function(x):
        return x * (x.shape[0] / (x.shape[0] + 1)), x.mean(0)

    compiled = torch.compile(function, backend=backend, dynamic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (3, 5):
            x = torch.randn(n, 4)
            helpers.same(compiled(x), function(x))


def test_a_graph_without_tensors():
    compiled = helpers.compile(lambda x: x.shape[0] + 1, dynamic=True)
    assert compiled(torch.randn(3)) == 4


def test_sizes_that_only_an_unsupported_op_knows(compiles):
    """The op after it reads a tensor whose extent depends on an int that no tensor determines, so the caller passes the
    int."""
    def function(x, w, stride):
        return airy(torch.nn.functional.conv_transpose1d(x, w, stride=stride)).sin() * 2

    check(function, [(torch.randn(1, 3, n), torch.randn(3, 4, 5), stride) for n, stride in ((7, 2), (9, 3))])
    assert compiles


airy = torch.special.airy_ai  # not supported, so PyTorch runs it


def check(function, calls):
    """Compares with eager mode for dynamic sizes; returns the warnings."""
    compiled = torch.compile(function, backend=backend, dynamic=True)
    with warnings.catch_warnings(record=True) as heard, torch.no_grad():
        warnings.simplefilter("always")
        for args in calls:
            copies = [[a.clone() if isinstance(a, torch.Tensor) else a for a in args] for _ in range(2)]
            helpers.same(compiled(*copies[0]), function(*copies[1]))
            helpers.same(copies[0], copies[1])
    return [str(w.message) for w in heard if "luminal" in str(w.message)]


@pytest.mark.parametrize("function", [
    lambda x: (airy(x[1:]) * 2).split(2), lambda x: (airy(x[1:]) * 2).unbind(1),
    lambda x: (lambda w: (w, w.t()))(airy(x[1:]) * 2), lambda x: airy(x[::2]).flatten() + 1,
    lambda x: (airy(x).sum(), torch.as_strided((x * 2)[:, ::2], [2, 3], [x.shape[1], 1]) + 0),
    lambda x: torch.as_strided((x * 2)[:, 1:], [2, 2], [4, 1]) + 0,
    lambda x: torch.as_strided((x.t() * 2)[1:], [2, 2], [4, 1]) + airy(x).sum(),
])
def test_views_beside_an_unsupported_op(function):
    check(function, [(torch.rand(n, 4),) for n in (7, 9)])


def test_what_is_not_proved_beside_an_unsupported_op():
    heard = check(lambda x: (airy(x).sum(), (x[:, :, 12:, 12:] * 2).flatten(1).relu()),
                  [(torch.rand(2, 3, 16, 16),), (torch.rand(2, 3, 20, 18),)])
    assert all("airy" in text or "compiles for" in text for text in heard)


def test_a_retry_ends():
    """An op that was decomposed already, but is reported again, is left to PyTorch."""
    def refuse(compile_archive, options, graph_module):
        found = [n for n in graph_module.graph.nodes if n.target is torch.ops.aten.view.default]
        if found:
            raise luminal.UnsupportedOpError("view", [luminal.UnsupportedOp("view", n.name, "", 0) for n in found])
        return compile_whole(compile_archive, options, graph_module)

    compile_whole = luminal._backend.compile_whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(luminal._backend, "compile_whole", refuse)
        assert any("view" in text for text in check(lambda x: (x * 2).flatten() + 1, [(torch.rand(3, 4),)]))


def test_an_op_that_no_archive_holds():
    """An error of torch's serialiser is reported with the op and its line."""
    from luminal import _archive

    def refuse(self, node):
        raise AssertionError("no such thing")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_archive.serde.GraphModuleSerializer, "handle_call_function", refuse)
        heard = check(lambda x: (x * 2).sin(), [(torch.rand(3, 4),)])
    assert len(heard) == 1 and "aten.sin.default: an archive cannot express it: no such thing" in heard[0]
    assert "test_fallback.py:" in heard[0]


@pytest.mark.parametrize("function", [lambda x, n: (x * 2, n > x.size(0)), lambda x, n: (x * 2, n / 3 + x.size(0)),
                                      lambda x, n: (airy(x), n > x.size(0), n * 0.1)])
def test_numbers_of_sizes_as_outputs(function):
    check(function, [(torch.rand(4), 3), (torch.rand(5), 9)])
