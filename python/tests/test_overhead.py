# ===- test_overhead.py - What a call costs, and addresses read in C ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

import helpers
import luminal._objects
import pytest
import torch
from conftest import ROOT
from luminal import _versions
from test_threads import run_threads
from torch import nn

sys.path.insert(0, str(ROOT / "utils"))

import call_overhead

# Of a call of AOTAutograd's wrapper around nothing. utils/call_overhead.py shows at most 0.3 on a quiet machine; to ask
# each of 64 tensors in Python took 0.6.
LIMIT = 0.5


@pytest.mark.skipif(not _versions.GUARDS_WEIGHTS, reason="this version of torch guards no weights: each is checked")
@pytest.mark.parametrize("count", [2, 16, 64])
def test_overhead(count):
    """A machine with other work to do gets three tries."""
    added = []
    while len(added) < 3 and (not added or added[-1] > LIMIT):
        times = call_overhead.measure(count, rounds=8, seconds=0.5)
        added.append(times["luminal"] / times["wrapper"] - 1)
    assert min(added) <= LIMIT, added


def step(compiled, module, x):
    with torch.no_grad():
        helpers.same(compiled(x), module(x))


def test_addresses_are_read_at_each_call():
    """Tensors of all kinds of owners, whose memory is replaced or freed between calls."""
    module = call_overhead.Sum(16)
    compiled = helpers.compile(module)
    for i in range(50):
        weight = module.weights[i % 16]
        if i % 3 == 0:
            weight.data = torch.rand(4)
        elif i % 3 == 1:
            module.weights[i % 16] = nn.Parameter(torch.rand(4))
        else:
            with torch.no_grad():
                weight.mul_(1.5)
        step(compiled, module, torch.rand(5)[1:])


def test_without_a_reader(monkeypatch):
    """Another version of PyTorch may keep tensors in another way: then Python asks for addresses."""
    assert luminal._objects.reader() is not None
    monkeypatch.setattr(luminal._objects, "reader", lambda: None)
    test_addresses_are_read_at_each_call()


def test_only_dynamic_extents_are_looked_at():
    module = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 3))
    compiled = helpers.compile(module, dynamic=True)
    for rows in (2, 3, 2, 7):
        step(compiled, module, torch.randn(rows, 8))


def test_weights_replaced_while_threads_call():
    """A call reads the old tensor or the new one, and neither is freed under it."""
    module = nn.Linear(64, 64, bias=False)
    compiled, x = helpers.compile(module), torch.ones(1, 64)
    with torch.no_grad():
        module.weight.data = torch.zeros(64, 64)
        compiled(x)
    done, kept = [], []

    def work(index):
        with torch.no_grad():
            if index == 0:
                for i in range(300):
                    # PyTorch's tensors are the caller's: who frees one that another thread uses breaks eager calls too.
                    kept.append(module.weight.data)
                    module.weight.data = torch.full((64, 64), float(i % 7))
                done.append(True)
            while index and not done:
                result = compiled(x)
                assert result.eq(result[0, 0]).all() and float(result[0, 0]) / 64 in range(7)

    run_threads(work, 4)
