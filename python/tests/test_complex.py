# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers inside a program with real inputs and outputs, mainly rotary position embeddings."""
import helpers
import luminal
import pytest
import torch
from torch import nn


def rotate(x, positions, theta=10000.0):
    """Rotary position embeddings as in the original LLaMA code; x is [batch, tokens, heads, width]."""
    frequencies = 1.0 / (theta ** (torch.arange(0, x.shape[-1], 2, device=x.device).float() / x.shape[-1]))
    angles = torch.outer(positions.float(), frequencies)
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns[None, :, None, :]).flatten(3).type_as(x)


def pairs_of(x):
    return torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))


FUNCTIONS = {
    "rotate": (rotate, lambda: (torch.randn(2, 5, 3, 8), torch.arange(5))),
    "sums": (lambda x, y: torch.view_as_real(pairs_of(x) + pairs_of(y) - pairs_of(x) * 3), lambda: (torch.randn(4, 6), torch.randn(4, 6))),
    "real beside complex": (lambda x, y: torch.view_as_real((y + pairs_of(x)) * y - (y - pairs_of(x)) / y + (pairs_of(x) + 2.5)),
                            lambda: (torch.randn(3, 8), torch.rand(2, 3, 4) + 0.5)),
    "products": (lambda x, y: torch.view_as_real(pairs_of(x) @ pairs_of(y).mT.conj()), lambda: (torch.randn(2, 4, 6), torch.randn(2, 5, 6))),
    "adjoint": (lambda x: torch.view_as_real(pairs_of(x).mH @ pairs_of(x) + torch.adjoint(pairs_of(x))[..., :3]), lambda: (torch.randn(2, 4, 6),)),
    "parts": (lambda x: (pairs_of(x).real * 2, pairs_of(x).imag * 2, pairs_of(x).abs(), pairs_of(x).angle()), lambda: (torch.randn(4, 6),)),
    "conjugates": (lambda x: torch.view_as_real((pairs_of(x).conj() * pairs_of(x)).resolve_conj()), lambda: (torch.randn(4, 6),)),
    "moved": (lambda x: torch.view_as_real(torch.cat([pairs_of(x).transpose(0, 1)[1:], pairs_of(x).T.flip(0)[:2]]).unsqueeze(0).expand(2, -1, -1)) * 2,
              lambda: (torch.randn(4, 6),)),
    "made": (lambda x, y: torch.view_as_real(torch.complex(x, y).sum(0, keepdim=True) + torch.polar(x, y)), lambda: (torch.randn(3, 4), torch.randn(3, 4))),
    "double": (lambda x: torch.view_as_real(pairs_of(x).to(torch.complex128) * 2), lambda: (torch.randn(3, 4),)),
    "from real": (lambda x, y: torch.view_as_real(x.to(torch.complex64) * pairs_of(y) + y[:, ::2]), lambda: (torch.randn(3, 4), torch.randn(3, 8))),
    "quotients": (lambda x, y: torch.view_as_real(pairs_of(x) / pairs_of(y) + 2 / pairs_of(x) - x[..., ::2] / pairs_of(y) + pairs_of(y) / (3 - 4j)),
                  lambda: (torch.randn(2, 3, 8), torch.randn(3, 8))),
    "quotients of large and small numbers": (lambda x, y: torch.view_as_real(pairs_of(x * 1e25) / pairs_of(y * 1e25) * (pairs_of(x * 1e-25) / pairs_of(y * 1e-25))),
                                             lambda: (torch.randn(3, 8), torch.randn(3, 8))),
    "complex numbers of the code": (lambda x: torch.view_as_real((x + 2j) * (1 - 0.5j) - 3j * x + torch.full((4,), 1 - 2j, device=x.device) - torch.sub(x, 1j, alpha=2)),
                                    lambda: (torch.randn(3, 4),)),
    "powers": (lambda x: torch.view_as_real(pairs_of(x) ** 2 + pairs_of(x) ** -3 + pairs_of(x) ** 0 + pairs_of(x) ** 0.5 + pairs_of(x) ** pairs_of(x)
                                            + 2 ** pairs_of(x) + pairs_of(x) ** (1 + 2j) + (2j) ** x[..., ::2] + torch.zeros_like(pairs_of(x)) ** 1.5),
               lambda: (torch.rand(3, 8) + 0.5,)),
    "comparisons": (lambda x, y: (pairs_of(x) == pairs_of(y), pairs_of(x) != y[:, ::2], pairs_of(x) == 1, pairs_of(x) != 1j, torch.isreal(pairs_of(x)),
                                  pairs_of(x / y).isnan(), pairs_of(x / y).isinf(), pairs_of(x / y).isfinite(), ~pairs_of(x).logical_not()),
                    lambda: (torch.randint(2, (5, 8)).float(), torch.randint(2, (5, 8)).float())),
    "filled": (lambda x: torch.view_as_real(torch.cat([torch.full_like(pairs_of(x), 2.0), torch.ones_like(pairs_of(x)), torch.zeros_like(pairs_of(x)) + 1j,
                                                       pairs_of(x).masked_fill(x[..., ::2] > 0, 3.0), pairs_of(x).tril(), nn.functional.pad(pairs_of(x), (1, -1), value=2.0),
                                                       torch.tensor(1 + 2j) * pairs_of(x)])),
               lambda: (torch.randn(4, 8),)),
    "put into": (lambda x, i: torch.view_as_real(pairs_of(x).index_put((i,), pairs_of(x)[:2] * 2).index_add(0, i, pairs_of(x)[:2])
                                                 + torch.zeros(4, 4, dtype=torch.complex64, device=x.device).slice_scatter(pairs_of(x)[:, :2], 1, 1, 3)),
                 lambda: (torch.randn(4, 8), torch.tensor([2, 0]))),
    "norms": (lambda x: (torch.linalg.vector_norm(pairs_of(x), dim=1), pairs_of(x).norm(), pairs_of(x).cumsum(1).abs().mean()), lambda: (torch.randn(4, 8),)),
    "sums of products": (lambda x, y: torch.view_as_real(torch.addmm(pairs_of(x)[:, 0], pairs_of(x), pairs_of(y), beta=2, alpha=0.5)
                                                         + nn.functional.linear(pairs_of(x), pairs_of(y).T, pairs_of(x)[0])
                                                         + torch.addcmul(pairs_of(x), pairs_of(y), x[:, ::2], value=2) + torch.addcdiv(pairs_of(x), y[:, 1::2], pairs_of(y) + 3)),
                         lambda: (torch.randn(4, 8), torch.randn(4, 8))),
    "dot products": (lambda x, y: torch.stack([*map(torch.view_as_real, (torch.dot(pairs_of(x[0]), pairs_of(y[0])), torch.vdot(pairs_of(x[0]), pairs_of(y[0])),
                                                                         torch.mv(pairs_of(x), pairs_of(y[1])).sum(), torch.outer(pairs_of(x[2]), pairs_of(y[1])).mean()))]),
                     lambda: (torch.randn(4, 8), torch.randn(4, 8))),
    "chosen": (lambda x, y: torch.view_as_real(torch.where(y > 0, pairs_of(x), -pairs_of(x))), lambda: (torch.randn(3, 8), torch.randn(3, 4))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))])
