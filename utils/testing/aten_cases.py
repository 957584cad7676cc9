# ===- aten_cases.py - Programs that exercise the op table ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Themes of small functions for check_aten_ops.py. A case is (name, function, inputs[, dynamic dims of the inputs[, the
least extent of those]]); one whose name ends in "exported" is not decomposed, because torch cannot.

Inputs hold the values at which naive implementations of ops are wrong: signed zeros, infinities, NaN, ties,
negative operands of integer division, empty and size-1 dims, rank 0.
"""
import torch
import torch.nn.functional as F

from aten_inputs import (DIVIDEND, EXTREME, NONZERO, POSITIVE, SPECIAL, X, Y, bf16, bools, each, f16, f32, f64, i32, i64,
                         inf, ints, nan, rand)
from aten_edge_cases import EDGES, PADDING
from aten_math_cases import LOSS, MATH
from aten_composite_cases import COMPOSED
from aten_value_cases import VALUES

UNARY = [torch.abs, torch.neg, torch.relu, torch.square, torch.sign, torch.exp, torch.exp2, torch.expm1, torch.sin,
         torch.cos, torch.tanh, torch.sinh, torch.cosh, torch.erf, torch.sigmoid, F.silu, F.gelu, torch.floor,
         torch.ceil, torch.trunc, torch.round, torch.frac, F.logsigmoid, F.mish, F.hardswish, F.hardsigmoid, F.relu6,
         F.selu, F.elu, F.celu, F.softplus, F.leaky_relu, F.rrelu, F.hardtanh, torch.tan,
         lambda x: F.gelu(x, approximate="tanh"), lambda x: F.softplus(x, 2.0, 3.0), lambda x: F.elu(x, 0.7),
         lambda x: F.leaky_relu(x, 0.2), lambda x: torch.clamp(x, -1, 1.5), lambda x: torch.clamp(x, min=0.25),
         lambda x: torch.clamp(x, max=0.25), lambda x: F.threshold(x, 0.5, -3.0), lambda x: x ** 2, lambda x: x ** 3]
UNARY_POSITIVE = [torch.log, torch.log2, torch.log10, torch.log1p, torch.sqrt, torch.rsqrt, torch.reciprocal,
                  lambda x: x ** 0.5, lambda x: x ** -1, lambda x: x ** -0.5, lambda x: x ** 1.7, lambda x: 2.0 ** x]
BINARY = [torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum, torch.fmod, torch.remainder,
          lambda a, b: torch.div(a, b, rounding_mode="floor"), lambda a, b: torch.div(a, b, rounding_mode="trunc"),
          lambda a, b: torch.add(a, b, alpha=0.3), lambda a, b: torch.sub(a, b, alpha=2), torch.rsub, torch.logaddexp,
          lambda a, b: torch.addcmul(a, a, b, value=0.5), lambda a, b: torch.addcdiv(a, a, b, value=0.5),
          lambda a, b: torch.lerp(a, b, 0.3), lambda a, b: torch.lerp(a, b, torch.abs(a) / 4)]
SCALARS = [lambda a: a + 0.1, lambda a: a - 0.1, lambda a: 0.1 - a, lambda a: a * 0.1, lambda a: a / 3, lambda a: 3 / a,
           lambda a: a % 0.7, lambda a: a // 0.7, lambda a: a + 2, lambda a: torch.fmod(a, 0.7)]
INTEGERS = [torch.add, torch.sub, torch.mul, torch.div, torch.floor_divide, torch.remainder, torch.fmod,
            lambda a, b: torch.div(a, b, rounding_mode="trunc"), torch.maximum, torch.minimum]
COMPARE = [torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge]
LOGIC = [torch.logical_and, torch.logical_or, torch.logical_xor]

POINTWISE = [
    ("unary", each(UNARY), [SPECIAL]),
    ("unary-0d", each(UNARY[:12]), [torch.tensor(0.3)]),
    ("unary-empty", each(UNARY[:12]), [torch.zeros(0, 3)]),
    ("unary-f16", each(UNARY), [rand(4, 7, dtype=f16)]),
    ("unary-bf16", each(UNARY), [rand(4, 7, dtype=bf16)]),
    ("unary-f64", each(UNARY), [rand(4, 7, dtype=f64)]),
    ("unary-extreme", each([torch.abs, torch.neg, torch.relu, torch.exp, torch.tanh, torch.sigmoid, torch.floor,
                            torch.isnan, torch.isinf, torch.isfinite, torch.erf, torch.nan_to_num,
                            lambda x: torch.nan_to_num(x, 1.0, 2.0, 3.0), lambda x: torch.clamp(x, -2, 2),
                            lambda x: torch.maximum(x, torch.zeros_like(x)), torch.expm1, F.silu]), [EXTREME]),
    ("unary-positive", each(UNARY_POSITIVE), [POSITIVE]),
    ("unary-positive-bf16", each(UNARY_POSITIVE), [POSITIVE.to(bf16)]),
    ("unary-of-integers", each([torch.exp, torch.sqrt, torch.sigmoid, torch.abs, torch.neg, torch.sign, torch.floor,
                                torch.relu, lambda x: x ** 3, lambda x: x ** 2.0, lambda x: torch.clamp(x, -1, 3),
                                torch.bitwise_not, torch.square]), [ints(4, 3).abs()]),
    ("binary", each(BINARY), [X, Y]),
    ("binary-broadcast", each(BINARY[:10]), [rand(4, 1, 3), rand(2, 1, seed=3)]),
    ("binary-f16", each(BINARY[:13]), [rand(3, 5, dtype=f16), rand(3, 5, dtype=f16, seed=1)]),
    ("binary-bf16", each(BINARY[:13]), [rand(3, 5, dtype=bf16), rand(3, 5, dtype=bf16, seed=1)]),
    ("pow", lambda a, b: (a ** b, torch.pow(2.5, b)), [POSITIVE, Y]),
    ("scalars", each(SCALARS), [X]),
    ("scalars-bf16", each(SCALARS[:6]), [X.to(bf16)]),
    ("scalars-f16", each(SCALARS[:6]), [X.to(f16)]),
    ("integers", each(INTEGERS), [DIVIDEND, NONZERO]),
    ("integers-32", each(INTEGERS), [DIVIDEND.to(i32), NONZERO.to(i32)]),
    ("integer-scalars", each([lambda a: a + 2, lambda a: a * -3, lambda a: a / 2, lambda a: a // 3, lambda a: a % 3,
                              lambda a: a % -3, lambda a: a // -3, lambda a: a * 0.5, lambda a: 7 - a]), [DIVIDEND]),
    ("promotion", lambda h, b, f, d, i, j, t: (h + b, h + f, f + d, i + f, i + j, t + i, t * f, t + t, h * i, b + 1.5,
                                               j * 2.5, t + 1, f + d[0], h + f[0], i + f[0], j + i[0], t * 2.5),
     [rand(3, dtype=f16), rand(3, dtype=bf16, seed=1), rand(3), rand(3, dtype=f64), ints(3), ints(3, dtype=i32),
      bools(3)]),
]

COMPARISON = [
    ("compare", each(COMPARE), [SPECIAL, SPECIAL.flip(0)]),
    ("compare-nan", each(COMPARE), [EXTREME, EXTREME.roll(2)]),
    ("compare-self-nan", lambda x: tuple(f(x, x) for f in COMPARE), [EXTREME]),
    ("compare-integers", each(COMPARE), [ints(9), ints(9, seed=1)]),
    ("compare-mixed", lambda a, b: tuple(f(a, b) for f in COMPARE) + tuple(f(a, 1.5) for f in COMPARE), [ints(9), rand(9)]),
    ("compare-bool", each(COMPARE), [bools(9), bools(9, seed=1)]),
    ("compare-bytes", lambda a, b: tuple(f(a, b) for f in COMPARE) + tuple(f(a, 3) for f in COMPARE),
     [ints(9, low=0).to(torch.uint8), ints(9, low=0, seed=1).to(torch.uint8)]),
    ("compare-scalar", lambda a: tuple(f(a, 0.5) for f in COMPARE), [SPECIAL]),
    ("logic", each(LOGIC), [bools(3, 4), bools(3, 4, seed=1)]),
    ("logic-floats", each(LOGIC), [EXTREME, EXTREME.roll(1)]),
    ("bitwise", lambda a, b: (a & b, a | b, a ^ b, ~a, torch.logical_not(a)), [bools(3, 4), bools(3, 4, seed=1)]),
    ("where", lambda c, a, b: (torch.where(c, a, b), torch.where(c, a, 0.5), torch.where(c, 2, b.long())),
     [bools(3, 5), X, Y]),
    ("where-infinite", lambda x: torch.where(x > 0, x, torch.zeros_like(x)), [EXTREME]),
    ("masked-fill", lambda x, m: (x.masked_fill(m, -inf), x.masked_fill(m[0], 3), x[:, :1].masked_fill(m, 1.0)),
     [X, bools(3, 5)]),
    ("casts", lambda x, i, b: (x.long(), x.int(), x.half(), x.bfloat16(), x.double(), x.bool(), i.float(), i.bool(),
                               b.float(), b.long(), x.to(x.dtype), i.half(), x.type_as(i)),
     [SPECIAL, ints(5), bools(5)]),
    ("copies", lambda x: (x.clone(), x.contiguous(), x.detach(), x.t().contiguous(), x), [X]),
]

MOVEMENT = [
    ("reshape", lambda x: (x.reshape(-1), x.view(6, 20), x.reshape(2, -1, 3), x.flatten(1), x.flatten(0, 1),
                           x.unflatten(2, (5, -1)), x.ravel(), x.view(-1, 4, 5), x.reshape(2, 3, 2, 2, 5)),
     [rand(2, 3, 20)]),
    ("permute", lambda x: (x.permute(2, 0, 1), x.transpose(0, -1), x.movedim(0, 2), x.swapaxes(0, 1), x[0].t(), x.mT, x.mH, x.adjoint(),
                           x.permute(2, 0, 1).reshape(4, 6), x.transpose(0, 1).flatten()), [rand(2, 3, 4)]),
    ("expand", lambda x, y: (x.expand(4, 3, 5), x.expand(-1, 3, -1), x.expand_as(y), x.broadcast_to(2, 4, 3, 5)),
     [rand(4, 1, 5), rand(4, 3, 5)]),
    ("squeeze", lambda x: (x.squeeze(), x.squeeze(0), x.squeeze(1), x.squeeze((0, 2)), x.unsqueeze(0), x.unsqueeze(-1)),
     [rand(1, 3, 1)]),
    ("slice", lambda x: (x[1:], x[:, 2:], x[:, ::2], x[:, 1:4:2], x[:, -3:], x[:, :-1], x[:, 10:], x[1:1], x[..., 1:3],
                         x[:, 4:2], x[-1], x[:, -2], x[0, 1], x.narrow(1, 1, 2), x[None, :, None]), [rand(3, 5)]),
    ("split", lambda x: (*x.split(2, 1), *x.split([1, 4, 2], 1), *x.chunk(3, 1), *x.unbind(0), *x.chunk(2, 0)),
     [rand(3, 7)]),
    ("tensor-split", lambda x, y: (*x.tensor_split(3, 1), *x.tensor_split((2, 5), 1), *x.tensor_split((-2, 9), 1), *x.hsplit([3]),
                                   *x.vsplit(3), *y.dsplit(2), *x[0].hsplit(7)), [rand(3, 7), rand(2, 3, 4)]),
    ("strided", lambda x: (x.as_strided((2, 3), (1, 2)), x.as_strided((3, 3), (2, 1), 4), x.as_strided((2,), (0,), 5)), [rand(3, 4)]),
    ("unfold", lambda x: (x.unfold(1, 3, 2), x.unfold(0, 2, 1), x.diagonal(), x.diagonal(1), x.diagonal(-1)),
     [rand(4, 9)]),
    ("scatter-slice", lambda x, y: (torch.slice_scatter(x, y, 1, 1, 6, 2), torch.select_scatter(x, y[:, 0], 1, -1)),
     [rand(3, 7), rand(3, 3)]),
    ("views-of-views", lambda x: (x[1:].transpose(0, 1)[::2].flip(0).reshape(-1), x.t()[1:3].expand(2, 2, 4).flatten(),
                                  x.reshape(2, 2, 6).transpose(0, 2)[1:5, :, 0].reshape(-1)[1:]), [rand(4, 6)]),
    ("empty", lambda x: (x.reshape(0), x.transpose(0, 1), x.expand(2, 0, 3), x.sum(0), x.sum(1), x[:, 1:], x.flatten()),
     [torch.zeros(0, 3)]),
    ("dynamic", lambda x, y: (x.reshape(x.shape[0] * 2, -1), x.flatten(), x.t().reshape(-1), x[:, ::2],
                              torch.cat([x, y]), torch.cat([x, x], 1), x.expand(3, -1, -1).reshape(-1, 6),
                              x.reshape(-1, 3, 2).sum(1), torch.stack([x, x], 1), x.unfold(1, 2, 2), x.repeat(2, 1),
                              F.pad(x, (1, 2, 0, 1))),
     [rand(4, 6), rand(3, 6)], ({0: "n"}, {0: "m"})),
]

CREATION = [
    ("filled", lambda x: (torch.zeros(2, 3), torch.ones(2, dtype=i64), torch.full((2,), 7), torch.full((2,), 2.5),
                          torch.full((2,), True), torch.zeros_like(x), torch.ones_like(x, dtype=i32),
                          torch.full_like(x, 3), x.new_zeros(2), x.new_ones(2, 2), x.new_full((3,), 4),
                          torch.scalar_tensor(3.5), torch.tensor(3)), [X]),
    ("ranges", lambda x: (torch.arange(5), torch.arange(2, 9), torch.arange(1, 10, 3), torch.arange(9, 1, -2),
                          torch.arange(0, 1, 0.1), torch.arange(5.0), torch.arange(3, dtype=f32), torch.arange(0),
                          torch.linspace(-1, 2, 7), torch.linspace(0, 1, 1), torch.eye(3), torch.eye(2, 4)) + (x,),
     [X]),
    ("triangles", lambda x: (x.tril(), x.triu(), x.tril(1), x.triu(-1), x.triu(2), x[0].tril()), [rand(2, 4, 5)]),
    ("cat", lambda x, y, i: (torch.cat([x, y]), torch.cat([x, y, x], 0), torch.cat([x, x], 1), torch.cat([x, i]),
                             torch.stack([x, x]), torch.stack([x, x], -1), torch.cat([x[:0], y]), torch.cat([x]),
                             torch.stack([x, x, x], 1)), [rand(2, 5), rand(3, 5), ints(2, 5)]),
    ("pad", lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 0, 2, 3), value=1.5), F.pad(x, (-1, 2)), F.pad(x, (-1, -2)),
                       F.pad(x[None], (2, 1), mode="reflect"), F.pad(x[None], (2, 4), mode="replicate"),
                       F.pad(x[None], (2, 1), mode="circular"), F.pad(x > 0, (1, 1), value=True)), [rand(3, 5)]),
    ("diagonals", lambda v, m, b: (torch.diag(v), torch.diag(v, 2), torch.diag(m), torch.diag(m, -1), torch.diag(m, 1), torch.diag_embed(b),
                                  torch.diag_embed(b, 1), torch.diag_embed(b, -2, 0, 2), torch.diagflat(m), torch.trace(m),
                                  torch.trace(m.long()), torch.diag(m[:, :1])), [rand(4), rand(3, 5), rand(2, 3, 4)]),
    ("fill-diagonal", lambda m: m.clone().fill_diagonal_(7.0), [rand(4, 3)]),
    ("grids", lambda v, w, x: (*torch.meshgrid(v, w, indexing="ij"), *torch.meshgrid(v, w, indexing="xy"), torch.cartesian_prod(v, w),
                               *torch.broadcast_tensors(x, v), torch.tril_indices(3, 4), torch.triu_indices(4, 3, 1),
                               torch.tril_indices(3, 3, -1)), [rand(3), rand(2), rand(2, 1)]),
    ("classes", lambda i: (F.one_hot(i, 6), F.one_hot(i[0], 5), F.one_hot(i[0, 0], 5)), [ints(2, 3, low=0, high=5)]),
    ("windows", lambda x: (torch.hann_window(8), torch.hann_window(7, periodic=False), torch.hamming_window(8), torch.blackman_window(9),
                           torch.hamming_window(6, False), torch.hann_window(1), torch.hann_window(4, dtype=f64)) + (x,), [X]),
    ("stacks", lambda x, v, s: (torch.vstack([v, v]), torch.hstack([v, v]), torch.dstack([v, v]), torch.column_stack([v, v]), torch.vstack([x, x]),
                                torch.hstack([x, x]), torch.dstack([x, x]), torch.column_stack([x, x[:, 0]]), torch.hstack([s, s]),
                                torch.atleast_1d(s), torch.atleast_2d(v), torch.atleast_3d(x), torch.atleast_3d(v), torch.atleast_2d(s),
                                *torch.atleast_2d(s, v), torch.concat([x, x]), torch.block_diag(x, v, s)), [rand(3, 2), rand(3), torch.tensor(2.0)]),
    ("pad-modes", lambda x, y: (F.pad(x, (2, 1, 1, 1), mode="reflect"), F.pad(x, (2, 4, 0, 3), mode="replicate"),
                                F.pad(x, (2, 1, 1, 0), mode="circular"), F.pad(y, (1, 1, 1, 0, 0, 1), mode="replicate"),
                                F.pad(y, (1, 1, 1, 0, 0, 1), mode="reflect"), torch.nn.utils.rnn.pad_sequence([x[0, 0], x[0, 0, :2]], True, -1.0)),
     [rand(1, 2, 3, 5), rand(1, 1, 3, 3, 4)]),
    ("turns", lambda x: (torch.rot90(x), torch.rot90(x, 2), torch.rot90(x, -1, (1, 2)), torch.fliplr(x), torch.flipud(x)), [rand(2, 3, 4)]),
    ("tile", lambda x: (x.repeat(2, 3), x.repeat(2, 1, 2), x.tile(2), x.repeat_interleave(2, 1),
                        x.repeat_interleave(3), x.flip(0), x.flip(0, 1), x.roll(1, 0), x.roll(-2, 1), x.roll(3),
                        x.roll((1, 2), (0, 1))), [rand(2, 3)]),
]

REDUCTION = [
    ("sums", lambda x: (x.sum(), x.sum(1), x.sum((0, 2)), x.sum(-1, keepdim=True), x.mean(), x.mean(1), x.mean((0, 1)),
                        x.mean(2, keepdim=True), x.sum(dtype=f64), torch.count_nonzero(x), torch.count_nonzero(x, 1)),
     [rand(2, 3, 7)]),
    ("sums-bf16", lambda x: (x.sum(), x.sum(1), x.mean(1), x.float().sum(1), x.sum(1, dtype=f32)), [rand(3, 40, dtype=bf16)]),
    ("sums-integers", lambda x, b: (x.sum(), x.sum(1), b.sum(), b.sum(0), x.float().mean(), x.sum(dtype=f32),
                                    x.mean(dtype=f32)), [ints(3, 4), bools(3, 4)]),
    ("sums-0d", lambda x: (x.sum(), x.sum(0), x.mean(), x.max(), x.any(), x.amax()), [torch.tensor(2.5)]),
    ("extrema", lambda x: (x.max(), x.min(), x.amax(1), x.amin((0, 2)), *x.max(1), *x.min(2), *x.max(0, keepdim=True),
                           x.argmax(), x.argmin(), x.argmax(1), x.argmin(-1, keepdim=True), x.amax(1, keepdim=True),
                           *torch.aminmax(x)), [rand(2, 3, 5)]),
    ("extrema-ties", lambda x: (*x.max(1), *x.min(1), x.argmax(1), x.argmin(1), x.argmax()),
     [torch.tensor([[1.0, 3, 3, 0, 0], [nan, 1, nan, 2, inf], [-inf, -inf, -inf, -inf, -inf]])]),
    ("extrema-integers", lambda x: (x.max(), x.amin(1), *x.max(1), x.argmin(1)), [ints(3, 4)]),
    ("any-all", lambda b, x: (b.any(), b.all(), b.any(1), b.all(1), b.any(0, keepdim=True), x.any(1), x.all(1),
                              b[:, :0].any(1), b[:, :0].all(1), torch._is_all_true(b), torch._is_any_true(b)), [bools(3, 4), ints(3, 4, low=0, high=2)]),
    ("statistics", lambda x: (x.var(), x.var(1), x.std(1), x.var(1, correction=0), x.std((0, 1), keepdim=True),
                              *torch.var_mean(x, 1), *torch.std_mean(x, (0, 1), correction=0)), [rand(3, 4, 5)]),
    ("norms", lambda x: (torch.linalg.vector_norm(x), torch.linalg.vector_norm(x, 1, 1),
                         torch.linalg.vector_norm(x, inf, (0, 1)), torch.linalg.vector_norm(x, 3, 0, keepdim=True),
                         torch.linalg.vector_norm(x, 0, 1), x.norm(dim=1)), [rand(3, 4)]),
    ("norms-forms", lambda x: (torch.linalg.norm(x), torch.linalg.norm(x, dim=1), torch.linalg.norm(x, 1, dim=0), torch.norm(x, dtype=f64),
                               torch.norm(x, 3, 1, dtype=f64), torch.norm(x, "fro", (0, 1)), torch.linalg.norm(x, dim=(0, 1))), [rand(3, 4)]),
    ("nan-sums", lambda x, i: (x.nansum(), x.nansum(1), x.nanmean(1), x.nanmean(0, keepdim=True), i.nansum(1), x.half().nansum(1), x.nanmean()),
     [torch.tensor([[1.0, nan, 2.0], [nan, nan, nan], [0.5, 0.25, -3.0]]), ints(3, 4)]),
    ("moments", lambda x: (*torch.std_mean(x), *torch.var_mean(x), *torch.std_mean(x, 1)), [rand(3, 7)]),
    ("softmax", lambda x: (x.softmax(-1), x.softmax(0), x.log_softmax(1), x.logsumexp(1), x.logsumexp((0, 1)),
                           (x * 100).softmax(1), x.softmax(-1, dtype=f64), (x - inf * (x > 1)).softmax(1)),
     [rand(4, 6)]),
    ("softmax-bf16", lambda x: (x.softmax(-1), x.log_softmax(-1), x.softmax(-1, dtype=f32)), [rand(3, 9, dtype=bf16)]),
    ("logsumexp-infinite", lambda x: x.logsumexp(1), [torch.tensor([[-inf, -inf], [inf, 1.0], [nan, 1.0], [0.0, 1.0]])]),
    ("scans", lambda x, i, b: (x.cumsum(0), x.cumsum(1), i.cumsum(1), b.cumsum(1), i.diff(), x.diff(n=2, dim=1),
                               b.diff(), x.diff(prepend=x[:, :1]), x.cumsum(1, dtype=f64)),
     [rand(3, 6), ints(3, 6), bools(3, 6)]),
    ("dynamic", lambda x: (x.sum(0), x.mean(0), x.softmax(0), x.cumsum(0), x.var(0), x.argmax(0), x.mean(),
                           x.max(0).values, x.sum((0, 1))), [rand(5, 3)], ({0: "n"},)),
]

IMAGE = rand(2, 4, 9, 10)
def encoder(mask=None, **options):
    """A layer that PyTorch runs as one op; masks: of queries and keys, of padding, both."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 12, **{"batch_first": True, **options}).eval().requires_grad_(False)
    causal, padding = torch.ones(5, 5).triu(1).bool(), torch.arange(5)[None] >= torch.tensor([[5], [3], [4]])

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x, causal if mask in (0, 2) else None, padding if mask in (1, 2) else None)

    return Encoder(), [rand(3, 5, 8) if options.get("batch_first", True) else rand(5, 3, 8)]


