# ===- aten_signal_cases.py - Programs of spectra and windows ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A theme for aten_cases.py. An archive that is not decomposed holds torch.fft's functions, stft and istft themselves."""
import torch

from aten_inputs import bools, each, f16, f64, ints, rand

fft = torch.fft
SIGNALS, IMAGES, PAIRS = rand(2, 40), rand(3, 6, 5), rand(3, 5, 4, 2)
HANN = torch.hann_window(12, dtype=f64).float()


def real(x):
    return torch.view_as_real(x.resolve_conj())


def pairs(x):
    return torch.view_as_complex(x)


def of_reals(name, **options):
    return lambda x: real(getattr(fft, name)(x, **options))


def of_pairs(name, **options):
    wrap = (lambda x: x) if name.startswith(("irfft", "hfft")) else real
    return lambda x: wrap(getattr(fft, name)(pairs(x), **options))


def spectrum(x, w=None, n=12, **options):
    return torch.stft(x, n, window=w, return_complex=True, **options)


def variants(make, names):
    """Each function in each norm, with sizes and dims of its own."""
    functions = []
    for name in names:
        is_many = name[-1] in "2n"
        functions += [make(name), make(name, norm="ortho"), make(name, norm="forward", dim=(0, -2) if is_many else 0)]
        functions += [make(name, **({"s": (4, 7)} if is_many else {"n": n})) for n in ((4,) if is_many else (3, 8))]
    return each(functions)


FROM_REALS = ("fft", "ifft", "rfft", "ihfft", "fft2", "ifft2", "rfft2", "ihfft2", "fftn", "ifftn", "rfftn", "ihfftn")
FROM_PAIRS = ("fft", "ifft", "irfft", "hfft", "fft2", "ifft2", "irfft2", "hfft2", "fftn", "ifftn", "irfftn", "hfftn")
SIGNAL = [
    ("transforms-of-reals", variants(of_reals, FROM_REALS), [IMAGES]),
    ("transforms-of-pairs", variants(of_pairs, FROM_PAIRS), [PAIRS]),
    ("transforms-f64", lambda x, y: (of_reals("rfft")(x), of_pairs("irfft", n=9)(y)), [IMAGES.double(), PAIRS.double()]),
    ("transforms-of-integers", lambda x, y: (of_reals("rfft")(x), of_reals("ifft")(y), fft.irfft(x)), [ints(2, 6), bools(7)]),
    ("transforms-of-one", lambda x: (of_reals("fft", n=1)(x), of_reals("fftn", s=(-1, 1), dim=(0, 1))(x), fft.irfft(x, n=1)), [rand(2, 3)]),
    ("transforms-batch", lambda x: fft.irfft2(fft.rfft2(x) * 2, s=x.shape[-2:]), [rand(2, 4, 5)], ({0: "b"},)),
    ("shifts", lambda x, y: (fft.fftshift(x), fft.ifftshift(x), fft.fftshift(x, 1), fft.ifftshift(x, (-1, 0)), real(fft.fftshift(pairs(y)))),
     [rand(5, 8), PAIRS]),
    ("shifts-dynamic", lambda x: (fft.fftshift(x), fft.ifftshift(x, -1)), [rand(3, 4)], ({0: "n", 1: "m"},)),
    ("frequencies", lambda x: tuple(x * f(n, d) for f in (fft.fftfreq, fft.rfftfreq) for n, d in ((1, 1.0), (2, 0.3), (7, 2), (8, 1 / 3))),
     [rand(1)]),
    ("frequencies-types", lambda x: (fft.fftfreq(9, dtype=f64) + x, fft.rfftfreq(9, dtype=f16) + x), [rand(1, dtype=f16)]),
    ("bartlett", lambda x: tuple(x * torch.bartlett_window(n, periodic=p) for n in (0, 1, 2, 7, 8) for p in (True, False)), [rand(1)]),
    ("stft", lambda x, w: (real(spectrum(x, w)), spectrum(x[0], w).abs(), real(spectrum(x, w, onesided=False, hop_length=5)),
                           real(spectrum(x, w, center=False, normalized=True)), real(spectrum(x, w, n=15, win_length=12, pad_mode="constant")),
                           torch.ops.aten.stft.center(x, 12, 4, None, w, True, "replicate", False, None, False)), [SIGNALS, HANN]),
    ("stft-no-window", lambda x: (real(spectrum(x, n=9)), real(spectrum(x, n=10, win_length=7))), [SIGNALS]),
    ("stft-aligned", lambda x: tuple(real(spectrum(x, n=n, win_length=9, center=False, align_to_window=True)) for n in (9, 13, 14)), [SIGNALS]),
    ("stft-of-pairs", lambda x, w: real(torch.stft(pairs(x), 12, window=w, return_complex=True)), [rand(2, 40, 2), HANN]),
    ("istft", lambda x, w: (torch.istft(spectrum(x, w), 12, window=w), torch.istft(spectrum(x[0], w) * 2, 12, window=w),
                            torch.istft(spectrum(x, w), 12, window=w, length=30), torch.istft(spectrum(x, w), 12, window=w, length=50),
                            torch.istft(spectrum(x, w, n=16, win_length=12), 16, win_length=12, window=w),
                            torch.istft(spectrum(x, w, onesided=False, normalized=True), 12, window=w, onesided=False, normalized=True)),
     [SIGNALS, HANN]),
    ("istft-no-window", lambda x: (torch.istft(spectrum(x, n=10, center=False), 10, center=False),
                                   torch.istft(spectrum(x, n=10, win_length=8), 10, win_length=8)), [SIGNALS]),
    # Decomposed, PyTorch adds into complex zeros.
    ("istft-of-pairs-exported", lambda x: real(torch.istft(torch.stft(pairs(x), 12, return_complex=True), 12, onesided=False, return_complex=True)),
     [rand(2, 40, 2)]),
    ("windows-summed", each([lambda x: torch.ops.aten.unfold_backward(x, [7, 2], 0, 3, 2), lambda x: torch.ops.aten.unfold_backward(x, [8, 2], 0, 3, 2),
                             lambda x: torch.ops.aten.unfold_backward(x[:, :, None], [3, 2, 3], -1, 3, 4),
                             lambda x: torch.ops.aten.unfold_backward(x.half(), [12, 2], 0, 3, 4)]), [rand(3, 2, 3)]),
    # Parts of complex numbers beside real ones.
    ("pairs-and-reals", lambda x, y: (real(torch.cat([pairs(x), y])), real(torch.stack([y, pairs(x)])), real(torch.where(y > 0, y, pairs(x))),
                                      real(torch.complex(y, y[0])), real(torch.nn.functional.pad(pairs(x), (1, -1)))), [rand(3, 4, 2), rand(3, 4)]),
    ("pairs-einsum", lambda x: (real(torch.einsum("ij,kj->ik", pairs(x), pairs(x).conj())), real(torch.einsum("ij->ji", pairs(x))),
                                real(torch.einsum("ij,kj,kl,ml->im", *[pairs(x)] * 4))), [rand(3, 4, 2)]),
]
