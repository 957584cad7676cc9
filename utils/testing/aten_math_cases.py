# ===- aten_math_cases.py - Programs of rarer functions, bits and losses -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More themes for aten_cases.py, which collects them."""
import torch
import torch.nn.functional as F

from aten_inputs import (EXTREME, POSITIVE, SPECIAL, X, Y, bf16, bools, each, f16, f32, f64, i32, i64, inf, ints, nan, rand)

NEAR = torch.tensor([0.0, 0.1, -0.1, 0.5, -0.5, 0.9, -0.9, 0.999, 1.0, -1.0, 1e-8, 0.3])
TRIGONOMETRY = [torch.asin, torch.acos, torch.atan, torch.asinh, torch.atanh, torch.erfinv, torch.arcsin, torch.arctan]
RARE = [torch.atan, torch.asinh, torch.erfc, torch.sinc, torch.deg2rad, torch.rad2deg, F.softshrink, F.hardshrink, F.softsign,
        F.tanhshrink, torch.signbit, torch.positive, torch.absolute, torch.negative, torch.special.expit, torch.special.ndtr,
        lambda x: F.softshrink(x, 0.9), lambda x: F.hardshrink(x, 1.2)]
PAIRS = [torch.atan2, torch.hypot, torch.copysign, torch.heaviside, torch.fmax, torch.fmin, torch.logaddexp2, torch.arctan2,
         torch.subtract, torch.multiply, torch.true_divide, torch.isclose, torch.greater, torch.less_equal, torch.not_equal]
WORDS = torch.tensor([0, 1, -1, 5, -6, 0x7FFF, -0x8000, 123456789, -987654321, 2**62, -2**63, 2**63 - 1, 0x5555, 1 << 40])
WORDS2 = torch.tensor([3, -1, 7, -5, 12, 0xFF, 0x7FFF, -123456, 987654321, 2**61 + 5, -2**63, -1, 0x3333, -1 << 35])
SHORT, SHORT2 = WORDS.to(i32), WORDS2.to(i32)
BITS = [torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor]
MASKS = [lambda x: x & 3, lambda x: x & -8, lambda x: x | 6, lambda x: x ^ 0x5A, lambda x: x ^ -1, lambda x: x & 0, lambda x: ~x,
         lambda x: x << 3, lambda x: x >> 2, lambda x: x >> 31, lambda x: x & 0x55, lambda x: x << 0]
SHIFTS = torch.tensor([0, 1, 5, 2, 31, 7, 1, 3, 30, 1, 2, 62, 3, 20])