def test_complex_numbers_inside(name, device):
    function, make = FUNCTIONS[name]
    torch.manual_seed(0)
    args = tuple(a.to(device) for a in make())
    helpers.same(helpers.compile(function, fullgraph=True)(*args), function(*args))
    helpers.same(luminal.compile(function, args)(*args), function(*args))


class Rotated(nn.Module):
    """The rotations are a buffer, as in checkpoints."""

    def __init__(self, persistent):
        super().__init__()
        angles = torch.outer(torch.arange(6).float(), torch.rand(4))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles), persistent=persistent)

    def forward(self, x):
        return torch.view_as_real(pairs_of(x) * self.turns[: x.shape[0]]).flatten(-2)


@pytest.mark.parametrize("persistent", [True, False])
def test_a_buffer_of_complex_numbers(persistent, tmp_path):
    model, x = Rotated(persistent).eval(), torch.randn(5, 8)
    run = luminal.compile(model, (x,))
    helpers.same(run(x), model(x))
    helpers.same(helpers.compile(model, fullgraph=True)(x), model(x))
    run.save(tmp_path / "model.lum")
    helpers.same(luminal.load(tmp_path / "model.lum")(x)[0], model(x))


def test_complex_arguments_and_results():
    def function(x, y):
        return x.mul(y), (x + 1).real, y.conj(), x

    compiled = helpers.compile(function, fullgraph=True)
    for x in (torch.randn(3, 4, dtype=torch.complex64), torch.randn(5, 4, dtype=torch.complex64).conj(), torch.randn(4, 5, dtype=torch.complex64).T):
        y = torch.randn(4, dtype=torch.complex64)
        for got, expected in zip(compiled(x, y), function(x, y), strict=True):
            torch.testing.assert_close(got.resolve_conj(), expected.resolve_conj())


