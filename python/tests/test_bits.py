# ===- test_bits.py - Storage types, bits, and ops that PyTorch fuses -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math

import helpers
import luminal
import pytest
import torch


def test_storage_types():
    """int16 and similar types: arguments, results, wrapping arithmetic, and casts of floats out of range."""
    def function(a, b, x):
        return a * b + 7, a.sum(), (a << 2).view(torch.uint16), x.to(torch.int16), x.to(torch.uint8), x.to(torch.int8), a > b, a.float() / b

    a, b = torch.arange(-40, 40, dtype=torch.int16) * 801, torch.arange(1, 81, dtype=torch.int16) * 405
    x = torch.linspace(-7e4, 7e4, 80)
    helpers.same(helpers.compile(function)(a, b, x), function(a, b, x))
    # Above 32 bits, PyTorch's results for types other than uint8 depend on its vectorisation.
    bytes_of = lambda *values: tuple(v.to(torch.uint8) for v in values)
    wide = torch.randn(4099, dtype=torch.float64) * 10.0 ** torch.randint(0, 22, (4099,))
    wide[:9] = torch.tensor([math.inf, -math.inf, math.nan, 2.0**63, -2.0**63, 2.0**31, 65536.5, -1, 255.9])
    values = wide, wide.float(), wide.half(), wide.bfloat16()
    helpers.same(helpers.compile(bytes_of)(*values), bytes_of(*values))
    narrow = lambda v: v.to(torch.uint32).clone()
    helpers.same(helpers.compile(narrow)(torch.arange(-3, 4)), narrow(torch.arange(-3, 4)))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool], ids=str)
def test_bitwise(dtype):
    """Random integers of any sign: elements with elements, rows and scalars, constants and masks; shifts by constants and elements."""
    def function(a, b):
        results = []
        for f in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor):
            results += f(a, b), f(a, b[0]), f(a[:, :1], b), f(a, b[0, 0]), f(a, 1)
        results.append(~a & b)
        if a.dtype != torch.bool:
            results += a & 0x55, a & 15, a | -3 if a.dtype.is_signed else a | 3, a ^ 0x35, a >> 3, a << 2, a << 7, a >> (b & 7), a << (b & 7), a & 0, (a ^ b) % 64
        return results

    generator = torch.Generator().manual_seed(5)
    random = lambda: torch.randint(-2**63, 2**63 - 1, (7, 67), generator=generator).to(dtype)
    a, b = random(), random() > 0 if dtype == torch.bool else random()
    helpers.same(helpers.compile(function)(a, b), function(a, b))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_shifts_by_any_amount(dtype):
    """Amounts that are negative, or the width or more: no bit is left, but the sign to the right. Other types, numbers and rows."""
    def function(x, n, wide):
        results = []
        for f in (torch.bitwise_left_shift, torch.bitwise_right_shift):
            results += f(x, n), f(x, n[:, :1]), f(n, x[:1]), f(x, n[0, 5]), f(x, wide), f(wide, n), f(3, n), f(x, -1), f(x, 40), f(x, 100)
        return results

    amounts = torch.tensor([-128, -7, -1, 0, 1, 2, 6, 7, 8, 9, 15, 16, 17, 30, 31, 32, 33, 62, 63, 64, 65, 100, 127]).to(dtype)
    x = torch.randint(-2**63, 2**63 - 1, (9, 1), generator=torch.Generator().manual_seed(6)).expand(9, len(amounts)).to(dtype)
    args = x, amounts.expand(9, -1).contiguous(), amounts.long()
    compiled = helpers.compile(function)
    helpers.same(compiled(*args), function(*args))


def test_shifts_are_instructions():
    """No table of powers and no division is left."""
    x, n = torch.arange(-50, 50), torch.arange(100) % 70
    compiled = luminal.compile(lambda x, n: (x << n, x >> n, 1 << n), (x, n))
    helpers.same(compiled(x, n), (x << n, x >> n, 1 << n))
    assert {"ShiftLeft", "ShiftRight"} <= {rule.name for rule in compiled.report.rules}


def test_spatial_hash():
    """The rows of a table that a hash of three coordinates picks; indices of every sign."""
    def function(x, table):
        i = x.floor().long()
        h = (i[..., 0] * 1) ^ (i[..., 1] * 2654435761) ^ (i[..., 2] * 805459861)
        return table[h % table.shape[0]], table[h & 1023]

    x, table = torch.randn(50, 8, 3) * 1000, torch.randn(2**12, 2)
    helpers.same(helpers.compile(function)(x, table), function(x, table))


