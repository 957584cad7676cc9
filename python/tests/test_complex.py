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


def test_what_has_no_form_is_refused_by_name():
    x = torch.randn(4, 6)
    with pytest.raises(luminal.LuminalError, match="aten.reciprocal.default: has complex operands or results"):
        luminal.compile(lambda x: torch.view_as_real(pairs_of(x).reciprocal()), (x,))
    with pytest.raises(luminal.LuminalError, match="complex64"):
        luminal.compile(pairs_of, (x,))