def test_complex_numbers_that_are_written_to():
    def function(x):
        x.mul_(1j)
        return x.real * 2

    ours = torch.randn(3, 4, dtype=torch.complex64)
    theirs = ours.clone()
    with pytest.warns(luminal.LuminalWarning, match="complex64"):
        got = helpers.compile(function, options={})(ours)
    helpers.same(got, function(theirs))
    helpers.same(ours, theirs)


ELEMENTWISE = ["square", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh",
               "tanh", "sigmoid", "sgn"]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions(name):
    """In both types, on all sides of both axes and near the points 0, 1 and i."""
    torch.manual_seed(0)
    line = torch.cat([torch.linspace(-4, 4, 17), torch.tensor([1e-3, -1e-3, 1 + 1e-4, -1 + 1e-4, 11.0, -11.0])])
    x = torch.complex(*torch.meshgrid(line, line, indexing="ij"))
    if name in ("reciprocal", "log", "log2", "log10", "rsqrt"):
        x = x[x != 0]
    if name == "log1p":
        x = x[x != -1]
    function = getattr(torch, name)
    for dtype, tolerance in ((torch.complex64, 3e-5), (torch.complex128, 1e-9)):
        given = x.to(dtype)
        got = helpers.compile(function, fullgraph=True)(given)
        exact = function(x.to(torch.complex128))
        assert got.dtype == dtype
        # A part may be small beside the other.
        error = ((got - exact).abs() / exact.abs().clamp_min(1e-30))[exact != 0]
        assert error.max() < tolerance, (dtype, error.max())
        assert (got[exact == 0] == 0).all()


class Spectral(nn.Module):
    """A Fourier neural operator's layer: products of the low frequencies."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4, 3, 3, dtype=torch.complex64))

    def forward(self, x):
        spectrum = torch.fft.rfft2(x)
        kept = torch.zeros_like(spectrum)
        kept[:, :, :3, :3] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :3, :3], self.weight)
        return torch.fft.irfft2(kept, s=x.shape[-2:])


class Diagonal(nn.Module):
    """A diagonal state space's kernel (S4D)."""

    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.randn(8, 4, 2))
        self.c = nn.Parameter(torch.randn(8, 4, dtype=torch.complex64))

    def forward(self, x):
        a = -torch.exp(self.a[..., 0]) + 1j * self.a[..., 1]
        step = a * 0.05
        powers = step.unsqueeze(-1) * torch.arange(x.shape[-1])
        kernel = 2 * torch.einsum("hn,hnl->hl", self.c * (torch.exp(step) - 1.0) / a, torch.exp(powers)).real
        n = 2 * x.shape[-1]
        return torch.fft.irfft(torch.fft.rfft(kernel, n=n) * torch.fft.rfft(x, n=n), n=n)[..., :x.shape[-1]] + x


@pytest.mark.parametrize("model, x", [(Spectral(), torch.randn(2, 4, 16, 16)), (Diagonal(), torch.randn(2, 8, 32))], ids=["spectral", "diagonal"])
def test_layers(model, x):
    with torch.no_grad():
        helpers.same(helpers.compile(model, fullgraph=True)(x), model(x))
        helpers.same(luminal.compile(model, (x,))(x), model(x))


def test_what_has_no_form_is_refused_by_name():
    x = torch.randn(4, 6)
    with pytest.raises(luminal.LuminalError, match="aten.acos.default: has complex operands or results"):
        luminal.compile(lambda x: torch.view_as_real(pairs_of(x).acos()), (x,))
    with pytest.raises(luminal.LuminalError, match="complex64"):
        luminal.compile(pairs_of, (x,))