def test_bit_casts():
    """Casts between types of equal and different widths, of an argument and of a value; NaN keeps its bits."""
    def function(x, h, i):
        return (x.view(torch.int32) ^ 5, (x * 2).view(torch.uint8), h.view(torch.int32), h.view(torch.int16), (i + 1).view(torch.bfloat16),
                i.view(torch.float64), (x + 1).view(torch.int64))

    x = torch.randn(3, 40)
    x[0, :3] = torch.tensor([math.nan, -0.0, math.inf])
    args = x, torch.randn(3, 40).bfloat16(), torch.randint(0, 2**30, (3, 40), dtype=torch.int32)
    got, expected = helpers.compile(function)(*args), function(*args)
    for a, b in zip(got, expected):
        assert a.dtype == b.dtype and torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))

    def written(x):
        y = x.view(torch.int32) & 7
        x.add_(1)
        return y

    ours, theirs = x.clone(), x.clone()
    helpers.same(helpers.compile(written)(ours), written(theirs))
    helpers.same(ours, theirs)


@pytest.mark.parametrize("options", [{}, {"norm_first": True, "activation": "gelu"}])
def test_encoder_on_the_fast_path(options):
    model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, **options), 2, enable_nested_tensor=False)
    model.eval()
    x, padding = torch.randn(2, 5, 16), torch.arange(5)[None] >= torch.tensor([[5], [3]])
    with torch.no_grad():
        compiled = helpers.compile(model)
        helpers.same(compiled(x), model(x))
        helpers.same(compiled(x, src_key_padding_mask=padding), model(x, src_key_padding_mask=padding))


def test_masked_writes():
    def function(y, m, row):
        y = y.clone()
        y[:, m] = 0
        z = y.t().clone()
        z[m] = row
        return y, z

    args = torch.randn(2, 3), torch.tensor([True, False, True]), torch.tensor([5.0, 6.0])
    helpers.same(helpers.compile(function)(*args), function(*args))

    def rows(y, m, v):
        y = y.clone()
        y[m] = v
        return y

    with pytest.raises(Exception, match="index_put.*a value for each element that it holds for"):
        helpers.compile(rows)(torch.randn(3, 2), args[1], torch.randn(2, 2))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_images_of_bytes_are_resampled_in_integers(mode, antialias):
    """The result has the same bits as PyTorch's CPU code, which rounds weights to 16 bits, and to bytes between the dims.
    """
    def resample(x, like, align_corners):
        return torch.nn.functional.interpolate(x, size=like.shape, mode=mode, align_corners=align_corners, antialias=antialias)

    def scaled(x):
        return torch.nn.functional.interpolate(x, scale_factor=0.7, mode=mode, antialias=antialias)

    torch._dynamo.reset()
    compiled, compiled_scaled = helpers.compile(resample, dynamic=True), helpers.compile(scaled)
    generator = torch.Generator().manual_seed(0)
    for shape, size in (((5, 7), (6, 9)), ((13, 20), (4, 31)), ((30, 9), (7, 9)), ((17, 23), (3, 2)), ((8, 12), (5, 3))):
        x, like = torch.randint(0, 256, (2, 3, *shape), dtype=torch.uint8, generator=generator), torch.empty(size)
        for align_corners in (False, True):
            assert torch.equal(compiled(x, like, align_corners), resample(x, like, align_corners))
        assert torch.equal(compiled_scaled(x), scaled(x))
    floats = torch.rand(1, 2, 6, 8)
    helpers.same(helpers.compile(scaled)(floats), scaled(floats))
    exported = torch.export.export(Scaled(scaled), (x,))
    assert torch.equal(luminal.compile(exported)(x), scaled(x))


class Scaled(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_fake_quantisation(dtype):
    """Elements as integers of a few bits hold them, with the mask of those in range: by numbers, tensors and channels, switched
    off, and NaN."""
    cached, switched = torch.ops.aten.fake_quantize_per_tensor_affine_cachemask, torch.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams

    def function(x, scale, zero, on, off):
        return (*cached(x, 0.037, -3, -128, 127), *cached(x, 0.1, 5, 0, 15), torch.fake_quantize_per_channel_affine(x, scale, zero, 0, -8, 7),
                torch.fake_quantize_per_channel_affine(x[:, :5].clone(), scale, zero, 1, 0, 255), torch.fake_quantize_per_tensor_affine(x, scale[0], zero[0], 0, 255),
                *switched(x, scale[:1], zero[:1], on, -4, 7), *switched(x, scale[:1], zero[:1], off, -4, 7))

    x = (torch.randn(5, 200, generator=torch.Generator().manual_seed(7)) * 3).to(dtype)
    x[2, 3] = math.nan
    args = x, torch.tensor([0.11, 0.53, 0.29, 0.0625, 1.5]), torch.tensor([3, 1, 0, 7, 2], dtype=torch.int32), torch.tensor([1]), torch.tensor([0])
    helpers.same(helpers.compile(function)(*args), function(*args))
