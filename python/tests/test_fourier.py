# ===- test_fourier.py - Discrete Fourier transforms -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import helpers
import luminal
import pytest
import torch
from torch import fft, nn
from torch import view_as_complex as pairs
from torch import view_as_real as real

torch.manual_seed(0)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def spectrum(x, **options):
    return torch.stft(x, 16, window=torch.hann_window(16, device=x.device, dtype=x.dtype), return_complex=True, **options)


FUNCTIONS = {
    "rfft, odd": (lambda x: real(fft.rfft(x)), (2, 9)),
    "rfft, even": (lambda x: real(fft.rfft(x, norm="ortho")), (2, 8)),
    "rfft, longer": (lambda x: real(fft.rfft(x, n=12)), (2, 8)),
    "fft of reals": (lambda x: real(fft.fft(x, dim=0)), (7, 3)),
    "fft": (lambda x: real(fft.fft(pairs(x), norm="forward")), (3, 5, 2)),
    "fft2": (lambda x: fft.fft2(x).real, (2, 8, 6)),
    "ifft": (lambda x: real(fft.ifft(pairs(x))), (3, 5, 2)),
    "irfft, even": (lambda x: fft.irfft(pairs(x)), (3, 5, 2)),
    "irfft, odd": (lambda x: fft.irfft(pairs(x), n=9, norm="ortho"), (3, 5, 2)),
    "irfft of one": (lambda x: fft.irfft(pairs(x), n=1), (3, 5, 2)),
    "irfft of two": (lambda x: fft.irfft(pairs(x), n=2), (3, 5, 2)),
    "rfft2 and back": (lambda x: fft.irfft2(fft.rfft2(x) * 2, s=x.shape[-2:]), (2, 6, 7)),
    "hfft": (lambda x: fft.hfft(pairs(x)), (3, 5, 2)),
    "shifted": (lambda x: fft.fftshift(fft.fft(x)).abs(), (2, 8)),
    "stft": (lambda x: spectrum(x).abs(), (2, 80)),
    "stft, not centered": (lambda x: real(spectrum(x, center=False, hop_length=5, normalized=True)), (2, 80)),
    "stft and back": (lambda x: torch.istft(spectrum(x), 16, window=torch.hann_window(16, device=x.device, dtype=x.dtype)), (2, 80)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))])
@pytest.mark.parametrize("form", ["exported", "decomposed"])
def test_transforms(name, dtype, device, form):
    function, shape = FUNCTIONS[name]
    x = torch.randn(shape, device=device, dtype=dtype)
    exported = torch.export.export(Function(function), (x,), strict=False)
    got = luminal.compile(exported if form == "exported" else exported.run_decompositions())(x)
    exact = function(x.double())
    assert got.shape == exact.shape and got.dtype == dtype
    assert (got - exact).abs().max() <= 8 * torch.finfo(dtype).eps * exact.abs().max()


class Mixed(nn.Module):
    """A layer of FNet."""

    def __init__(self, width=32):
        super().__init__()
        self.norm, self.mlp = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        return self.mlp(self.norm(x + fft.fft(fft.fft(x, dim=-1), dim=-2).real))


class FrontEnd(nn.Module):
    """The front end of a speech model: the logarithm of a waveform's mel spectrum."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.mel = nn.Linear(9, 5, bias=False)

    def forward(self, wave):
        power = torch.stft(wave, 16, 5, window=self.window, center=False, return_complex=True).abs().pow(2)
        return self.mel(power.mT).clamp(min=1e-5).log10()


class Operator(nn.Module):
    """A layer of a Fourier neural operator."""

    def __init__(self, width=4):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width, 3, 3, dtype=torch.cfloat))

    def forward(self, x):
        low = torch.einsum("bixy,ioxy->boxy", fft.rfft2(x)[..., :3, :3], self.weight)
        return fft.irfft2(low, s=x.shape[-2:])


@pytest.mark.parametrize("model, x, dims", [(FrontEnd(), torch.randn(2, 80), {1: torch.export.Dim("t", min=32, max=4096)}),
                                            (Operator(), torch.randn(2, 4, 8, 10), {0: torch.export.Dim("b", max=64)})])
def test_archives_as_torch_saves_them(model, x, dims, tmp_path):
    model = model.eval().requires_grad_(False)
    exported = torch.export.export(model, (x,), dynamic_shapes=(dims,))
    torch.export.save(exported, tmp_path / "model.pt2")
    compiled = luminal.compile(tmp_path / "model.pt2")
    for other in (x, torch.cat([x, x], next(iter(dims)))):
        helpers.same(compiled(other), model(other))


def test_waves_are_prepared_beside_weights():
    model, x = nn.Sequential(*(Mixed() for _ in range(3))).eval(), torch.randn(2, 12, 32)
    compiled = luminal.compile(model, (x,))
    helpers.same(compiled(x), model(x))
    before = len(compiled.profile().steps)
    assert before < len(luminal.compile(model, (x,), prepare=False).profile().steps)


def compare(function, x):
    """Compares with float64, within the error bound of eager's own algorithms."""
    got, exact = luminal.compile(function, (x,))(x), function(x.double())
    assert got.shape == exact.shape and got.dtype == x.dtype
    assert (got - exact).abs().max() <= 8 * torch.finfo(x.dtype).eps * exact.abs().max()


