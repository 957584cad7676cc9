# ===- test_updates.py - Updates by index ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates of rows as in graph networks: element by element, with an index that is expanded over the columns."""
import helpers
import luminal
import pytest
import torch
from luminal._backend import backend

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]
REDUCTIONS = ["sum", "mean", "prod", "amax", "amin"]


def numbers(dtype, *shape):
    """Small integers, whose sums are exact; few different ones, so that many are equal."""
    return torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(len(shape))).to(dtype)


def places(most, *shape):
    return torch.randint(0, most, shape, generator=torch.Generator().manual_seed(5))


SPELLINGS = {
    "expanded": (lambda x, i, v: x.scatter_add(0, i[:, None].expand_as(v), v), (20, 8), (50,), (50, 8)),
    "repeated": (lambda x, i, v: x.scatter_add(0, i[:, None].repeat(1, 8), v), (20, 8), (50,), (50, 8)),
    "summed": (lambda x, i, v: x.scatter_add(0, i[:, None] + torch.zeros_like(v).long(), v), (20, 8), (50,), (50, 8)),
    "put": (lambda x, i, v: x.index_put((i[:, None], torch.arange(8, device=i.device)), v, accumulate=True), (20, 8), (50,), (50, 8)),
    "of matrices": (lambda x, i, v: x.scatter_add(0, i[:, None, None].expand_as(v), v), (20, 5, 8), (50,), (50, 5, 8)),
    "in batches": (lambda x, i, v: x.scatter_add(1, i[:, :, None].expand_as(v), v), (3, 20, 8), (3, 50), (3, 50, 8)),
    "along the last dim": (lambda x, i, v: x.scatter_add(1, i.expand_as(v), v), (8, 20), (50,), (8, 50)),
    "in the midst": (lambda x, i, v: x.scatter_add(0, i[:, None].expand_as(v), v), (20, 5, 8), (50, 8), (50, 5, 8)),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", SPELLINGS)
def test_an_index_for_each_row_updates_rows(name, device):
    function, to, of, what = SPELLINGS[name]
    args = tuple(x.to(device) for x in (numbers(torch.float32, *to), places(20, *of), numbers(torch.float32, *what)))
    compiled = luminal.compile(function, args)
    helpers.same(compiled(*args), function(*args))
    assert "UpdateRows" in [rule.name for rule in compiled.report.rules]


def test_an_index_for_each_element_does_not():
    args = numbers(torch.float32, 20, 8), places(20, 50, 8), numbers(torch.float32, 50, 8)
    compiled = luminal.compile(lambda x, i, v: x.scatter_add(0, i, v), args)
    helpers.same(compiled(*args), args[0].scatter_add(0, *args[1:]))
    assert "UpdateRows" not in [rule.name for rule in compiled.report.rules]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reductions_of_rows(reduction, dtype, device):
    """With rows without updates, infinities and NaN, including and excluding the old rows."""
    def function(x, i, v):
        i = i[:, None].expand_as(v)
        return x.scatter_reduce(0, i, v, reduction), x.scatter_reduce(0, i, v, reduction, include_self=False)

    x, i, v = numbers(dtype, 23, 6), 2 * places(11, 60), numbers(dtype, 60, 6)
    if dtype.is_floating_point:
        v[3], v[7, :3], v[9, 2:], x[4, 1] = float("inf"), float("-inf"), float("nan"), float("nan")
    args = tuple(each.to(device) for each in (x, i, v))
    compiled = luminal.compile(function, args)
    helpers.same(compiled(*args), function(*args))
    found = {rule.name for rule in compiled.report.rules}
    assert found >= {"UpdateRows"} | ({"UpdateColumn"} if reduction == "mean" else set())
    if reduction == "prod":
        return  # Products take a dense path: each row multiplies what it takes of all updates, by repeated halving.
    function = torch.compile(function, backend=backend, dynamic=True, fullgraph=True)
    for count in (60, 7, 0):
        some = args[0], args[1][:count], args[2][:count]
        helpers.same(function(*some), function._torchdynamo_orig_callable(*some))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bins, low, high", [(100, -3, 3), (77, -2.7, 3.1), (7, -1, 1.3)])
def test_histograms_put_what_lies_at_an_edge_where_pytorch_does(device, dtype, bins, low, high):
    """The bin of an edge is rounded in the type of the elements."""
    edges = torch.linspace(low, high, bins + 1, dtype=dtype)
    x = torch.cat([edges, edges.nextafter(edges + 1), edges.nextafter(edges - 1)]).to(device)
    compiled = torch.compile(lambda x: torch.histc(x, bins, low, high), backend=backend, fullgraph=True)
    assert torch.equal(compiled(x), torch.histc(x, bins, low, high))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("bins", [1, 100, 4096])
def test_many_sums_of_few_integers(device, dtype, bins):
    """Each thread block of a GPU counts separately with 32-bit atomics: sums carry, wrap and are negative."""
    random = torch.Generator().manual_seed(bins)
    count = 64 * bins + 20_001
    index = torch.randint(0, bins, (count,), generator=random)
    bound = 2 ** (torch.iinfo(dtype).bits - 2)
    values = torch.randint(-bound, bound, (count,), generator=random).to(dtype)
    values[::3] = 1
    start = torch.randint(-9, 9, (bins,), generator=random).to(dtype)
    start, index, values = (t.to(device) for t in (start, index, values))
    compiled = luminal.compile(lambda start, index, values: start.index_add(0, index, values), (start, index, values))
    assert torch.equal(compiled(start, index, values), start.index_add(0, index, values))


def wrapped(x, pads):
    return torch.nn.functional.pad(x, pads, mode="circular")


def half_filled(x):
    """Slices that are read before all of their elements are written."""
    y = torch.full((x.shape[0], 9), 5.0, device=x.device, dtype=x.dtype)
    y[:, 2:6] = x
    part = y[:, 4:8].clone()
    y[:, 5:9] = part * 2
    y[:, 0:1] = y[:, 8:9]
    y[:1, 3:3] = 7
    return y, part


PUT = {
    "line": (lambda x: wrapped(x, (3, 2)), (4, 16, 64)),
    "image": (lambda x: wrapped(x, (3, 1, 2, 4)), (2, 3, 8, 40)),
    "volume": (lambda x: wrapped(x, (1, 1, 2, 1, 1, 0)), (1, 2, 3, 4, 20)),
    "cropped": (lambda x: wrapped(x, (-1, 2)), (2, 3, 10)),
    "half filled": (half_filled, (3, 4)),
}


@pytest.mark.parametrize("name", PUT)
@pytest.mark.parametrize("device", DEVICES)
def test_slices_that_are_put_into_a_filled_tensor(name, device):
    function, shape = PUT[name]
    x = torch.randn(shape, device=device)
    helpers.same(helpers.compile(function)(x), function(x))
    module = torch.nn.Module()
    module.forward = function
    compiled = luminal.compile(torch.export.export(module, (x,)).run_decompositions())
    helpers.same(compiled(x), function(x))
    # Slices are put into a filled tensor without a scatter.
    assert name == "half filled" or not any("scatter" in step.name for step in compiled.profile().steps)


def test_slices_of_unknown_length_that_are_put_into_a_filled_tensor():
    compiled = torch.compile(PUT["line"][0], backend=backend, dynamic=True)
    for length in (5, 20, 33):
        x = torch.randn(2, 3, length)
        helpers.same(compiled(x), PUT["line"][0](x))