NEIGHBOURS = torch.tensor([0x3F800000, 0x3F800001, 0, -2**31, 1, 0x7F800000, 0x7F7FFFFF, -0x40800000, -0x00800000, 0x00800000, -2**31 + 1, 0], dtype=i32)
MATH = [
    ("inverse", each(TRIGONOMETRY), [NEAR]),
    ("inverse-16", lambda x, y: tuple(f(v) for v in (x, y) for f in TRIGONOMETRY), [NEAR[:8].half(), NEAR[:8].bfloat16()]),
    ("inverse-f64", each(TRIGONOMETRY), [NEAR.double()]),
    ("inverse-outside", each(TRIGONOMETRY + [torch.acosh]), [torch.tensor([1.5, -2.0, inf, -inf, nan])]),
    ("inverse-hyperbolic", lambda x: (torch.acosh(x), torch.arccosh(x), torch.asinh(x), torch.atan(x), torch.lgamma(x)),
     [torch.tensor([1.0, 1.0001, 1.5, 3.0, 100.0, 1e6, 1e20, 3e38])]),
    ("rare", each(RARE), [SPECIAL]),
    ("rare-extreme", each([torch.atan, torch.asinh, torch.sinc, torch.isposinf, torch.isneginf, F.softshrink, F.hardshrink,
                           torch.special.entr, torch.special.ndtr]), [EXTREME]),
    ("rare-16", lambda x, y: tuple(f(v) for v in (x, y) for f in RARE), [rand(4, 3, dtype=f16), rand(4, 3, dtype=bf16)]),
    ("rare-integers", each([torch.atan, torch.erfc, torch.sinc, torch.signbit, torch.positive, torch.isposinf]), [ints(5)]),
    ("rare-empty", each(RARE[:8]), [torch.zeros(0, 2)]),
    ("gamma", lambda x: torch.lgamma(x), [torch.tensor([0.1, 0.5, 1.0, 1.5, 2.0, 3.3, 10.0, 50.0, -0.5, -1.5, -3.7, 0.0])]),
    ("logit", lambda x: (torch.logit(x), torch.logit(x, 0.1), torch.special.entr(x)), [rand(3, 4, low=0.01, high=0.99)]),
    ("pairs", each(PAIRS), [X, Y]),
    ("pairs-special", each([torch.atan2, torch.copysign, torch.fmax, torch.fmin, torch.hypot, torch.logaddexp2, torch.isclose,
                            torch.xlogy]), [EXTREME, EXTREME.roll(2)]),
    ("pairs-zeros", lambda a, b: torch.atan2(a[:, None], b), [torch.tensor([0.0, -0.0, 1.0, -1.0]), torch.tensor([0.0, -0.0, 2.0, -2.0])]),
    ("pairs-16", lambda a, b, c, d: tuple(f(x, y) for x, y in ((a, b), (c, d)) for f in PAIRS),
     [X.half(), Y.half(), X.bfloat16(), Y.bfloat16()]),
    ("pairs-integers", each([torch.fmax, torch.fmin, torch.heaviside, torch.isclose, torch.atan2]), [ints(9), ints(9, seed=1)]),
    ("xlogy", lambda x, y: (torch.xlogy(x, y), torch.xlogy(x, 2.0), torch.xlogy(0.0, y), torch.special.xlog1py(x, y)),
     [torch.tensor([0.0, 1.0, 0.5, 0.0]), torch.tensor([0.0, 0.5, 3.0, nan])]),
    ("powers", lambda x, y, i: (torch.float_power(x, y), torch.float_power(x, 2), torch.ldexp(x, i)), [POSITIVE, Y, ints(3, 5)]),
    ("gates", lambda x: (F.glu(x, 0), F.glu(x[:, :4], 1), F.glu(x.half(), 0)), [rand(4, 5)]),
    ("bits", each(BITS), [WORDS, WORDS2]),
    ("bits-32", each(BITS), [SHORT, SHORT2]),
    ("bits-mixed", each(BITS), [WORDS.reshape(2, 7), SHORT2[:7]]),
    ("bits-bytes", lambda a, b: tuple(f(a, b) for f in BITS) + (a & 15, a >> 4, a << 2, a >> 7, a | 1),
     [ints(9, low=0, high=256).to(torch.uint8), ints(9, low=0, high=256, seed=1).to(torch.uint8)]),
    *((f"bits-{str(t).removeprefix('torch.')}", lambda a, b: tuple(f(a, b) for f in BITS) + tuple(f(a, b[:1]) for f in BITS) + (a & -2, a ^ 1, a >> 2, a << 5),
       [WORDS.to(t).reshape(2, 7), WORDS2.to(t)[:7]]) for t in (torch.int8, torch.int16)),
    # Bits come from integers: what checks against float64 would widen floats first.
    ("bit-casts", lambda i, w: (i.view(f32) * 2, i.view(f16).view(i32), i.view(torch.int16), i.view(torch.uint8), i.view(i64), i.view(f64).view(i64),
                                w.view(i32), w.view(bf16).view(torch.int16), w.view(torch.int8).view(i32), i[0, 0].view(f32),
                                i.view(torch.uint8).view(f32)[..., :1].view(torch.int16)),
     [WORDS.to(i32)[:12].reshape(3, 4), WORDS.reshape(2, 7)]),
    ("bit-casts-dynamic", lambda i: (i.view(torch.uint8), i.view(torch.int16).view(i32)), [SHORT[:8].reshape(2, 4)], [{0: "n"}]),
    ("nextafter", lambda a, b, h: (torch.nextafter(a.view(f32), b.view(f32)).view(i32), torch.nextafter(b.view(f32), a.view(f32)).view(i32),
                                   torch.nextafter(h.view(bf16), h.flip(0).view(bf16)).view(torch.int16),
                                   torch.nextafter((a.long() << 32).view(f64), (b.long() << 32).view(f64)).view(i64)),
     [NEIGHBOURS, NEIGHBOURS.flip(0), torch.tensor([0x3F80, 0x3F81, 0, -0x8000, 1, 0x7F80, -0x0080], dtype=torch.int16)]),
    *((f"narrow-{str(t).removeprefix('torch.')}", lambda a, b: (
        a + b, a - b, a * b, a // b, a % b, -a, a.abs(), a ** 3, a ** b.abs(), torch.maximum(a, b), a.clamp(-3, 100), a < b, a == b, a & b, a | 9, a ^ b,
        ~a, a << 3, a >> 2, a.sum(), a.sum(0), a.amax(0), a.amin(), a.prod(), a.cumsum(0), a.float() / 3, a / b, a + 1.5, a * 7, a + b.int(), a.double(),
        torch.where(a < b, a, b), torch.cat([a, b]), a[b.long() % 4], torch.zeros_like(a).scatter_add(0, b.long() % 4, a), a.sort(0)[0], a.bool()),
       [ints(4, 5, low=low, high=high).to(t), (ints(4, 5, low=low, high=high, seed=1) | 1).to(t)])
      for t, low, high in ((torch.int8, -128, 128), (torch.uint8, 0, 256), (torch.int16, -2**15, 2**15))),
    ("narrow-mixed", lambda a, b, c: (a + b, a * c, b - c, a == b, torch.maximum(a, b), torch.where(c > 0, a, b)),
     [ints(6, low=0, high=256).to(torch.uint8), ints(6, low=-128, high=128).to(torch.int8), ints(6, low=-2**15, high=2**15).to(torch.int16)]),
    ("casts-out-of-range", lambda x: tuple(v.to(t) for v in (x, x.double()) for t in (torch.uint8, torch.int8, torch.int16)),
     [torch.tensor([-1.0, 300.0, 255.5, -129.0, 40000.0, -70000.7, 2.0**31 - 256, -2.0**31, 1e20, -1e20, inf, -inf, nan, 0.5, -0.9])]),
    ("casts-unsigned", lambda x, i: (x.to(torch.uint16).long(), i.to(torch.uint32).long(), i.to(torch.uint16).float(), i.to(torch.uint32).double(),
                                     i.to(torch.uint16).view(torch.int16)),
     [torch.tensor([-1.0, 300.0, 65535.5, -129.0, 70000.7, nan]), WORDS]),
    ("integer-powers", lambda a, b, s: (a ** b, 2 ** b, (-1) ** b, a ** 3, a ** 0, a ** 70, s ** b.int(), torch.pow(a, s.long()), a[:1] ** b),
     [torch.tensor([2, 3, -3, 0, 1, -1, -1, 7, 10, 0, 2, -2]), torch.tensor([3, 40, 41, 0, -2, -3, -4, -1, 18, 5, 63, 64]),
      torch.tensor([2, 3, -3, 0, 1, -1, -1, 7, 10, 1, 31, 33], dtype=i32)]),
    *((f"round-decimals-{str(t).removeprefix('torch.')}", lambda x: (x.round(decimals=2), x.round(decimals=-1), x.round(decimals=0), (x * 100).round(decimals=-2)),
       [rand(64, low=-40, high=40, dtype=t)]) for t in (f32, f64, f16, bf16)),
    ("bits-bool", lambda a, b: tuple(f(a, b) for f in BITS) + (a & True,), [bools(5), bools(5, seed=1)]),
    ("masks", each(MASKS), [WORDS]),
    ("masks-32", each(MASKS), [SHORT]),
    ("shifts", lambda x, s: (x << s, x >> s, torch.bitwise_left_shift(x, s), torch.bitwise_right_shift(3, s)), [WORDS, SHIFTS]),
    ("shifts-32", lambda x, s: (x << s, x >> s), [SHORT, SHIFTS.to(i32)]),
    ("bits-empty", each(BITS), [WORDS[:0], WORDS2[:0]]),
]

