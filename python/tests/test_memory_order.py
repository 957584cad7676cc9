# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions over dims that are not stored last, whose results have the memory order of their operands; reductions over
short dims; transposes."""
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


# Fewer elements than a vector, whole vectors, and a remainder; one row and several.
@pytest.mark.parametrize("shape", [(2, 7, 5), (1, 40, 64), (3, 33, 100), (2, 128, 261)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_moved_rows(name, dtype, shape):
    torch.manual_seed(0)
    x = (2 * torch.randn(shape)).to(dtype)
    found = luminal.compile(FUNCTIONS[name], (x,))(x)
    exact = FUNCTIONS[name](x.double())
    # Results are rounded once; bf16 results in addition at each op.
    bound = {torch.float32: 2e-6, torch.float64: 1e-14, torch.bfloat16: 3e-2}[dtype]
    for result, expected in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, exact)), strict=True):
        assert result.dtype == dtype
        torch.testing.assert_close(result.double(), expected, rtol=bound, atol=8 * bound)


# A partial block along both axes; rows that map to one cache set, and to many.
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


# 70 pieces have more conditions than become branches.
@pytest.mark.parametrize("pieces", [2, 5, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool], ids=str)
def test_concatenated_transposes(dtype, pieces):
    torch.manual_seed(0)
    given = [torch.randint(0, 100, (2, 3, 37) if i % 3 == 0 else (2, 37, i % 7 + 1)).to(dtype) for i in range(pieces)]

    def function(*x):
        joined = torch.cat([piece if i % 3 == 0 else piece.transpose(1, 2) for i, piece in enumerate(x)], 1)
        return joined, joined[:, 1:, 3:].contiguous()

    for got, expected in zip(luminal.compile(function, tuple(given))(*given), function(*given), strict=True):
        assert torch.equal(got, expected)


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


# At most one vector, a remainder after whole vectors, and more elements of the last dim than are processed at a time.
@pytest.mark.parametrize("shape", [(7,), (16,), (3, 37), (9000,)], ids=str)
@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.bool], ids=str)
def test_short_last_dims(dtype, count, shape):
    torch.manual_seed(0)
    x = torch.randint(-50, 50, (*shape, count)).to(dtype)
    parts = tuple(torch.randint(-50, 50, shape).to(dtype) for _ in range(count))

    def function(x, *parts):
        turned = [x[..., (i + 1) % count] for i in range(count)]
        return torch.stack(parts, -1), torch.stack([a ^ b if dtype == torch.bool else a * b - a
                                                    for a, b in zip(turned, parts, strict=True)], -1)

    compiled = luminal.compile(function, (x, *parts))
    for result, expected in zip(compiled(x, *parts), function(x, *parts), strict=True):
        if dtype == torch.bfloat16:  # rounded once, while PyTorch rounds at each op
            torch.testing.assert_close(result, expected, rtol=2e-2, atol=0.5)
        else:
            assert torch.equal(result, expected)


# The parts of complex numbers are read with stride two, and each depends on both.
@pytest.mark.parametrize("size", [5, 64, 4099])
def test_complex_parts(size):
    torch.manual_seed(0)
    x, y = torch.randn(size, 2), torch.randn(size, 2)

    def function(x, y):
        (a, b), (c, d) = x.unbind(-1), y.unbind(-1)
        return torch.stack([a * c - b * d, a * d + b * c], -1)

    exact = torch.view_as_real(torch.view_as_complex(x.double()) * torch.view_as_complex(y.double()))
    torch.testing.assert_close(luminal.compile(function, (x, y))(x, y).double(), exact, rtol=0, atol=2e-6)