def native_attention():
    """Query, key and value of their own, with and without weights, and masks of each kind."""
    call = torch.ops.aten._native_multi_head_attention
    masks = torch.ones(5, 5).triu(1).bool(), torch.arange(5)[None] >= torch.tensor([[5], [3], [4]])

    def function(q, w, b, p, c):
        return (*call(q, q * 2, q + 1, 8, 2, w, b, p, c), *call(q, q, q, 8, 2, w, b, p, c, masks[0], True, False, 0),
                call(q, q, q, 8, 2, w, b, p, c, masks[1], False, True, 1)[0])

    return function, [rand(3, 5, 8), rand(24, 8), rand(24), rand(8, 8, seed=1), rand(8, seed=1)]


PRODUCT = [
    ("matmul", lambda a, b, v: (a @ b, a @ v, v @ b, a[0] @ v, torch.mm(a[0], b), torch.bmm(a, a.mT), v @ v, a.matmul(b),
                                torch.mv(a[0], v), torch.dot(v, v), torch.outer(v, v[:3]), a[:, None] @ a.mT),
     [rand(2, 3, 4), rand(4, 4), rand(4)]),
    ("linear", lambda x, w, b: (F.linear(x, w), F.linear(x, w, b), F.linear(x[0], w, b), F.linear(x[0, 0], w, b)),
     [rand(2, 3, 5), rand(4, 5), rand(4)]),
    ("linear-bf16", lambda x, w, b: (F.linear(x, w, b), x @ w.t()),
     [rand(3, 40, dtype=bf16), rand(4, 40, dtype=bf16), rand(4, dtype=bf16)]),
    ("groups", lambda x, y, w, offs: (torch._grouped_mm(x, w, offs=offs), torch._grouped_mm(x, w.mT.contiguous().mT, offs=offs),
                                      torch._grouped_mm(w, y, offs=offs), torch._grouped_mm(y, x, offs=offs),
                                      torch._grouped_mm(w, w.mT)),
     [rand(16, 8, dtype=bf16), rand(16, 16, dtype=bf16), rand(4, 8, 16, dtype=bf16), torch.tensor([3, 3, 4, 16], dtype=torch.int32)]),
    ("addmm", lambda c, a, b: (torch.addmm(c, a, b), torch.addmm(c, a, b, beta=0.5, alpha=2),
                               torch.baddbmm(c[None], a[None], b[None]), torch.addmm(c[0], a, b),
                               torch.addmm(c, a, b, beta=0), torch.addmv(c[:, 0], a, b[:, 0])),
     [rand(3, 4), rand(3, 5), rand(5, 4)]),
    ("integers", lambda a, b: (a @ b, a[0] @ b), [ints(3, 4), ints(4, 2)]),
    ("dims", lambda a, b, v: (torch.tensordot(a, b, dims=([2], [0])), torch.tensordot(a, a, dims=([1, 2], [1, 2])), torch.inner(a, v), torch.inner(v, v),
                              torch.linalg.multi_dot([a[0], b, b]), torch.linalg.vecdot(a, v), torch.linalg.vecdot(a[0], a[1], dim=0),
                              torch.chain_matmul(a[0], b)), [rand(2, 3, 4), rand(4, 4), rand(4)]),
    ("cross", lambda a, b, i: (torch.linalg.cross(a, b), torch.cross(a.mT, b.mT, dim=1), torch.linalg.cross(a, b[:1]), torch.linalg.cross(i, i + 1)),
     [rand(2, 4, 3), rand(2, 4, 3, seed=1), ints(4, 3)]),
    ("bilinear", lambda a, b, w, c: (F.bilinear(a, b, w, c), F.bilinear(a[None], b[None], w), F.bilinear(a.half(), b.half(), w.half())),
     [rand(3, 4), rand(3, 5), rand(2, 4, 5), rand(2)]),
    ("einsum", lambda a, b, v: (torch.einsum("bij,jk->bik", a, b), torch.einsum("bij,bkj->bik", a, a),
                                torch.einsum("...j,jk", a, b), torch.einsum("i,j->ij", v, v),
                                torch.einsum("bij->jb", a), torch.einsum("ii->i", b), torch.einsum("bij,jk,k->bi", a, b, v)),
     [rand(2, 3, 4), rand(4, 4), rand(4)]),
    ("attention", lambda q, k, v: (
        F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True),
        F.scaled_dot_product_attention(q, k, v, scale=0.3),
        F.scaled_dot_product_attention(q, k[:, :, :4], v[:, :, :4], is_causal=True)),
     [rand(2, 4, 6, 8), rand(2, 4, 6, 8, seed=1), rand(2, 4, 6, 8, seed=2)]),
    ("attention-masks", lambda q, k, v, m, b: (
        F.scaled_dot_product_attention(q, k, v, attn_mask=m), F.scaled_dot_product_attention(q, k, v, attn_mask=b),
        F.scaled_dot_product_attention(q, k, v, attn_mask=b[None, 2:3])),
     [rand(2, 4, 6, 8), rand(2, 4, 5, 8), rand(2, 4, 5, 8, seed=2), rand(6, 5),
      torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]] * 2).bool()]),
    ("attention-grouped", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True, is_causal=True),
     [rand(2, 4, 6, 8), rand(2, 2, 6, 8), rand(2, 2, 6, 8, seed=2)]),
    ("attention-bf16", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
     [rand(1, 2, 6, 8, dtype=bf16), rand(1, 2, 6, 8, seed=1, dtype=bf16), rand(1, 2, 6, 8, seed=2, dtype=bf16)]),
    ("dynamic", lambda x, w: (F.linear(x, w), x @ x.t(), torch.einsum("ij,kj->ik", x, x),
                              F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)),
     [rand(5, 4), rand(3, 4)], ({0: "n"}, {})),
]

