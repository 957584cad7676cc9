# ===- test_sampler.py - A sampler as one artifact --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repetition penalty, temperature, top-k, top-p and a draw by a given number, over a vocabulary of 128,256, compared with
the processors of transformers."""
import pathlib
import sys

import pytest
import torch

import luminal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "utils/bench"))

import order_bench

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]


def expected(transformers, seen, logits, number, penalty, temperature, top_k, top_p):
    """Draws from all tokens that transformers keeps, the most likely first."""
    for process in (transformers.RepetitionPenaltyLogitsProcessor(penalty), transformers.TemperatureLogitsWarper(temperature),
                    transformers.TopKLogitsWarper(top_k), transformers.TopPLogitsWarper(top_p)):
        logits = process(seen, logits)
    shares, tokens = torch.softmax(logits, -1).sort(dim=-1, descending=True, stable=True)
    return tokens.gather(1, (shares.cumsum(-1) <= number).sum(-1, keepdim=True))


@pytest.mark.parametrize("device", DEVICES)
def test_draws_as_transformers_would(device):
    transformers = pytest.importorskip("transformers")
    vocabulary, how = 128_256, dict(penalty=1.3, temperature=0.7, top_k=50, top_p=0.8)
    torch.manual_seed(0)
    seen = torch.randint(0, vocabulary, (2, 40), device=device)
    logits = [3 * torch.randn(2, vocabulary, device=device) for _ in range(4)]
    # Without the penalty, the tokens seen would be likely.
    logits = [x.scatter(1, seen[:, :20], 9 + torch.rand(2, 20, device=device)) for x in logits]

    def sample(seen, logits, number):
        return order_bench.sample(seen, logits, number, **how)

    compiled = luminal.compile(sample, (seen, logits[0], torch.zeros(2, 1, device=device)))
    drawn = set()
    for x in logits:
        for number in torch.rand(12, 2, 1, device=device):
            token = compiled(seen, x, number)
            assert torch.equal(token, expected(transformers, seen, x, number, **how))
            drawn.update(token.flatten().tolist())
    assert len(drawn) > 20
    # No element is compared with all others, and no row is sorted completely.
    assert {kernel.kind for kernel in compiled.report.kernels} & {"argsort", "sort_runs"}
