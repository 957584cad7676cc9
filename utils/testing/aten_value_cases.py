# ===- aten_value_cases.py - Programs on values that are hard to get right -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More cases of the themes of aten_cases.py: NaN, infinities and overflow where PyTorch's own algorithm decides what
comes of them, inputs far from 0, images of bytes, and ranges of integers between floats.
"""
import torch
import torch.nn.functional as F

from aten_inputs import bf16, f16, f64, inf, ints, nan, rand

# What a search for a place meets on its way, sorted and not.
SEQUENCES = [torch.tensor(s) for s in ([0.0, 1.0, nan], [0.0, 1.0, nan, nan], [nan, 0.0, 1.0], [-inf, 0.0, 0.0, 1.0, inf, inf, nan],
                                       [3.0, 1.0, 2.0, 0.0, 5.0, nan, 4.0], [nan], [])]
SOUGHT = torch.tensor([0.5, 3.0, nan, inf, -inf, 1.0, 0.0, -0.0])
ROWS = torch.stack([SEQUENCES[3], SEQUENCES[4]])
SEARCH = [
    ("nanmedian", lambda x, y, i: (x.nanmedian(), *x.nanmedian(1), *y.nanmedian(1), *y.nanmedian(0, keepdim=True), y.nanmedian(), y[2:].nanmedian(1)[0],
                                   y[2:].nanmedian(), *i.nanmedian(1), i.nanmedian(), y[0, 0].nanmedian(), x.reshape(2, 3, 3).nanmedian(1)[0], *y.half().nanmedian(1)),
     [rand(3, 6), torch.tensor([[1.0, nan, 2.0, -inf], [3.0, 1.0, inf, nan], [nan, nan, nan, -0.0]]), torch.stack([torch.randperm(5), torch.randperm(5)])]),
    ("search-nan", lambda v: tuple(f(s.to(v.dtype)) for s in SEQUENCES for f in (
        lambda s: torch.searchsorted(s, v), lambda s: torch.searchsorted(s, v, right=True), lambda s: torch.bucketize(v, s),
        lambda s: torch.bucketize(v, s, right=True, out_int32=True))), [SOUGHT]),
    ("search-nan-rows", lambda s, v: (torch.searchsorted(s, v), torch.searchsorted(s, v, side="right", out_int32=True)),
     [ROWS, torch.stack([SOUGHT, SOUGHT.flip(0)])]),
    ("search-sorter", lambda s, v, i: (torch.searchsorted(s, v, sorter=i), torch.searchsorted(s, v, right=True, sorter=i)),
     [ROWS, torch.stack([SOUGHT, SOUGHT.flip(0)]), torch.stack([torch.arange(7), SEQUENCES[4].argsort()])]),
    ("search-dynamic", lambda s, v: (torch.searchsorted(s, v), torch.bucketize(v, s, right=True)), [SEQUENCES[3], SOUGHT], ({0: "n"}, {0: "m"})),
]

SPOTS = torch.tensor([nan, inf, -inf, 0.3, -0.8, 1e10, -1e10, 3.0])
GRID2 = torch.stack(torch.meshgrid(SPOTS, SPOTS, indexing="ij"), -1)[None]
GRID3 = torch.stack(torch.meshgrid(SPOTS, SPOTS, SPOTS, indexing="ij"), -1)[None]


def sampled(modes):
    return lambda x, g: tuple(F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=a)
                              for m in modes for p in ("zeros", "border", "reflection") for a in (False, True))


BYTES = ints(2, 3, 5, 7, low=0, high=256).to(torch.uint8)
MANY = ints(1, 6, 9, 8, low=0, high=256).to(torch.uint8)  # Beyond 4 channels, PyTorch has another kernel.


def resized(mode, sizes, corners=(False, True), **options):
    return lambda x: tuple(F.interpolate(x, size=s, mode=mode, align_corners=a, **options) for s in sizes for a in corners)


SIZES = [(6, 9), (3, 4), (5, 7), (11, 2), (1, 1), (5, 3), (40, 7)]
RESAMPLE = [
    ("grid-nan", sampled(("bilinear", "nearest", "bicubic")), [rand(1, 2, 3, 4), GRID2]),
    ("grid-nan-one", sampled(("bilinear", "nearest", "bicubic")), [rand(1, 1, 1, 2), GRID2]),
    ("grid-nan-f64", sampled(("bilinear", "nearest", "bicubic")), [rand(1, 2, 3, 4, dtype=f64), GRID2.double()]),
    ("grid-nan-3d", sampled(("bilinear", "nearest")), [rand(1, 2, 3, 4, 2), GRID3]),
    ("grid-infinite-image", sampled(("bilinear", "nearest")), [torch.tensor([[[[inf, 1.0, nan], [2.0, -inf, 3.0]]]]), rand(1, 3, 4, 2, low=-1.4, high=1.4)]),
]

PRODUCTS = [torch.tensor(p) for p in (
    [1e20, 1e20, 0.0, 5.0], [inf, 0.0, 1.0], [0.0, inf, 1.0, 2.0], [2.0, nan, 0.0, inf], [-2.0, inf, 3.0, -1.0, 0.5],
    [1e-30] * 12 + [1e30] * 20 + [0.0, -1.0], [1e30] * 12 + [1e-30] * 12 + [0.0, 1.0], [-1e30] * 12 + [3.0, inf, -1.0, 0.0],
    [1e-38] * 10 + [1.0, -1.0, inf, 1.0], [1e-45, 1e30, -1e10, 1e-5], [-0.0, 1.0, -1.0], [1.7] * 100 + [0.3] * 200)]
SCAN = [
    ("cumulative-products-overflow", lambda *all: tuple(p.cumprod(0) for p in all), PRODUCTS),
    ("cumulative-products-overflow-f64", lambda *all: tuple(p.cumprod(0) for p in all), [
        torch.tensor(p, dtype=f64) for p in ([1e200, 1e200, 0.0, 5.0], [1e-200, 1e200, 1e200, 2.0], [1e-200, 1e-200, inf, 1.0], [5e-324, 1e300, 1e20],
                                             [1e200, 1e200, 1e-200, 1e-200, nan])]),
    ("cumulative-products-overflow-bf16", lambda *all: tuple(p.cumprod(0) for p in all), [p.to(bf16) for p in PRODUCTS]),
    ("cumulative-products-overflow-f16", lambda *all: tuple(p.cumprod(0) for p in all), [p.to(f16) for p in PRODUCTS]),
    ("cumulative-products-rows", lambda x: (x.cumprod(0), x.cumprod(1)), [torch.stack([p[:3] for p in PRODUCTS[:5]])]),
    ("cumulative-products-dynamic", lambda x: x.cumprod(0), [PRODUCTS[6]], ({0: "n"},)),
]

WINDOWED = torch.tensor([[[1.0, nan, 3.0, nan], [nan, 2.0, inf, 5.0], [-inf, -inf, 1.0, 1.0], [-inf, -inf, 1.0, 1.0]]])
CONVOLUTION = [
    ("pools-nan", lambda x: (*F.max_pool2d(x, 2, return_indices=True), *F.max_pool2d(x, 3, 1, 1, return_indices=True),
                             *F.max_pool2d(x, 2, 2, dilation=2, return_indices=True), *F.max_pool1d(x[0], 3, 1, return_indices=True),
                             *F.adaptive_max_pool2d(x, (3, 1), return_indices=True), *F.adaptive_max_pool1d(x[0], 3, return_indices=True),
                             *F.max_pool3d(x[None], (1, 2, 2), return_indices=True), *F.adaptive_max_pool3d(x[None], (1, 2, 3), return_indices=True)),
     [WINDOWED]),
]

SEVERAL = torch.tensor([[1.0, nan, 3.0, nan, 2.0, 3.0], [nan, nan, nan, nan, nan, nan], [inf, 2.0, inf, nan, -inf, nan], [-inf, -inf, inf, 0.0, -0.0, inf]])
OFFSET = rand(3, 4096) + 1e5


def spreads(x):
    return (x.var(), x.var(1), x.std(1, correction=0), x.std(), x.var(0), *torch.var_mean(x, 1), *torch.std_mean(x, 1, keepdim=True), *torch.var_mean(x))


REDUCTION = [
    ("extrema-nan", lambda x: (*x.max(1), *x.min(1), x.argmax(1), x.argmin(1), x.argmax(), x.argmin(), *torch.aminmax(x), *torch.aminmax(x, dim=1),
                               *x.cummax(1), *x.cummin(1), *x.sort(dim=1, stable=True), *x.sort(dim=1, stable=True, descending=True), x.topk(3)[0],
                               x.topk(4, largest=False)[0], *x.median(1), x.median(), x.kthvalue(2, 1)[0], torch.maximum(x, x.flip(1)), torch.fmax(x, x.flip(1)),
                               x.amax(), x.amin(1)), [SEVERAL]),
    ("statistics-constant", lambda x: (x.var(1), x.std(1), *torch.std_mean(x, 1)), [torch.full((3, 1000), 0.1)]),
    ("statistics-far", spreads, [OFFSET]),
    ("statistics-infinite", lambda x: x.var(1), [torch.tensor([[1.0, inf], [2.0, 3.0], [nan, 1.0], [1e20, -3e20]])]),
]
NORM = [
    ("norms-far", lambda x: (F.layer_norm(x, (4096,)), *torch.native_layer_norm(x, (4096,), None, None, 1e-5), F.group_norm(x[:, None], 1),
                             F.instance_norm(x[None])), [OFFSET]),
]

QUERY, KEY, VALUE = rand(1, 2, 4, 8), rand(1, 2, 4, 8, seed=1), rand(1, 2, 4, 8, seed=2)
INFINITE = KEY.clone()
INFINITE[:, 0, 3, 0], INFINITE[:, 1, 2] = inf, -inf
MASK = torch.ones(4, 4).tril().bool()


def attended(q, k, v, m):
    a = F.scaled_dot_product_attention
    return (a(q, k, v, attn_mask=m), a(q, k, v, attn_mask=torch.zeros(4, 4, dtype=q.dtype).masked_fill(~m, -inf)), a(q, k, v),
            a(q[0], k[0], v[0], is_causal=True), a(q[0], k[0], v[0], attn_mask=m))


PRODUCT = [
    ("attention-infinite-key", attended, [QUERY, INFINITE, VALUE, MASK]),
    # Eager's kernel leaves out what lies behind; decomposed, PyTorch adds -inf to it.
    ("attention-infinite-key-causal-exported", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), [QUERY, INFINITE, VALUE]),
    ("attention-nan-key", attended, [QUERY, INFINITE.nan_to_num(0.5, nan, nan), VALUE, MASK]),
]

CREATION = [
    ("ranges of integers between floats", lambda x: (
        *(torch.arange(*of, dtype=dtype) for dtype in (torch.int64, torch.int32, torch.int16, torch.uint8)
          for of in ((2.9,), (0.1, 7.9, 4.0), (1.1, 5.1, 2.5), (1.0, 5.000001, 2.0), (0.9, 8.1, 1.9))),
        torch.arange(0.1, -7.9, -4.0, dtype=torch.int64), torch.arange(0.0, -8.000001, -4.5, dtype=torch.int32), x), [rand(2)]),
    ("spaces of integers", lambda x: (*(torch.linspace(*of, dtype=dtype) for dtype in (torch.int64, torch.int32, torch.uint8)
                                        for of in ((4.3, 50, 3), (0, 7, 3), (0.9, 6.9, 7), (9.5, 2, 8), (5, 5, 1))), x), [rand(2)]),
]

VALUES = {"creation": CREATION, "index": SEARCH, "resample": RESAMPLE, "scan": SCAN, "convolution": CONVOLUTION, "reduction": REDUCTION, "norm": NORM, "product": PRODUCT}