LOGITS, PICKED = rand(6, 5), torch.tensor([0, 4, 2, -100, 1, 3])
PROBABLE = rand(4, 5, low=0.01, high=0.99)
SPREADS = ("none", "mean", "sum")
LOSS = [
    ("elements", lambda x, y: tuple(f(x, y, reduction=r) for r in SPREADS for f in (
        F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, lambda *a, **k: F.huber_loss(*a, delta=0.4, **k),
        lambda *a, **k: F.smooth_l1_loss(*a, beta=0.3, **k), lambda *a, **k: F.smooth_l1_loss(*a, beta=0.0, **k))), [X, Y]),
    ("elements-16", lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.huber_loss(x, y), F.mse_loss(x, y, reduction="none")),
     [X.bfloat16(), Y.bfloat16()]),
    ("binary", lambda p, q, x, w: tuple(v for r in SPREADS for v in (
        F.binary_cross_entropy(p, q, reduction=r), F.binary_cross_entropy(p, q, w, reduction=r),
        F.binary_cross_entropy_with_logits(x, q, reduction=r), F.binary_cross_entropy_with_logits(x, q, w, reduction=r),
        F.binary_cross_entropy_with_logits(x, q, pos_weight=w, reduction=r))),
     [PROBABLE, rand(4, 5, low=0, high=1, seed=1), rand(4, 5) * 10, rand(5, low=0.5)]),
    ("binary-ends", lambda p, q: F.binary_cross_entropy(p, q, reduction="none"), [torch.tensor([0.0, 1.0, 0.0, 1.0]), torch.tensor([0.0, 1.0, 1.0, 0.5])]),
    ("divergence", lambda x, p: tuple(v for r in ("none", "sum", "batchmean") for v in (
        F.kl_div(x.log_softmax(1), p, reduction=r), F.kl_div(x.log_softmax(1), p.log(), log_target=True, reduction=r))),
     [rand(4, 5), PROBABLE]),
    ("margins", lambda x, y, s: tuple(v for r in SPREADS for v in (
        F.soft_margin_loss(x, s, reduction=r), F.hinge_embedding_loss(x, s, reduction=r), F.margin_ranking_loss(x, y, s, 0.2, reduction=r),
        F.cosine_embedding_loss(x, y, s[:, 0], 0.1, reduction=r), F.triplet_margin_loss(x, y, x.flip(0), reduction=r),
        F.triplet_margin_loss(x, y, x.flip(0), swap=True, p=1, reduction=r), F.poisson_nll_loss(x, y.abs(), reduction=r),
        F.poisson_nll_loss(x.abs(), y.abs() * 3, log_input=False, full=True, reduction=r))),
     [X, Y, torch.where(rand(3, 5) > 0, 1.0, -1.0)]),
    ("classes", lambda x, t, w: tuple(v for r in SPREADS for v in (
        F.cross_entropy(x, t, reduction=r), F.cross_entropy(x, t, w, reduction=r), F.nll_loss(x.log_softmax(1), t, reduction=r),
        F.nll_loss(x.log_softmax(1), t, w, reduction=r), F.cross_entropy(x, t, ignore_index=2, reduction=r),
        F.cross_entropy(x, t, label_smoothing=0.1, reduction=r), F.cross_entropy(x, t, w, label_smoothing=0.2, reduction=r))),
     [LOGITS, PICKED.clamp(min=0), rand(5, low=0.5)]),
    ("classes-shapes", lambda x, t, p: (F.cross_entropy(x, t), F.cross_entropy(x[0, :, 0, 0], t[0, 0, 0]), F.cross_entropy(x[:, :, 0, 0], p),
                                        F.cross_entropy(x[:, :, 0, 0], p, label_smoothing=0.1), F.nll_loss(x, t, reduction="none"),
                                        F.cross_entropy(x.bfloat16(), t)),
     [rand(2, 5, 3, 4), ints(2, 3, 4, low=0, high=5), rand(2, 5, low=0)]),
    ("classes-ignored", lambda x, t: (F.cross_entropy(x, t), F.cross_entropy(x, t, reduction="sum")), [LOGITS, torch.full((6,), -100)]),
    ("distances", lambda x, y: tuple(torch.cdist(x, y, p) for p in (2.0, 1.0, 3.0, inf, 0.0)) + (
        torch.cdist(x[None], y[None, None]), F.pairwise_distance(x[:3], y[:3]), F.pairwise_distance(x[:3], y[:3], 1, keepdim=True),
        F.cosine_similarity(x[:3], y[:3]), F.cosine_similarity(x[:3], y[:3], 0), torch.dist(x[:3], y[:3]), torch.dist(x[:3], y[:3], 1),
        F.pdist(x), F.pdist(x, 1.0)), [rand(4, 5), rand(3, 5, seed=1)]),
    ("distances-products", lambda x, y: (torch.cdist(x, y), torch.cdist(x[None], y[None, None]), torch.cdist(y, x),
                                         torch.cdist(x[:3], y, compute_mode="use_mm_for_euclid_dist"),
                                         torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")),
     [rand(40, 5), rand(3, 5, seed=1)]),
    ("dynamic", lambda x, t: (F.cross_entropy(x, t), F.mse_loss(x, x.flip(0)), torch.cdist(x, x, 1.0)),
     [LOGITS, PICKED.clamp(min=0)], ({0: "n"}, {0: "n"})),
]