CONVOLUTION = [
    ("conv2d", lambda x, w, b: (F.conv2d(x, w), F.conv2d(x, w, b, padding=1), F.conv2d(x, w, b, stride=2, padding=(1, 2)),
                                F.conv2d(x, w, dilation=2), F.conv2d(x[0], w, b), F.conv2d(x, w, b, padding="same"),
                                F.conv2d(x, w, b, padding="valid")), [IMAGE, rand(6, 4, 3, 3), rand(6)]),
    ("conv2d-groups", lambda x, w, d: (F.conv2d(x, w, groups=2), F.conv2d(x, d, groups=4, padding=1, stride=(2, 1))),
     [IMAGE, rand(6, 2, 3, 2), rand(8, 1, 3, 3)]),
    ("conv1d", lambda x, w, b: (F.conv1d(x, w, b), F.conv1d(x, w, b, stride=2, padding=2, dilation=2)),
     [rand(2, 3, 11), rand(5, 3, 3), rand(5)]),
    ("conv3d", lambda x, w: F.conv3d(x, w, padding=1), [rand(1, 2, 4, 5, 6), rand(3, 2, 2, 3, 3)]),
    ("conv2d-bf16", lambda x, w: F.conv2d(x, w, padding=1), [IMAGE.to(bf16), rand(6, 4, 3, 3, dtype=bf16)]),
    ("pools", lambda x: (F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1), F.max_pool2d(x, (2, 3), ceil_mode=True),
                         F.max_pool2d(x, 3, 2, dilation=2), F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1),
                         F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.avg_pool2d(x, 2, divisor_override=3),
                         F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (3, 5)), F.adaptive_avg_pool2d(x, (4, 3))),
     [IMAGE]),
    ("pools-1d", lambda x: (F.max_pool1d(x, 2), F.avg_pool1d(x, 3, 2, 1), F.adaptive_avg_pool1d(x, 3)), [rand(2, 3, 10)]),
    ("pools-indices", lambda x: (*F.max_pool2d(x, 2, return_indices=True), *F.max_pool2d(x, 3, 2, 1, return_indices=True),
                                 *F.max_pool2d(x, 3, 2, 1, dilation=2, ceil_mode=True, return_indices=True),
                                 *F.max_pool1d(x[0], 3, 2, 1, return_indices=True),
                                 *F.adaptive_max_pool2d(x, (3, 4), return_indices=True), F.adaptive_max_pool2d(x, 1),
                                 *F.adaptive_max_pool1d(x[0], 3, return_indices=True)), [IMAGE]),
    ("pools-ceil", lambda x: (F.avg_pool2d(x, 2, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
                              F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
                              F.avg_pool1d(x[0], 4, 3, 2, ceil_mode=True)), [IMAGE]),
    # One window that is far larger than the image.
    ("pools-outside", lambda x: (F.avg_pool2d(x, 40, ceil_mode=True), F.avg_pool2d(x, 40, padding=20, ceil_mode=True),
                                 F.avg_pool2d(x, (40, 2), (3, 2), (20, 1), ceil_mode=True, count_include_pad=False),
                                 F.max_pool2d(x, 40, 7, padding=20, ceil_mode=True), F.max_pool2d(x, 40, ceil_mode=True, return_indices=True)[1],
                                 F.max_pool2d(x, 20, 60, dilation=3, ceil_mode=True)), [IMAGE]),
    ("pools-3d", lambda x: (F.max_pool3d(x, 2), F.avg_pool3d(x, 2, 1, 1), F.adaptive_avg_pool3d(x, (2, 1, 3)),
                            *F.max_pool3d(x, 2, return_indices=True),
                            *F.adaptive_max_pool3d(x, (2, 3, 1), return_indices=True)), [rand(1, 2, 4, 5, 6)]),
    ("pools-16", lambda x, y: (F.avg_pool2d(x, 3, 2, 1), F.adaptive_avg_pool2d(x, (4, 3)), F.max_pool2d(x, 2),
                               F.avg_pool2d(y, 3, 2, 1), F.adaptive_avg_pool2d(y, (4, 3)), F.max_pool2d(y, 2)),
     [IMAGE.to(bf16), IMAGE.to(f16)]),
    ("pools-extreme", lambda x: (F.max_pool2d(x, 3, 1, 1), F.adaptive_max_pool2d(x, 2)), [EXTREME.reshape(1, 1, 3, 3)]),
    ("unpool", lambda x: (F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=(9, 10)),),
     [IMAGE + torch.arange(720).reshape(2, 4, 9, 10) * 1e-3]),
    ("columns", lambda x, y, z: (F.unfold(x, 3), F.unfold(x, (2, 3), 2, (1, 0), (2, 1)), F.unfold(x[0], 2),
                              F.fold(y, (9, 10), 2), F.fold(z, (11, 17), (2, 2), 3, (4, 1), (2, 2)),
                              F.fold(y[0], (9, 10), 2)), [IMAGE, rand(2, 12, 72), rand(2, 12, 64)]),
    ("transposed", lambda x, w, b: (
        F.conv_transpose2d(x, w), F.conv_transpose2d(x, w, b, stride=2), F.conv_transpose2d(x, w, b, 2, 1, 1),
        F.conv_transpose2d(x, w, b, (3, 2), (1, 0), (2, 1)), F.conv_transpose2d(x, w, b, 2, 1, 1, dilation=(2, 1)),
        F.conv_transpose2d(x[0], w, b), F.conv_transpose2d(x, w, b, 3), F.conv_transpose2d(x, w, stride=4),
        F.conv_transpose2d(x, w, b, 1, 2)), [IMAGE, rand(4, 6, 3, 3), rand(6)]),
    ("transposed-groups", lambda x, w, d: (F.conv_transpose2d(x, w, stride=2, groups=2),
                                           F.conv_transpose2d(x, d, groups=4, padding=1, stride=(2, 1))),
     [IMAGE, rand(4, 3, 2, 2), rand(4, 1, 3, 3)]),
    ("transposed-dims", lambda x, w, y, v: (F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1),
                                            F.conv_transpose3d(y, v, stride=(1, 2, 2), padding=(0, 1, 1))),
     [rand(2, 3, 7), rand(3, 5, 4), rand(1, 2, 2, 3, 4), rand(2, 3, 2, 3, 3)]),
    ("transposed-16", lambda x, w, y, v: (F.conv_transpose2d(x, w, stride=2), F.conv_transpose2d(y, v, stride=2)),
     [IMAGE.to(bf16), rand(4, 6, 3, 3, dtype=bf16), IMAGE.to(f16), rand(4, 6, 3, 3, dtype=f16)]),
    ("transposed-f64", lambda x, w: F.conv_transpose2d(x, w, stride=2), [IMAGE.double(), rand(4, 6, 1, 1, dtype=f64)]),
    ("dynamic", lambda x, w, b: (F.conv2d(x, w, b, padding=1), F.max_pool2d(x, 2)),
     [IMAGE, rand(6, 4, 3, 3), rand(6)], ({0: "n"}, {}, {})),
    ("dynamic-extents", lambda x, w, v: (F.conv_transpose2d(x, w, stride=2, padding=1), F.avg_pool2d(x, 2, padding=1),
                                         F.max_pool2d(x, 2, padding=1), F.conv2d(x, v, padding=1),
                                         F.conv_transpose2d(x, w, stride=3)),
     [IMAGE, rand(4, 6, 3, 3), rand(6, 4, 3, 3)], ({0: "n", 2: "h"}, {}, {})),
]


