# ===- test_states.py - Tensors that a program writes to -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""New values of buffers, which kernels write in place when nothing reads the old values any more."""
import copy
import random

import helpers
import luminal
import pytest
import torch
from torch import nn

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]
DTYPES = [torch.float32, torch.bfloat16, torch.int64]


class Program(nn.Module):
    """Writes to its buffers `a`, `b` and `c` as a function says."""

    def __init__(self, function, dtype=torch.float32, shape=(6, 40)):
        super().__init__()
        self.function = function
        generator = torch.Generator().manual_seed(1)
        for name in "abc":
            self.register_buffer(name, torch.randint(-3, 4, shape, generator=generator).to(dtype))

    def forward(self, x):
        return self.function(self, x)


def check(model, device, x, calls=3, view=lambda tensor: tensor):
    """Compares with eager mode call by call, through both entry points; luminal.compile returns row-major results."""
    for build in (helpers.compile, lambda module: luminal.compile(module, (x.to(device),))):
        torch._dynamo.reset()
        ours, theirs = copy.deepcopy(model).to(device), copy.deepcopy(model).to(device)
        for module in (ours, theirs):
            for name, buffer in [*module.named_buffers()]:
                setattr(module, name, view(buffer))
        with torch.no_grad():
            compiled = build(ours)
            for step in range(calls):
                value = (x + step).to(device)
                torch.testing.assert_close(compiled(value), theirs(value), rtol=1e-5, atol=1e-5)
                for (name, got), expected in zip(ours.named_buffers(), theirs.buffers()):
                    torch.testing.assert_close(got, expected, msg=lambda text, name=name: f"call {step}, {name}: {text}")


def old_and_new(m, x):
    old = m.a.clone()
    m.a.add_(x)
    return old - 1, m.a * 2


def exchange(m, x):
    a = m.a.clone()
    m.a.copy_(m.b)
    m.b.copy_(a)
    return m.a + x


def turn_round(m, x):
    a, b = m.a.clone(), m.b.clone()
    m.a.copy_(b + x)
    m.b.copy_(m.c - x)
    m.c.copy_(a + b)
    return m.a + m.b


def turn(m, x):
    m.a.copy_(m.a.flip(0) + x)
    m.b.copy_(m.b.flip(1))
    return m.a.sum(0)


def of_rows(m, x):
    m.a.sub_(m.a.amax(1, keepdim=True))
    m.b.add_(m.b[:1].clone())
    return m.a + m.b


def of_another(m, x):
    m.a.copy_(m.b.amax(0).expand(6, 40) + x)
    m.b.copy_(m.a.amin(0).expand(6, 40) - x)
    return m.a.clone()


def read_after(m, x):
    m.a.copy_(x + 1)
    m.b.copy_(m.a + m.b)
    m.a.add_(m.b.amax())
    return m.b[1:]


def rows_of_each_other(m, x):
    at = torch.tensor([1, 4], device=x.device)
    a, b = m.a[at], m.b[at]
    m.a.index_copy_(0, at, b)
    m.b.index_copy_(0, at, a)
    return m.a + x


def moved_on(m, x):
    m.a.copy_(torch.cat([m.a[1:], x[:1]]))
    return m.a * 2


FUNCTIONS = [old_and_new, exchange, turn_round, turn, of_rows, of_another, read_after, rows_of_each_other, moved_on]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_values_of_each_call(function, dtype, device):
    check(Program(function, dtype), device, torch.arange(240).reshape(6, 40).remainder(7).to(dtype))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(8))
def test_random_writes(seed, device):
    """Statements that read any buffer at any point; their order determines which value is meant."""
    choose = random.Random(seed)
    reads = ["m.{}", "m.{}.flip(0)", "m.{}.flip(1)", "m.{}[:1]", "m.{}[2:3, 5:6]", "m.{}.amax(1, keepdim=True)", "m.{}.amin()", "x"]
    lines, kept = [], []
    for number in range(choose.randint(3, 7)):
        terms = " + ".join(choose.choice(reads).format(choose.choice("abc")) for _ in range(choose.randint(1, 3)))
        if choose.random() < 0.3:
            lines.append(f"  kept{number} = ({terms}) + 0 * x")
            kept.append(f"kept{number}")
        else:
            lines.append(f"  m.{choose.choice('abc')}.copy_((({terms}) + 0 * x).remainder(11))")
    space = {}
    exec("\n".join(["def function(m, x):", *lines, f"  return {', '.join([*kept, 'm.a + m.b - m.c'])},"]), space)
    check(Program(space["function"], torch.int64), device, torch.arange(240).reshape(6, 40).remainder(7))


