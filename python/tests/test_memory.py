# ===- test_memory.py - Writes, views, aliases, replaced weights ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import helpers
import pytest
import torch
from torch import nn


def check_writes(function, *inputs):
    """Compares results and inputs after each of two calls."""
    compiled = helpers.compile(function)
    for _ in range(2):
        ours, theirs = [x.clone() for x in inputs], [x.clone() for x in inputs]
        helpers.same(compiled(*ours), function(*theirs))
        helpers.same(ours, theirs)


def test_inputs_written_in_place():
    def function(x, y):
        x.add_(y)
        y[:, 1:] = x[:, :-1] * 2
        return x.sum(), y

    check_writes(function, torch.randn(3, 4), torch.randn(3, 4))


def test_a_view_that_is_written():
    def function(x):
        x.view(-1)[::3].mul_(2)
        return x + 1

    check_writes(function, torch.randn(3, 4))


def test_strided_input_that_is_written():
    def function(x):
        x.mul_(3)
        return x + 1

    ours, theirs = (torch.arange(24.0).reshape(4, 6) for _ in range(2))
    helpers.same(helpers.compile(function)(ours.t()[::2]), function(theirs.t()[::2]))
    assert torch.equal(ours, theirs)


def test_overlapping_inputs():
    def function(x, y):
        x.add_(1)
        return x * y

    ours, theirs = torch.arange(10.0), torch.arange(10.0)
    compiled = helpers.compile(function)
    helpers.same(compiled(ours[:8], ours[2:]), function(theirs[:8], theirs[2:]))
    helpers.same(compiled(ours, ours), function(theirs, theirs))
    assert torch.equal(ours, theirs)


def test_expanded_input():
    x = torch.randn(1, 4).expand(3, 4)
    helpers.same(helpers.compile(lambda x: x + 1)(x), x + 1)


def test_misaligned_input():
    x = torch.randn(17)[1:]
    helpers.same(helpers.compile(lambda x: x * 2)(x), x * 2)


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0)])
def test_without_elements(shape):
    def function(x):
        return x + 1, x.sum(-1), torch.cat([x, x])

    x = torch.randn(shape)
    helpers.same(helpers.compile(function)(x), function(x))


def test_scalar():
    x = torch.tensor(3.0)
    helpers.same(helpers.compile(lambda x: x * x)(x), x * x)


def test_outputs_that_alias_inputs():
    def function(x):
        return x, x.view(-1), x.t(), x + 1

    x = torch.randn(3, 4)
    same, flat, turned, _ = helpers.compile(function)(x)
    assert same is x and flat.data_ptr() == x.data_ptr() and turned.data_ptr() == x.data_ptr()


def test_outputs_that_alias_each_other():
    def function(x):
        y = (x + 1).t()
        first, rest = y.split([1, x.shape[1] - 1])
        return y, y.unsqueeze(0), first, rest, x * 2, y

    compiled = helpers.compile(function)
    for x in (torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 6)):
        got, expected = compiled(x), function(x)
        for results in (got, expected):
            results[0].mul_(3)
            results[3][0].zero_()
        helpers.same(got, expected)
        assert [t.data_ptr() - got[0].data_ptr() for t in got if t is not got[4]] == [
            t.data_ptr() - expected[0].data_ptr() for t in expected if t is not expected[4]]


def test_strides_are_those_of_eager():
    def function(x):
        return x.t() * 2, (x + 1).permute(1, 0), x.unsqueeze(0).transpose(0, 2) + 1

    for x in (torch.randn(3, 4), torch.randn(5, 4)):
        helpers.same(helpers.compile(function)(x), function(x))


def test_constants_small_and_large():
    small, large = torch.randn(4), torch.randn(1000, 4)

    def function(x):
        return x + small + torch.tensor([1.0, 2.0, 3.0, 4.0]), x @ large.t()

    compiled, x = helpers.compile(function), torch.randn(3, 4)
    helpers.same(compiled(x), function(x))
    large.mul_(2)
    small.add_(1)
    helpers.same(compiled(x), function(x))


def test_weights_that_change():
    module = nn.Linear(4, 4)
    compiled, x = helpers.compile(module), torch.randn(2, 4)
    with torch.no_grad():
        def step():
            helpers.same(compiled(x), module(x))

        step()
        module.weight.mul_(2)
        step()
        module.weight.data = torch.randn(4, 4)
        step()
        module.weight.data.numpy()[:] = 1
        step()
        module.load_state_dict({"weight": torch.randn(4, 4), "bias": torch.randn(4)}, assign=True)
        step()
        module.weight.data = torch.randn(4, 4).t()
        step()


def test_buffers_that_change():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))
            self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

        def forward(self, x):
            self.seen.mul_(0.5).add_(x.sum(0))
            self.calls += 1
            return x * self.seen / self.calls

    ours, theirs = Counter(), Counter()
    compiled = helpers.compile(ours)
    for n in (2, 3, 4):
        x = torch.randn(n, 4)
        helpers.same(compiled(x), theirs(x))
    helpers.same(dict(ours.state_dict()), dict(theirs.state_dict()))


def test_a_write_is_a_new_version():
    x = torch.ones(3)
    before = x._version
    helpers.compile(lambda x: x.add_(1))(x)
    assert x._version > before


def test_sizes_and_other_values():
    def function(x, n, flag=None):
        return x[:, :n] * n, x.shape[0] * 2, n + 1, flag, {"a": (x.shape[0], "text")}

    compiled, x = helpers.compile(function), torch.randn(4, 9)
    for n in (3, 4, 5, 6):
        helpers.same(compiled(x, n), function(x, n))
    y = torch.randn(7, 9)
    helpers.same(compiled(y, 2, flag=True), function(y, 2, flag=True))


def test_graph_breaks():
    def function(x):
        y = x.sin() + 1
        if y.sum() > 0:
            y = y * 2
        print(end="")
        return y.cos()

    compiled = helpers.compile(function)
    for x in (torch.ones(3), -3 * torch.ones(3)):
        helpers.same(compiled(x), function(x))