def resize(**kw):
    return lambda x: F.interpolate(x, **kw)


def resized(mode, sizes, **kw):
    return [resize(mode=mode, size=s, **kw) for s in sizes]


IMAGE_SIZES = [(9, 10), (18, 30), (5, 7), (4, 23), (1, 1)]
RESAMPLE = [
    ("nearest", each(resized("nearest", IMAGE_SIZES) + resized("nearest-exact", IMAGE_SIZES) + [
        resize(scale_factor=2), resize(scale_factor=(0.5, 1.7)), resize(scale_factor=3.0, mode="nearest-exact"),
        resize(scale_factor=2.3, mode="nearest-exact"), resize(scale_factor=1.3, recompute_scale_factor=True)]), [IMAGE]),
    ("bilinear", each(resized("bilinear", IMAGE_SIZES) + resized("bilinear", IMAGE_SIZES, align_corners=True) + [
        resize(scale_factor=2, mode="bilinear"), resize(scale_factor=(0.5, 1.7), mode="bilinear"),
        resize(scale_factor=0.3137, mode="bilinear"), resize(scale_factor=1.7, mode="bilinear", align_corners=True)]),
     [IMAGE]),
    ("bicubic", each(resized("bicubic", IMAGE_SIZES) + resized("bicubic", IMAGE_SIZES, align_corners=True) + [
        resize(scale_factor=2, mode="bicubic"), resize(scale_factor=(0.5, 1.7), mode="bicubic"),
        resize(scale_factor=0.3137, mode="bicubic")]), [IMAGE]),
    ("antialias", each(resized("bilinear", IMAGE_SIZES, antialias=True) + resized("bicubic", IMAGE_SIZES, antialias=True)),
     [IMAGE]),
    ("1d", each(resized("linear", [7, 20, 1]) + resized("linear", [7, 20, 1], align_corners=True)
                + resized("nearest", [7, 20]) + resized("nearest-exact", [7, 20])), [rand(2, 3, 10)]),
    ("3d", each(resized("trilinear", [(3, 7, 6), (8, 2, 5)]) + resized("nearest", [(3, 7, 6)])
                + resized("nearest-exact", [(3, 7, 6)]) + [resize(scale_factor=2, mode="trilinear", align_corners=True)]),
     [rand(1, 2, 4, 5, 6)]),
    ("one-element", each(resized("bilinear", [(4, 3)]) + resized("bicubic", [(4, 3)], align_corners=True)
                         + resized("nearest", [(4, 3)])), [rand(2, 1, 1, 1)]),
    ("16-bit", lambda x, y: tuple(f(v) for v in (x, y) for m in ("nearest", "bilinear", "bicubic")
                                  for f in resized(m, [(18, 13)])), [IMAGE.to(bf16), IMAGE.to(f16)]),
    ("f64", lambda x: tuple(f(x) for m in ("nearest", "bilinear", "bicubic") for f in resized(m, [(18, 13)])), [IMAGE.double()]),
    # Decomposed, these hold ratios of extents as symbolic floats.
    ("dynamic-exported", lambda x: (F.interpolate(x, scale_factor=2), F.interpolate(x, scale_factor=2, mode="bilinear"),
                           F.interpolate(x, size=(7, 8), mode="bilinear"), F.interpolate(x, size=(7, 8), mode="bicubic"),
                           F.interpolate(x, size=(7, 8)), F.interpolate(x, size=(7, 8), mode="bilinear", align_corners=True)),
     [IMAGE], ({0: "n", 2: "h"},)),
    ("grid", lambda x, g: tuple(F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=a)
                                for m in ("bilinear", "nearest", "bicubic") for p in ("zeros", "border", "reflection")
                                for a in (False, True)), [IMAGE, rand(2, 5, 6, 2, low=-1.4, high=1.4)]),
    ("grid-3d", lambda x, g: tuple(F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=False)
                                   for m in ("bilinear", "nearest") for p in ("zeros", "border", "reflection")),
     [rand(1, 2, 4, 5, 6), rand(1, 2, 3, 4, 3, low=-1.4, high=1.4)]),
    ("affine-grid-exported", lambda t, u: (F.affine_grid(t, (2, 3, 4, 5), align_corners=False), F.affine_grid(t, (2, 3, 4, 1), align_corners=True),
                                  F.affine_grid(u, (1, 2, 3, 4, 5), align_corners=False)), [rand(2, 2, 3), rand(1, 3, 4)]),
    ("channels", lambda x, y: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(y, 3), F.channel_shuffle(x, 2), F.pixel_shuffle(x[0], 2),
                               F.pixel_unshuffle(y[0], 1)), [IMAGE, rand(1, 2, 6, 9)]),
]


