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
def test_transforms(name, dtype, device):
    function, shape = FUNCTIONS[name]
    x = torch.randn(shape, device=device, dtype=dtype)
    got = luminal.compile(function, (x,))(x)
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


def test_waves_are_prepared_beside_weights():
    model, x = nn.Sequential(*(Mixed() for _ in range(3))).eval(), torch.randn(2, 12, 32)
    compiled = luminal.compile(model, (x,))
    helpers.same(compiled(x), model(x))
    before = len(compiled.profile().steps)
    assert before < len(luminal.compile(model, (x,), prepare=False).profile().steps)


def test_long_ones_are_refused():
    def function(x):
        return fft.rfft(x).abs()

    luminal.compile(function, (torch.randn(1, 4096),))
    with pytest.raises(luminal.UnsupportedOpError, match="transforms 4097 points, expected a known number up to 4096"):
        luminal.compile(function, (torch.randn(1, 4097),))


def test_unknown_lengths_are_refused():
    x = torch.randn(2, 8)
    with pytest.raises(luminal.UnsupportedOpError, match="an unknown number of points"):
        luminal.compile(lambda x: fft.rfft(x).abs(), (x,), dynamic_shapes=({1: torch.export.Dim("n", min=4, max=64)},))
