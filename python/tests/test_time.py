# ===- test_time.py - Loops over time that are written out trip by trip ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading a trip's input and adding to outputs costs no launch, and all trips share the same kernels."""
import re

import pytest
import torch
from torch import nn

import luminal

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]


@pytest.fixture(autouse=True)
def exact_peers():
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        yield


def check(model, *args, rtol=1e-4, atol=1e-5, **options):
    with torch.no_grad():
        compiled = luminal.compile(model, args, **options)
        for _ in range(2):
            got, want = (torch.utils._pytree.tree_leaves(f(*args)) for f in (compiled, model))
            for a, b in zip(got, want, strict=True):
                # For an LSTM on a GPU, PyTorch 2.11 records an additional dim of 1 in the last states.
                torch.testing.assert_close(a.reshape(b.shape), b, rtol=rtol, atol=atol)
    return compiled


def kinds(compiled):
    """Number of different kernels, comparing their texts without the names of values."""
    text = re.sub(r"%[\w:#]+", "%", compiled.ir("fused"))
    return len(set(re.findall(r"llir\.kernel\(.*?\n    }", text, re.S)))


class Steps(nn.Module):
    def __init__(self, size=16, state=32):
        super().__init__()
        self.into = nn.Linear(size, state)
        self.again = nn.Linear(state, state)

    def forward(self, x):
        state, states = torch.zeros(x.shape[1], self.again.in_features, device=x.device, dtype=x.dtype), []
        for row in x:
            state = torch.tanh(self.into(row) + self.again(state))
            states.append(state)
        return torch.stack(states)


class StepsAndLast(Steps):
    """The last state is a separate result, copied from the stack of states."""

    def forward(self, x):
        states = super().forward(x)
        return states, states[-1], states[2:7].sum(0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("model", [Steps, StepsAndLast])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_network_with_a_state(device, model, dtype):
    torch.manual_seed(0)
    tolerance = {torch.float32: (1e-4, 1e-5), torch.bfloat16: (5e-2, 5e-2)}[dtype]
    network = model().to(device, dtype)
    x = torch.randn(24, 4, 16, device=device, dtype=dtype)
    compiled = check(network, x, rtol=tolerance[0], atol=tolerance[1])
    assert "llir.concat" in compiled.ir("fused") and "llir.alias" in compiled.ir("fused")
    assert kinds(compiled) < 10


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("layers, both", [(1, False), (2, False), (1, True)])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers(device, kind, layers, both):
    torch.manual_seed(0)
    network = kind(16, 32, num_layers=layers, bidirectional=both).to(device)
    check(network, torch.randn(12, 4, 16, device=device))


@pytest.mark.parametrize("device", DEVICES)
def test_the_batch_may_change(device):
    torch.manual_seed(0)
    network = Steps().to(device)
    x = torch.randn(9, 6, 16, device=device)
    with torch.no_grad():
        compiled = luminal.compile(network, (x,), dynamic_shapes={"x": {1: torch.export.Dim("batch", max=40)}})
        assert "llir.concat" in compiled.ir("fused")
        for batch in (6, 2, 33):
            x = torch.randn(9, batch, 16, device=device)
            torch.testing.assert_close(compiled(x), network(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_parts_that_others_use(device):
    """Parts that are read twice, returned, updated or arguments, and rows that begin at a multiple of 12 bytes."""

    def joins(a, b, w, narrow):
        first, second = a @ w, b @ w
        row = torch.tensor([1], device=a.device)
        return (torch.cat([first, second, a]), torch.cat([second, first]), second,
                first.index_copy(0, row, b[:1]), torch.stack([narrow.exp(), (narrow @ w[:3, :3])]))

    make = lambda *size: torch.randn(size, device=device)
    check(joins, make(5, 16), make(9, 16), make(16, 16), make(3, 3))


@pytest.mark.parametrize("device", DEVICES)
def test_a_part_is_read_after_all_were_updated(device):
    def updates(a, b, w):
        first, second = a @ w, b @ w
        joined = torch.cat([first, second])
        updated = joined.index_copy(0, torch.tensor([1], device=a.device), b[:1])
        return joined.T @ joined, updated, (updated[:5].sin() @ w) + first

    make = lambda *size: torch.randn(size, device=device)
    check(updates, make(5, 16), make(9, 16), make(16, 16))


@pytest.mark.parametrize("device", DEVICES)
def test_slices_of_columns_and_rows(device):
    def slices(x, w):
        return [x[i] @ w for i in range(1, 4)] + [x[1:3].sum(0), x[:, 2] @ w, (x[3, 1:5] @ w).relu(), x[2:].softmax(-1)]

    make = lambda *size: torch.randn(size, device=device)
    check(slices, make(4, 8, 16), make(16, 16))