class Recurrent(torch.nn.Module):
    def __init__(self, kind, *args, dtype=f32, **kw):
        super().__init__()
        torch.manual_seed(0)
        self.layer = getattr(torch.nn, kind)(*args, **kw).to(dtype)

    def forward(self, x, *state):
        return self.layer(x, state if len(state) == 2 else state[0] if state else None)


SEQUENCE = rand(5, 2, 3)
RECURRENT = [
    ("lstm", Recurrent("LSTM", 3, 4), [SEQUENCE]),
    ("lstm-deep", Recurrent("LSTM", 3, 4, 2, batch_first=True, bidirectional=True), [SEQUENCE]),
    ("lstm-projected", Recurrent("LSTM", 3, 4, 2, proj_size=2, bias=False), [SEQUENCE]),
    ("lstm-state", Recurrent("LSTM", 3, 4), [SEQUENCE, rand(1, 2, 4), rand(1, 2, 4, seed=1)]),
    ("lstm-unbatched", Recurrent("LSTM", 3, 4), [SEQUENCE[:, 0]]),
    ("lstm-bf16", Recurrent("LSTM", 3, 4, dtype=bf16), [SEQUENCE.to(bf16)]),
    ("lstm-f64", Recurrent("LSTM", 3, 4, dtype=f64), [SEQUENCE.double()]),
    ("gru", Recurrent("GRU", 3, 4), [SEQUENCE]),
    ("gru-deep", Recurrent("GRU", 3, 4, 2, batch_first=True, bidirectional=True), [SEQUENCE]),
    ("gru-state", Recurrent("GRU", 3, 4, bias=False), [SEQUENCE[:1], rand(1, 2, 4)]),
    ("rnn", Recurrent("RNN", 3, 4, 2), [SEQUENCE]),
    ("rnn-relu", Recurrent("RNN", 3, 4, nonlinearity="relu", bidirectional=True), [SEQUENCE]),
    ("lstm-cell", Recurrent("LSTMCell", 3, 4), [SEQUENCE[0]]),
    ("gru-cell", Recurrent("GRUCell", 3, 4), [SEQUENCE[0], rand(2, 4)]),
    ("rnn-cell", Recurrent("RNNCell", 3, 4, bias=False), [SEQUENCE[0]]),
    ("dynamic-batch", Recurrent("GRU", 3, 4), [SEQUENCE], ({1: "n"},)),
]

