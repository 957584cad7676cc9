# ===- test_masks.py - What attention leaves out where a mask hides it ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mask that is computed from positions, such as a window, is added to the scores. Masked keys may be skipped only where
that gives the same result: a number plus -inf is -inf, but NaN and +inf give NaN."""
import pytest
import torch
import torch.nn.functional as F

import luminal

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]
WINDOW, WIDTH = 96, 64


def attend(q, k, v):
    place = torch.arange(q.shape[-2], device=q.device)
    ahead = place[:, None] - place
    return F.scaled_dot_product_attention(q, k, v, attn_mask=(ahead >= 0) & (ahead < WINDOW))


def expected(q, k, v):
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return attend(q.float(), k.float(), v.float())


def change(tensors, which, key, value):
    tensors = [tensor.clone() for tensor in tensors]
    if which is not None:
        tensors[which][0, -1, key, 3] = value
    return tensors


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(2, 2, 2048), (8, 8, 512)], ids=["few", "many"])
def test_window(shape, device, dtype):
    """For few texts and heads, a GPU splits the keys (split-kv); for many, blocks of rows read what other blocks skip."""
    def values():
        return torch.randn(*shape, WIDTH, generator=generator).to(device, dtype)

    generator = torch.Generator().manual_seed(0)
    tensors = [values() for _ in range(3)]
    call = luminal.compile(attend, tuple(tensors))
    rtol = 1e-3 if dtype == torch.float32 else 2e-2
    large = min(1e25, torch.finfo(dtype).max)  # Its square overflows, except in f16.
    # Change keys and values, including the last one, which few rows see, and one that no row of the first blocks sees.
    for which, key, value in [(None, 0, 0.0), (1, 200, float("nan")), (1, shape[-1] - 1, float("inf")), (1, 300, -float("inf")),
                              (2, 200, float("nan")), (2, shape[-1] - 1, float("inf")), (1, 200, large), (0, 200, large)]:
        changed = change(tensors, which, key, value)
        if which in (0, 1) and value == large:
            # Only the scores of a few rows overflow, some of them masked.
            other = changed[1 - which]
            other[0, 1, 40, 3] = other[0, 1, 450, 3] = large
        want = expected(*changed)
        got = call(*changed).float()
        torch.testing.assert_close(got, want, rtol=rtol, atol=rtol, equal_nan=True, msg=lambda text: f"{which}, {key}, {value}: {text}")


@pytest.mark.parametrize("function", [torch.floor, lambda x: x.clamp(max=30.0), lambda x: torch.log(torch.sigmoid(x))],
                         ids=["floor", "clamp", "log of sigmoid"])
@pytest.mark.parametrize("device", DEVICES)
def test_functions_of_masked_scores(function, device):
    """Functions that map only -inf to zero allow masked keys to be skipped."""
    def attend(q, k, v):
        place = torch.arange(q.shape[-2], device=q.device)
        scores = torch.where(place[:, None] >= place, q @ k.mT, float("-inf"))
        return torch.softmax(function(scores), -1) @ v

    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(2, 2, 512, WIDTH, generator=generator).to(device) / 4 for _ in range(3)]
    call = luminal.compile(attend, tuple(tensors))
    for which, key, value in [(None, 0, 0.0), (1, 200, float("nan")), (2, 511, float("inf")), (1, 300, -float("inf"))]:
        changed = change(tensors, which, key, value)
        torch.testing.assert_close(call(*changed), attend(*changed), rtol=1e-3, atol=1e-3, equal_nan=True)


@pytest.mark.parametrize("function", [torch.sigmoid, lambda x: torch.relu(x).square(), lambda x: x.exp()],
                         ids=["sigmoid", "squared relu", "exp"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape, keys", [((2, 2, 1536), 1536), ((1, 1, 80), 4000)], ids=["many", "few"])
def test_attention_without_a_softmax(function, dtype, device, shape, keys):
    """Both products iterate over the keys together, and masked keys are skipped; masked non-finite values count. For few
    queries, the keys are split (split-kv)."""
    def attend(q, k, v):
        key, query = torch.arange(keys, device=q.device), torch.arange(keys - q.shape[-2], keys, device=q.device)
        scores = torch.where(query[:, None] >= key, q @ k.mT, float("-inf"))
        return function(scores) @ v

    generator = torch.Generator().manual_seed(0)
    tensors = [(torch.randn(*shape[:-1], n, WIDTH, generator=generator) / 4).to(device, dtype) for n in (shape[-1], keys, keys)]
    call = luminal.compile(attend, tuple(tensors))
    for which, key, value in [(None, 0, 0.0), (1, 200, float("nan")), (2, keys - 1, float("inf")), (1, 300, -float("inf"))]:
        changed = change(tensors, which, key, value)
        torch.testing.assert_close(call(*changed), attend(*changed), rtol=1e-3, atol=1e-3, equal_nan=True)


@pytest.mark.parametrize("device", DEVICES)
def test_a_mask_that_is_multiplied(device):
    """A multiplied mask, as in sequential recommenders: only finite numbers times 0 are 0."""
    def attend(q, k, v):
        place = torch.arange(q.shape[-2], device=q.device)
        return (F.silu(q @ k.mT) * (place[:, None] >= place) / q.shape[-2]) @ v

    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(2, 2, 1536, WIDTH, generator=generator).to(device) / 4 for _ in range(3)]
    call = luminal.compile(attend, tuple(tensors))
    for which, key, value in [(None, 0, 0.0), (1, 200, float("nan")), (2, 1535, float("inf")), (1, 300, -float("inf")),
                              (1, 1200, 1e25), (0, 200, 1e25)]:
        changed = change(tensors, which, key, value)
        if value == 1e25:
            changed[1 - which][0, 1, 450, 3] = 1e25
        torch.testing.assert_close(call(*changed), attend(*changed), rtol=1e-3, atol=1e-3, equal_nan=True,
                                   msg=lambda text: f"{which}, {key}, {value}: {text}")
