# ===- aten_composite_cases.py - Programs of ops that PyTorch composes ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Themes for aten_cases.py: what archives that were not decomposed hold as one op."""
import torch
import torch.nn.functional as F

from aten_inputs import X, Y, bf16, each, f16, f64, i32, inf, ints, nan, rand
from aten_signal_cases import SIGNAL

special, linalg = torch.special, torch.linalg
HOLES = torch.tensor([[1.0, nan, 3.0, 2.0], [nan, nan, nan, nan], [4.0, -1.0, 0.5, inf], [7.0, 7.0, nan, -inf]])
WAYS = ("linear", "lower", "higher", "midpoint", "nearest")
FRACTIONS = torch.tensor([0.0, 0.2, 0.5, 0.77, 1.0])
SIGNS = torch.tensor([0.0, -0.0, 2.0, -3.0, nan, inf, -inf])


def copies(x):
    """Results with memory of their own: x stays as it is."""
    made = [torch.expand_copy(x, (2, 3, 5)), torch.diagonal_copy(x), torch.permute_copy(x, (1, 0)), torch.view_copy(x, (5, 3)), torch.t_copy(x),
            torch.narrow_copy(x, 1, 1, 2), torch.unsqueeze_copy(x, 0), torch.transpose_copy(x, 0, 1), torch.slice_copy(x, 0, 1, 3),
            torch.select_copy(x, 0, 1), torch.squeeze_copy(x[:1]), *torch.unbind_copy(x), *torch.split_copy(x, 2)]
    for y in made[1:]:
        y.add_(1)
    return (x, *made)