LONG = rand(2, 300)
SCAN = [
    ("products", lambda x, i, b: (x.prod(), x.prod(1), x.prod(0, keepdim=True), x.prod(-1, dtype=f64), i.prod(), i.prod(1),
                                  b.prod(1), x[:, :1].prod(1), x[:, :0].prod(1), x[0, 0].prod(), x[:, :4].prod(1)),
     [rand(3, 7), ints(3, 7), bools(3, 7)]),
    ("products-types", lambda h, b, d, i: tuple(x.prod(1) for x in (h, b, d, i)),
     [rand(3, 5, dtype=f16), rand(3, 5, dtype=bf16), rand(3, 5, dtype=f64), ints(3, 5, dtype=i32)]),
    ("sums", lambda x, i, b: (x.cumsum(0), x.cumsum(1), i.cumsum(1), b.cumsum(1), x.cumsum(1, dtype=f64), x[:, :1].cumsum(1),
                              x[:, :0].cumsum(1), x[0, 0].cumsum(0)), [rand(3, 6), ints(3, 6), bools(3, 6)]),
    ("sums-long", lambda x, i: (x.cumsum(1), i.cumsum(1), x.t().cumsum(0), (x > 0).cumsum(-1)), [LONG, ints(2, 257)]),
    ("sums-infinite", lambda x: x.cumsum(0), [torch.cat([rand(100), torch.tensor([inf]), rand(50), torch.tensor([-inf, 1.0])])]),
    ("sums-types", lambda h, b, d, i: tuple(x.cumsum(1) for x in (h, b, d, i)),
     [rand(3, 5, dtype=f16), rand(3, 5, dtype=bf16), rand(3, 5, dtype=f64), ints(3, 5, dtype=i32)]),
    ("cumulative-products", lambda x, i, b: (x.cumprod(1), x.cumprod(0), i.cumprod(1), b.cumprod(1), x[:, :1].cumprod(1),
                                             x[:, :0].cumprod(1), x.cumprod(1, dtype=f64)),
     [rand(3, 7), ints(3, 7), bools(3, 7)]),
    ("extrema", lambda x, i: (*x.cummax(1), *x.cummin(0), *i.cummax(1), *i.cummin(1), *x[0, 0].cummax(0)), [rand(3, 7), ints(3, 7)]),
    ("extrema-nan", lambda x: (*x.cummax(0), *x.cummin(0)), [EXTREME.roll(4)]),
    ("logcumsumexp", lambda x, y: (x.logcumsumexp(1), (x * 50).logcumsumexp(1), y.logcumsumexp(0)),
     [rand(3, 7), torch.tensor([-inf, -inf, 1.0, inf, 0.0])]),
    ("dynamic", lambda x: (x.cumsum(0), x.prod(0), x.cumprod(0), *x.cummax(0)), [rand(5, 3)], ({0: "n"},)),
]