VIEWS = {
    "part": lambda t: torch.cat([t, t])[:6].view_as(t),
    "not aligned": lambda t: torch.cat([t.reshape(-1)[:1], t.reshape(-1)])[1:].view(t.shape),
    "strided": lambda t: torch.stack([t, t], -1)[..., 0],
    "turned": lambda t: t.t().contiguous().t(),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [old_and_new, turn_round, of_rows], ids=lambda function: function.__name__)
def test_wherever_a_state_lies(function, view, device):
    check(Program(function), device, torch.rand(6, 40), view=VIEWS[view])


@pytest.mark.parametrize("device", DEVICES)
def test_states_of_one_storage(device):
    """Two buffers that are parts of one tensor, and a buffer that is also passed as an input."""
    def function(m, x):
        a = m.a.clone()
        m.a.add_(m.b)
        m.b.sub_(a)
        return m.a * x

    def build(module):
        module = copy.deepcopy(module).to(device)
        both = torch.stack([module.a, module.b])
        module.a, module.b = both[0], both[1]
        return module, both

    module, x = Program(function), torch.rand(6, 40, device=device)
    (ours, of_ours), (theirs, of_theirs) = build(module), build(module)
    compiled = helpers.compile(ours)
    with torch.no_grad():
        for _ in range(3):
            helpers.same(compiled(x), theirs(x))
            helpers.same(of_ours, of_theirs)
        helpers.same(compiled(ours.a), theirs(theirs.a))
        helpers.same(of_ours, of_theirs)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [1, 20])
def test_an_optimizer_of_elements(count, device):
    """Steps of Adam, which update all moments and parameters in each call; sizes are not multiples of a vector."""
    class Adam(nn.Module):
        def __init__(self):
            super().__init__()
            self.of = nn.ParameterList(nn.Parameter(torch.randn(3, 7 + i), requires_grad=False) for i in range(3 * count))

        def forward(self, x):
            for p, m, v in zip(self.of[::3], self.of[1::3], self.of[2::3]):
                gradient = p * x
                m = m[:, :p.shape[1]].mul_(0.9).add_(gradient, alpha=0.1)
                v = v[:, :p.shape[1]].mul_(0.99).add_(gradient * gradient, alpha=0.01)
                p.sub_(0.1 * m / (v.abs().sqrt() + 1e-3))
            return sum(p.sum() for p in self.of[::3])

    ours, x = Adam().to(device), torch.tensor(0.5, device=device)
    theirs = copy.deepcopy(ours)
    compiled = helpers.compile(ours)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(compiled(x), theirs(x), rtol=1e-3, atol=1e-3)
            for got, expected in zip(ours.of, theirs.of):
                torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_calls_on_their_way_and_replays():
    """Many calls with dependent states, without waiting for any, on a stream and in a graph."""
    def function(m, x):
        m.a.mul_(0.5).add_(x)
        m.b.add_(m.a.flip(0))
        return m.a + m.b

    ours, x = Program(function).cuda(), torch.rand(6, 40, device="cuda")
    theirs = copy.deepcopy(ours)
    compiled = helpers.compile(ours)
    with torch.no_grad():
        for _ in range(200):
            got, expected = compiled(x), theirs(x)
        helpers.same(got, expected)
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        before = [buffer.clone() for buffer in ours.buffers()]
        with torch.cuda.graph(graph):
            got = compiled(x)
        for buffer, kept in zip(ours.buffers(), before):
            helpers.same(buffer, kept)
        for _ in range(20):
            graph.replay()
            expected = theirs(x)
        torch.cuda.synchronize()
        helpers.same(got, expected)
        helpers.same(list(ours.buffers()), list(theirs.buffers()))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_updates_by_products(device, dtype):
    """dynamo writes an update by a product as its own multiply-add op (prims.fma)."""
    def update(m, x):
        m.a.addcmul_(x, m.b, value=2)
        return m.a + 1

    check(Program(update, dtype), device, torch.randint(-3, 4, (6, 40)).to(dtype))