COMPOSITE = [
    ("areas", lambda y, x: (torch.trapezoid(y), torch.trapezoid(y, dx=0.5, dim=0), torch.trapezoid(y, x), torch.trapezoid(y, x[0]),
                            torch.trapezoid(y, x[:, 0], dim=0), torch.trapz(y[:, :1]), torch.trapezoid(y[:, :0]), torch.trapezoid(y[None], x, dim=1),
                            torch.cumulative_trapezoid(y), torch.cumulative_trapezoid(y, x, dim=0), torch.cumulative_trapezoid(y, dx=2)), [X, Y]),
    ("areas-types", lambda a, b, i: (torch.trapezoid(a), torch.cumulative_trapezoid(b), torch.trapezoid(i), torch.trapezoid(i, dx=2, dim=0)),
     [rand(3, 5, dtype=f16), rand(3, 5, dtype=f64), ints(3, 5)]),
    ("areas-dynamic", lambda y: (torch.trapezoid(y), torch.trapezoid(y, y, dim=0)), [X], ({1: "m"},), 3),
    ("gradients", lambda x: (*torch.gradient(x), *torch.gradient(x, spacing=2.0), *torch.gradient(x, dim=1, edge_order=2), *torch.gradient(x[:2]),
                             *torch.gradient(x, dim=(1, 0)), *torch.gradient(x, spacing=0.5, dim=[-1])), [X]),
    ("gradients-f64", lambda x: torch.gradient(x, edge_order=2), [rand(4, 3, dtype=f64)]),
    ("differences", lambda x, y: (torch.diff(x, n=0, prepend=y), torch.diff(x, n=2, prepend=y, append=y), torch.diff(x, n=9)), [X, Y]),
    ("powers", lambda x, i: (torch.vander(x[0]), torch.vander(x[0], 3, increasing=True), torch.vander(x[0], 1), torch.vander(i), linalg.vander(x, N=4),
                             linalg.vander(x)), [X, ints(4)]),
    ("kronecker", lambda x, y, i: (torch.kron(x, y[:2]), torch.kron(x[0], y), torch.kron(x[:, None], y[0, 0]), torch.kron(i, i), torch.kron(x, i)),
     [X, Y, ints(2, 2)]),
    ("addr", lambda x, y: (torch.addr(x, y[:, 0], y[0]), torch.addr(x, y[:, 0], y[0], beta=0.5, alpha=2), torch.addr(x[0], y[:, 0], y[0], beta=0),
                           torch.vdot(x[0], y[0])), [X, Y]),
    ("sum-to-size", lambda x: (x.sum_to_size(5), x.sum_to_size(1, 5), x.sum_to_size(3, 1), x.sum_to_size(3, 5), x.half().sum_to_size(1), x[None].sum_to_size(3, 1)),
     [X]),
    ("renorm", lambda x: (x.renorm(2, 0, 1.0), x.renorm(1, 1, 2.0), x.renorm(inf, 0, 0.5), x.renorm(3, -1, 100.0), x[None].renorm(2, 1, 1.0)), [X]),
    ("quantiles", lambda x, q: tuple(f for w in WAYS for f in (
        x.quantile(0.3, interpolation=w), x.quantile(q, dim=1, keepdim=True, interpolation=w), x.quantile(0.6, dim=0, keepdim=True, interpolation=w),
        x.quantile(q, keepdim=True, interpolation=w), x[None].quantile(q[1], dim=1, interpolation=w))), [X, FRACTIONS]),
    ("quantiles-nan", lambda x, q: tuple(f for w in WAYS for f in (
        x.quantile(q, dim=1, interpolation=w), x.nanquantile(q, dim=1, interpolation=w), x.nanquantile(0.4, interpolation=w))), [HOLES[:2], FRACTIONS]),
    ("quantiles-f64", lambda x, q: (x.quantile(0.3), x.nanquantile(q, dim=0), x[0, 0].quantile(0.5)), [X.double(), FRACTIONS.double()]),
    # Decomposed, PyTorch makes tensors of numbers that only a call knows.
    ("quantiles-dynamic-exported", lambda x: (x.quantile(0.3, dim=1), x.quantile(0.5, dim=0, keepdim=True)), [X], ({0: "n", 1: "m"},), 2),
    ("special", lambda x: (special.softmax(x, 1), special.softmax(x, 0, dtype=f64), special.log_softmax(x, -1), special.round(x),
                           special.round(x, decimals=2), special.gammaln(x.abs() + 0.1)), [X]),
    ("bessel", each([torch.i0, special.i0e, special.i1, special.i1e]), [torch.tensor([0.0, -0.0, 1e-8, 0.5, -1.5, 3.7, 7.99, 8.0, 8.01, -20.0, 60.0, inf, -inf, nan])]),
    ("bessel-types", lambda a, b, i, d: tuple(f(v) for v in (a, b, i, d) for f in (torch.i0, special.i0e, special.i1, special.i1e)),
     [rand(4, dtype=f16), rand(4, dtype=bf16), ints(5), rand(5, dtype=f64, low=-30.0, high=30.0)]),
    ("digamma", each([torch.digamma, special.psi, lambda x: torch.digamma(x.double())]),
     [torch.tensor([0.0, -0.0, 1.0, 0.3, 1e-4, 2.5, 9.9, 10.0, 40.0, 1e6, -0.5, -1.3, -7.7, -1.0, -20.0, inf, nan])]),
    ("digamma-types", lambda a, b, i: (torch.digamma(a), torch.digamma(b), torch.digamma(i)), [rand(4, dtype=f16), rand(4, dtype=bf16), ints(5, low=1, high=9)]),
    ("kaiser", lambda x: tuple(x * torch.kaiser_window(n, periodic=p, **b) for n in (0, 1, 2, 7, 8) for p in (True, False) for b in ({}, {"beta": 5.0})),
     [rand(1)]),
    ("matrix-norms", lambda x, b: (*(linalg.norm(x, o) for o in (1, -1, inf, -inf, "fro")), *(linalg.matrix_norm(b, o, dim=d, keepdim=k) for o in (1, -1, inf, -inf, "fro")
                                   for d, k in (((-2, -1), False), ((2, 0), True))), linalg.norm(b, 1, dim=(0, 1)), linalg.norm(x, "fro", dim=(0, 1)),
                                   linalg.matrix_norm(b, dtype=f64), linalg.norm(x[0], inf)), [X, rand(2, 3, 4)]),
    ("matrix-powers", lambda x, h: (*(linalg.matrix_power(x, n) for n in (0, 1, 2, 3, 6)), torch.matrix_power(x[0], 5), linalg.matrix_power(h, 2)),
     [rand(2, 3, 3), rand(3, 3, dtype=f16)]),
    ("angles", each([torch.angle, lambda x: torch.angle(x.double()), lambda x: torch.angle(x.nan_to_num(1, 2, -2).to(i32))]), [SIGNS]),
    ("angles-16", lambda x, y: (torch.angle(x), torch.angle(y)), [rand(4, dtype=f16), rand(4, dtype=bf16)]),
    ("batch-norm-own", lambda x, w: (F.batch_norm(x, None, None, training=True), F.batch_norm(x, None, None, w, w + 1, True, eps=0.1),
                                     F.batch_norm(x[..., 0], None, None, training=True), F.batch_norm(x.half(), None, None, training=True)),
     [rand(3, 4, 5), rand(4)]),
    ("view-copies-exported", copies, [X]),
]

COMPOSED = {"signal": SIGNAL, "composite": COMPOSITE}