TABLE = rand(10, 4)
NORM = [
    ("layer-norm", lambda x, w, b: (F.layer_norm(x, (5,)), F.layer_norm(x, (5,), w, b), F.layer_norm(x, (4, 5)),
                                    F.layer_norm(x, (5,), w, None, 0.1), F.rms_norm(x, (5,)), F.rms_norm(x, (5,), w, 0.1),
                                    torch.native_layer_norm(x, (5,), w, b, 1e-5)[1]), [rand(3, 4, 5), rand(5), rand(5, seed=1)]),
    ("layer-norm-bf16", lambda x, w, b: (F.layer_norm(x, (32,), w, b), F.rms_norm(x, (32,), w)),
     [rand(3, 32, dtype=bf16), rand(32, dtype=bf16), rand(32, dtype=bf16, seed=1)]),
    ("batch-norm", lambda x, m, v, w, b: (F.batch_norm(x, m, v, w, b), F.batch_norm(x, m, v), F.batch_norm(x[:, :, 0, 0], m, v, w)),
     [IMAGE, rand(4), rand(4, low=0.5), rand(4, seed=1), rand(4, seed=2)]),
    ("group-norm", lambda x, w, b: (F.group_norm(x, 2, w, b), F.group_norm(x, 4), F.group_norm(x, 1, w)),
     [IMAGE, rand(4), rand(4, seed=1)]),
    ("instance-norm", lambda x, w, b, m, v: (F.instance_norm(x), F.instance_norm(x, weight=w, bias=b), F.instance_norm(x[:, :, 0]),
                                             F.instance_norm(x, m, v.abs() + 0.1, use_input_stats=False), F.instance_norm(x.half())),
     [IMAGE, rand(4), rand(4, seed=1), rand(4, seed=2), rand(4, seed=3)]),
    ("embedding", lambda t, i: (F.embedding(i, t), F.embedding(i[0], t, padding_idx=2), F.embedding(i.int(), t)),
     [TABLE, ints(3, 4, low=0, high=10)]),
    ("embedding-bag", lambda t, i, o, w: (
        F.embedding_bag(i, t, o, mode="sum"), F.embedding_bag(i, t, o, mode="mean"), F.embedding_bag(i, t, o, mode="max"),
        F.embedding_bag(i, t, o, mode="sum", per_sample_weights=w),
        F.embedding_bag(i, t, o, mode="sum", padding_idx=3), F.embedding_bag(i, t, o, mode="mean", padding_idx=3),
        F.embedding_bag(i.view(2, 4), t, mode="mean")),
     [TABLE, torch.tensor([3, 1, 4, 1, 5, 9, 3, 6]), torch.tensor([0, 2, 2, 5]), rand(8)]),
    ("embedding-bag-last", lambda t, i, o: F.embedding_bag(i, t, o, mode="sum", include_last_offset=True),
     [TABLE, torch.tensor([3, 1, 4, 1, 5, 9, 3, 6]), torch.tensor([0, 2, 2, 5, 8])]),
    ("weight-norm", lambda v, g: (torch._weight_norm(v, g, 0), torch._weight_norm(v, g[:, :1].sum(), -1)),
     [rand(4, 3, 2), rand(4, 1, 1)]),
    ("prelu", lambda x, w, h: (F.prelu(x, w), F.prelu(x, w[:1]), F.prelu(x[:, :, 0, 0], w), F.prelu(h, w[:1].half())),
     [IMAGE, rand(4), IMAGE.half()]),
    ("dropout", lambda x: (F.dropout(x, 0.5, False), F.dropout(x, 0.0, True)), [X]),
]

def put_column(x, j):
    x = x.clone()
    x[:, j] = 4.0
    return x


def put(y, index, value):
    y = y.clone()
    y[index] = value
    return y