# Numbers of points that are products of small numbers, odd, multiples of a large prime, and primes; small and large.
@pytest.mark.parametrize("points", [60, 128, 225, 400, 1000, 1018, 1021, 2048, 3 * 1021, 4093])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["rfft", "fft", "ifft", "irfft"])
def test_many_points(name, points, dtype):
    if name == "rfft":
        compare(lambda x: real(fft.rfft(x)), torch.randn(3, points, dtype=dtype))
    elif name == "irfft":
        compare(lambda x: fft.irfft(pairs(x), n=points), torch.randn(3, points // 2 + 1, 2, dtype=dtype))
    else:
        compare(lambda x: real(getattr(fft, name)(pairs(x), norm="ortho")), torch.randn(3, points, 2, dtype=dtype))


@pytest.mark.parametrize("points", [256, 1021, 4093])
@pytest.mark.parametrize("dim", [0, 1])
def test_many_points_of_other_dims(points, dim):
    shape = [3, 5, 7]
    shape[dim] = points
    x = torch.randn(shape)
    compare(lambda x: fft.irfft(fft.rfft(x, dim=dim) * 2, n=points + 2, dim=dim), x)
    compare(lambda x: real(fft.ifft(fft.fft(x, dim=dim) * 2, n=points, dim=dim)), x)


def test_many_points_of_many_dims():
    compare(lambda x: real(fft.rfftn(x)), torch.randn(36, 128, 96))
    compare(lambda x: fft.irfft2(pairs(x)), torch.randn(2, 128, 65, 2))


def test_many_points_for_any_batch():
    function = lambda x: (real(fft.rfft(x)), fft.irfft(fft.rfft(x, dim=1), dim=1))  # noqa: E731
    x = torch.randn(3, 128, 160)
    compiled = luminal.compile(function, (x,), dynamic_shapes=({0: torch.export.Dim("b", max=64)},))
    for batch in (1, 3, 20):
        x = torch.randn(batch, 128, 160)
        for got, exact in zip(compiled(x), function(x.double())):
            assert (got - exact).abs().max() <= 8 * torch.finfo(torch.float32).eps * exact.abs().max()


@pytest.mark.parametrize("points", [400, 2048])
@torch.no_grad()
def test_gradients(points):
    def loss(x):
        power = real(fft.rfft(x)).square().sum(-1) * weights
        return power.sum() + fft.irfft(fft.fft(x)[..., : points // 2 + 1]).pow(3).sum()

    weights, x = torch.rand(points // 2 + 1), torch.randn(2, points)
    exact = torch.func.grad(loss)(x)
    torch.testing.assert_close(helpers.compile(torch.func.grad(loss))(x), exact, rtol=1e-4, atol=1e-6 * exact.abs().max().item())


def test_complex_fills():
    def function(x):
        low = torch.zeros(2, 9, dtype=torch.cfloat)
        low[:, 1:4] = fft.rfft(x)[:, :3] * torch.full((3,), 2.5, dtype=torch.cfloat)
        return fft.irfft(low)

    helpers.same(luminal.compile(function, (torch.ones(2, 16),))(x := torch.randn(2, 16)), function(x))


@pytest.mark.parametrize("points, most", [(2048, 320), (65536, 1200)])
def test_factors_take_the_multiplications_of_factors(points, most):
    x = torch.randn(2, points)
    compiled = luminal.compile(lambda x: real(fft.rfft(x)), (x,))
    compiled(x)
    assert sum(step.flops for step in compiled.profile().steps) <= 2 * most * x.numel()


def test_long_ones_are_refused():
    with pytest.raises(luminal.UnsupportedOpError, match="transforms 4194305 points, expected a known number up to 4194304"):
        luminal.compile(lambda x: fft.rfft(x).abs(), (torch.randn(1, 4194305),))


def test_unknown_lengths_are_refused():
    x = torch.randn(2, 8)
    with pytest.raises(luminal.UnsupportedOpError, match="an unknown number of points"):
        luminal.compile(lambda x: fft.rfft(x).abs(), (x,), dynamic_shapes=({1: torch.export.Dim("n", min=4, max=64)},))


@pytest.mark.parametrize("function, shape, text", [
    (lambda x: fft.fft(x, norm="half").real, (2, 8), "Invalid normalization mode"),
])
def test_what_is_refused_says_why(function, shape, text):
    with pytest.raises(luminal.LuminalError, match=text):
        luminal.compile(function, (torch.randn(shape),))


def test_a_spectrum_of_unknown_length_is_refused():
    shapes = ({1: torch.export.Dim("n", min=4, max=64)},)
    with pytest.raises(luminal.UnsupportedOpError, match="an unknown number of points"):
        luminal.compile(lambda x: fft.irfft(pairs(x)), (torch.randn(2, 8, 2),), dynamic_shapes=shapes)
