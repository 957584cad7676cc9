# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of dims that are not stored last, whose results are stored as their operands are; of short ones; transposes."""
import luminal
import pytest
import torch

FUNCTIONS = {
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(1),
    "norm": lambda x: (x - x.mean(1, keepdim=True)) * torch.rsqrt(x.var(1, keepdim=True, correction=0) + 1e-5),
    "flat": lambda x: (x / x.abs().amax(1, keepdim=True)).flatten(),
    "both": lambda x: (x.softmax(1).transpose(0, 1).contiguous(), x.sum(1)),
}


# A vector and less, whole vectors, what is left of them; one row and several.
@pytest.mark.parametrize("shape", [(2, 7, 5), (1, 40, 64), (3, 33, 100), (2, 128, 261)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_moved_rows(name, dtype, shape):
    torch.manual_seed(0)
    x = (2 * torch.randn(shape)).to(dtype)
    found = luminal.compile(FUNCTIONS[name], (x,))(x)
    exact = FUNCTIONS[name](x.double())
    # A result is rounded once, and a bf16 one at each op besides.
    bound = {torch.float32: 2e-6, torch.float64: 1e-14, torch.bfloat16: 3e-2}[dtype]
    for result, expected in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, exact)), strict=True):
        assert result.dtype == dtype
        torch.testing.assert_close(result.double(), expected, rtol=bound, atol=8 * bound)


# What is left of a block along both axes; lines in one set of the cache, and in many.
@pytest.mark.parametrize("shape", [(3, 37, 261), (1, 1024, 150), (2, 70, 512)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool], ids=str)
def test_transposed_blocks(dtype, shape):
    torch.manual_seed(0)
    x = torch.randint(-50, 50, shape).to(dtype)
    y = torch.randint(-50, 50, (shape[0], shape[2], shape[1])).to(dtype)

    def function(x, y):
        return x.transpose(1, 2).contiguous(), torch.where(y == x.transpose(1, 2), x.transpose(1, 2), y)

    for result, expected in zip(luminal.compile(function, (x, y))(x, y), function(x, y), strict=True):
        assert torch.equal(result, expected)


@pytest.mark.parametrize("length", [2, 3, 5, 6])
@pytest.mark.parametrize("rows", [9, 70, 501])
def test_short_rows(rows, length):
    torch.manual_seed(0)
    x = torch.randint(-9, 9, (rows, length)).float()
    x[3, 1] = float("nan")

    def function(x):
        y = x.flatten()[None]
        return x.sum(-1), x.amax(-1), x.argmin(-1), x.softmax(-1), torch.nn.functional.max_pool1d(y, length, 2)

    for result, expected in zip(luminal.compile(function, (x,))(x), function(x), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-6, atol=1e-6, equal_nan=True)
