# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of long sums in float32. Sums are computed in blocks, so their errors stay close to PyTorch's."""
import pytest
import torch

import luminal
from helpers import compile

EPSILON = 2.0**-24


def error_of(function, *inputs):
    """The largest error compared with float64, relative to the largest result."""
    with torch.no_grad():
        result = luminal.compile(function, inputs)(*inputs)
        exact = function(*(x.double() for x in inputs))
    return float((result - exact).abs().max() / exact.abs().max())


@pytest.mark.parametrize("rows, columns", [(48, 64), (5, 48), (33, 7), (1, 64), (64, 1)])
def test_products_over_many_factors(rows, columns):
    generator = torch.Generator().manual_seed(rows)
    x = torch.rand(rows, 1 << 16, generator=generator)
    w = torch.rand(columns, 1 << 16, generator=generator)
    # Adding the terms one after the other would give 192 EPSILON.
    assert error_of(lambda x, w: x @ w.T, x, w) < 16 * EPSILON
    assert error_of(lambda x, w: x @ w, x, w.T.contiguous()) < 16 * EPSILON


def test_products_over_any_number_of_factors():
    generator = torch.Generator().manual_seed(1)
    compiled = compile(lambda x, w: x @ w, dynamic=True)
    for factors in (70000, 1, 511, 513, 1025):
        x, w = torch.rand(24, factors, generator=generator), torch.rand(factors, 48, generator=generator)
        exact = x.double() @ w.double()
        assert float(((compiled(x, w) - exact) / exact).abs().max()) < 16 * EPSILON


def test_convolutions_over_many_channels():
    generator = torch.Generator().manual_seed(2)
    x = torch.rand(1, 4096, 9, 9, generator=generator)
    w = torch.rand(32, 4096, 3, 3, generator=generator)
    assert error_of(lambda x, w: torch.nn.functional.conv2d(x, w, padding=1), x, w) < 16 * EPSILON


@pytest.mark.parametrize("shape, dim", [((1 << 22,), 0), ((3, 1 << 21), 1), ((1 << 20, 3), 0), ((1 << 18, 2, 16), 0)])
@pytest.mark.parametrize("reduce", [torch.sum, torch.mean, torch.var])
def test_reductions_of_many_elements(reduce, shape, dim):
    x = torch.rand(shape, generator=torch.Generator().manual_seed(3))
    assert error_of(lambda x: reduce(x, dim), x) < 16 * EPSILON


def test_sums_of_any_number_of_elements():
    compiled = compile(lambda x: x.sum(0), dynamic=True)
    for count in (1 << 22, 2, 4097):
        x = torch.rand(count, generator=torch.Generator().manual_seed(count))
        exact = x.double().sum()
        assert abs(float(compiled(x)) / float(exact) - 1) < 16 * EPSILON


def test_transforms_of_many_points():
    x = torch.rand(4, 4096, generator=torch.Generator().manual_seed(4))
    assert error_of(lambda x: torch.fft.rfft(x).abs(), x) < 8 * EPSILON