INDEX = [
    ("index", lambda x, i, j: (x[i], x[:, i], x[i, j], x[i, :, j], x[:, i, j], x[i[:, None], j], x[i, 1], x[..., j], x[i][:, j],
                               x[-1, i], x[[0, -1]], x[:, [2, 0, 1]], x[i.int()]),
     [rand(3, 4, 5), torch.tensor([0, 2, -1, 1]), torch.tensor([1, -2, 0, 3])]),
    ("index-select", lambda x, i: (x.index_select(0, i), x.index_select(1, i), x.index_select(-1, i[0])),
     [rand(3, 4), torch.tensor([2, 0, 1, 1])]),
    ("gather", lambda x, i: (x.gather(1, i), x.gather(0, i[:, :3]), torch.take_along_dim(x, i, 1), x.gather(1, i[:1])),
     [rand(3, 4), torch.tensor([[0, 1, 2, 0], [2, 2, 0, 1], [1, 0, 0, 2]])]),
    ("scatter", lambda x, i, s: (x.scatter(1, i, s), x.scatter(1, i, 2.5), x.scatter_add(0, i, s), x.scatter(0, i[:2], s),
                                 x.scatter_reduce(1, i, s, "sum"), x.scatter_reduce(1, i, s, "amax")),
     [rand(3, 4), torch.tensor([[0, 1, 2], [2, 0, 1], [1, 2, 0]]), rand(3, 3)]),
    ("scatter-duplicates", lambda x, i, s: x.scatter_add(1, i, s), [torch.zeros(2, 4), torch.tensor([[1, 1, 1], [0, 3, 3]]), rand(2, 3)]),
    ("index-put", lambda x, i, j, v: (torch.index_put(x, (i, j), v), torch.index_put(x, (i, j), v, accumulate=True),
                                      put_column(x, j), torch.index_put(x, (i,), v[0]),
                                      torch.index_put(x, (x > 0,), torch.tensor(7.0))),
     [rand(3, 4), torch.tensor([0, 2, -1]), torch.tensor([1, -2, 0]), rand(3)]),
    ("index-write", lambda x, i, s: (x.index_copy(0, i, s), x.index_add(0, i, s), x.index_add(0, i, s, alpha=0.5),
                                     x.index_fill(0, i, 3.5), x.index_fill(1, i, 1)),
     [rand(4, 4), torch.tensor([2, 0]), rand(2, 4)]),
    ("sort", lambda x: (*x.sort(), *x.sort(0, descending=True), x.argsort(1), *x.topk(3), *x.topk(2, 0, largest=False),
                        *torch.sort(x, stable=True)), [rand(3, 6)]),
    ("sort-ties", lambda x: (*torch.sort(x, stable=True), *torch.sort(x, stable=True, descending=True)),
     [torch.tensor([[3.0, 1, nan, 1, inf, -inf, 3], [0.0, -0.0, 2, 2, 2, nan, nan]])]),
    ("sort-integers", lambda x: (*torch.sort(x, stable=True), *torch.sort(x, dim=0, stable=True)), [ints(3, 6)]),
    ("median", lambda x, y, i: (x.median(), *x.median(1), *x.median(0, keepdim=True), *y.median(1), y.median(), *i.median(1),
                                *x.kthvalue(2, 1), *x.kthvalue(3, 0, True), torch.msort(x)),
     [rand(3, 6), torch.tensor([[1.0, nan, 2.0], [3.0, 1.0, inf]]), torch.stack([torch.randperm(5), torch.randperm(5)])]),
    ("search", lambda s, x, m: (torch.searchsorted(s, x), torch.searchsorted(s, x, right=True), torch.searchsorted(s, 0.5), torch.bucketize(x, s),
                                torch.bucketize(x, s, right=True, out_int32=True), torch.searchsorted(m.sort(1)[0], m),
                                torch.bucketize(m.long(), torch.arange(-1, 2)), torch.searchsorted(s, x, side="right")),
     [torch.tensor([-1.0, 0.0, 0.0, 0.5, 1.5]), torch.tensor([[-2.0, 0.0, 0.5], [1.5, 9.0, nan]]), rand(3, 4)]),
    ("membership", lambda i, t, x: (torch.isin(i, t), torch.isin(i, 3), torch.isin(i, t, invert=True), torch.isin(x, x[0])), [ints(3, 4), ints(4, seed=1), rand(3, 4)]),
    ("take", lambda x, i, v: (torch.take(x, i), torch.put(x, i, v), torch.put(x, i, v, accumulate=True)),
     [rand(3, 4), torch.tensor([[0, -1], [5, 7]]), rand(2, 2)]),
    ("masked-scatter", lambda x, m, s, z: (x.masked_scatter(m, s), x.masked_scatter(m[0], s), torch.nonzero_static(z, size=4),
                                           torch.nonzero_static(z, size=9, fill_value=-7), torch.nonzero_static(z[0], size=2)),
     [rand(3, 5), bools(3, 5), rand(15), bools(3, 2)]),
    ("scatter-reduce", lambda x, i, s: tuple(x.scatter_reduce(1, i, s, r, include_self=f) for r in ("sum", "mean", "amax", "amin") for f in (True, False))
     + (x.scatter(1, i, s, reduce="add"), x.scatter(1, i, 2.0, reduce="add")),
     [rand(3, 4), torch.tensor([[0, 0, 2], [2, 0, 1], [1, 1, 1]]), rand(3, 3)]),
    ("scatter-reduce-types", lambda i, h, k, s, r: tuple(x.scatter_reduce(1, i, y.to(x.dtype), m, include_self=f) for x, y in ((h, s), (k, r), (s.bfloat16(), s))
                                                         for m in ("sum", "mean", "amax", "amin") for f in (True, False)),
     [torch.tensor([[0, 0, 2], [2, 0, 1], [1, 1, 1]]), rand(3, 4, dtype=f16), ints(3, 4), rand(3, 4), ints(3, 4, seed=1)]),
    ("index-reduce", lambda x, i, s: tuple(x.index_reduce(0, i, s, r, include_self=f) for r in ("mean", "amax", "amin") for f in (True, False)),
     [rand(4, 3), torch.tensor([1, 1, 3]), rand(3, 3, seed=1)]),
    ("histc", lambda x: (torch.histc(x, 4, -1, 1), torch.histc(x, 5, 0, 2)), [rand(3, 6)]),
    ("dynamic", lambda x, i: (x[i], x.index_select(0, i), x[:, :2].gather(0, i[:, None].expand(-1, 2)), x.scatter_add(0, i[:, None].expand(-1, 3), x.new_ones(i.shape[0], 3))),
     [rand(5, 3), torch.tensor([1, 0, 4])], ({0: "n"}, {0: "m"})),
]


def add_to_slice(x, y):
    z = x.clone()
    z[1:3].add_(y)
    z[:, 0].mul_(2)
    z[:, 1::2], z[0][..., 9::3] = 0, z[1, ..., 9::3]
    z.t()[2].copy_(y[0, :1].expand(4))
    z[0, 0] = 5
    return z, z.sum(), z[1]


def chains(x):
    z = x * 1
    view = z.view(2, 2, 3)
    view[0].neg_()
    flat = z.flatten()
    z.add_(1)
    flat.mul_(2)
    return z, view, flat, view.transpose(0, 2)[1]


def writes(x, i, v):
    z = x.clone()
    z.index_put_((i,), v)
    z.index_copy_(1, i, z[:, i] * 3)
    z.scatter_(0, i[None, :], 9.0)
    z.masked_fill_(z > 8, -1).clamp_(min=-0.5)
    z.relu_()
    w = torch.zeros_like(z)
    w.fill_(2).sub_(z)
    w.diagonal().zero_()
    return z, w


def reshaped_views(x):
    z = x * 1
    z.t().reshape(3, 2, 2)[0].add_(1)  # a view
    z.t().reshape(-1).add_(10)  # a copy
    z[1:3].reshape(-1)[2:4].mul_(3)  # a view
    return z


INPLACE = [
    ("dropouts", lambda x: F.feature_alpha_dropout(F.dropout(x + 1, 0.5, False, True), 0.5, False, True) * 2, [rand(2, 3, 4, 4)]),
    ("slices", add_to_slice, [rand(4, 4), rand(2, 4)]),
    ("chains", chains, [rand(4, 3)]),
    ("writes", writes, [rand(4, 4), torch.tensor([2, 0]), rand(2, 4)]),
    ("reshapes", lambda x: (x.t().reshape(-1).add_(1), x.t().reshape(4, 3).mul_(2), x[:, ::2].reshape(6).add_(3), x), [rand(3, 4)]),
    ("reshaped-views", reshaped_views, [rand(4, 3)]),
    ("repeated-outputs", lambda x: (x, x, x + 1, x), [X]),
]

THEMES = {"pointwise": POINTWISE, "math": MATH, "loss": LOSS, "padding": PADDING, "edges": EDGES, "comparison": COMPARISON,
          "movement": MOVEMENT, "creation": CREATION, "reduction": REDUCTION, "scan": SCAN, "product": PRODUCT,
          "convolution": CONVOLUTION, "resample": RESAMPLE, "recurrent": RECURRENT, "norm": NORM, "index": INDEX, "inplace": INPLACE}
THEMES = {name: cases + VALUES.get(name, []) for name, cases in (THEMES | COMPOSED).items()}
