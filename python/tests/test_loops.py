# ===- test_loops.py - Loops over rows: torch's scan and associative_scan -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random

import pytest
import torch
from torch._higher_order_ops.scan import scan

import luminal
from luminal._backend import backend

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]


def check(model, *args, steps=None, rtol=1e-5, atol=1e-5, **options):
    compiled = luminal.compile(model, args, **options)
    for again in [args, *(steps or [])]:
        got, want = compiled(*again), model(*again)
        for a, b in zip(torch.utils._pytree.tree_leaves(got), torch.utils._pytree.tree_leaves(want), strict=True):
            torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)
    return compiled


def kernels(compiled):
    return compiled.ir("fused").count("llir.kernel(")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(4,), (3, 17), (2, 5, 64), ()])
@pytest.mark.parametrize("length", [1, 2, 65])
def test_a_state_of_elements_is_one_kernel(device, shape, length):
    def model(state, rows, factor):
        def step(carry, row):
            new = torch.tanh(carry * factor + row)
            return new, new * row

        return scan(step, state, rows)

    make = lambda *size: torch.randn(size, device=device)
    compiled = check(model, make(*shape), make(length, *shape), make(*shape))
    assert "llir.recurrence" in compiled.ir("fused") and kernels(compiled) == 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.int32, torch.bool])
def test_every_dtype(device, dtype):
    def model(state, rows):
        def step(carry, row):
            new = torch.where(row > carry, row, carry ^ row if dtype is torch.bool else carry - row)
            return new, new.clone()

        return scan(step, state, rows)

    def make(*size):
        return torch.randint(-9, 9, size, device=device).to(dtype)

    check(model, make(7, 33), make(40, 7, 33), rtol=0, atol=0)


@pytest.mark.parametrize("device", DEVICES)
def test_several_states(device):
    """An online softmax over rows: a running maximum, a running sum, and the weighted values."""

    def model(rows, values):
        def step(carry, row):
            most, total, mean = carry
            scores, value = row
            new = torch.maximum(most, scores)
            old, own = torch.exp(most - new), torch.exp(scores - new)
            total = total * old + own
            return (new, total, mean * old + own * value), (new.clone(), mean / total)

        begin = torch.full_like(rows[0], -1e30)
        return scan(step, (begin, torch.zeros_like(begin), torch.zeros_like(begin)), (rows, values))

    compiled = check(model, torch.randn(50, 6, 8, device=device), torch.randn(50, 6, 8, device=device), rtol=1e-4, atol=1e-4)
    assert "llir.recurrence" in compiled.ir("fused")


@pytest.mark.parametrize("device", DEVICES)
def test_what_the_state_does_not_need_leaves_the_loop(device):
    """A layer of Mamba: products of a trip's inputs before the loop, and sums over the states of a channel after it."""
    channels, states, steps = 24, 8, 33

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.into = torch.nn.Linear(channels, 2 * states, device=device)
            self.rate = torch.nn.Parameter(torch.rand(channels, states, device=device))

        def forward(self, x, dt):
            def step(state, row):
                u, delta = row
                b, c = self.into(u).chunk(2, -1)
                decay = torch.exp(-self.rate * delta[:, :, None])
                state = state * decay + (delta * u)[:, :, None] * b[:, None, :]
                return state, (state * c[:, None, :]).sum(-1)

            return scan(step, torch.zeros(2, channels, states, device=device), (x, dt))[1]

    x, dt = torch.randn(steps, 2, channels, device=device), torch.rand(steps, 2, channels, device=device)
    compiled = check(Layer(), x, dt, rtol=1e-4, atol=1e-4)
    text = compiled.ir("fused")
    loop = text[text.index("llir.recurrence"):]
    loop = loop[:loop.index("llir.yield")]
    assert "gemm" not in loop and "reduce" not in loop, loop
    assert text.count("llir.gemm") + text.count("llir.cublaslt_matmul") == 1


@pytest.mark.parametrize("device", DEVICES)
def test_a_state_that_takes_part_in_a_product_is_written_out(device):
    def model(state, rows, weight):
        def step(carry, row):
            new = torch.tanh(carry @ weight + row)
            return new, new.clone()

        return scan(step, state, rows)

    compiled = check(model, torch.zeros(3, 16, device=device), torch.randn(7, 3, 16, device=device),
                     torch.randn(16, 16, device=device) / 4)
    assert "llir.recurrence" not in compiled.ir("fused")


@pytest.mark.parametrize("device", DEVICES)
def test_a_number_of_rows_that_a_call_tells(device):
    def model(state, rows):
        def step(carry, row):
            return carry * 0.5 + row, carry + row

        return scan(step, state, rows)

    length = torch.export.Dim("length", min=2, max=500)
    rows = lambda n: (torch.ones(5, device=device), torch.randn(n, 5, device=device))
    check(model, *rows(10), steps=[rows(n) for n in (2, 3, 64, 500)], dynamic_shapes=(None, {0: length}))


def test_a_number_of_rows_that_a_call_tells_and_a_product():
    def model(state, rows, weight):
        def step(carry, row):
            new = carry @ weight + row
            return new, new.clone()

        return scan(step, state, rows)

    with pytest.raises(luminal.CompileError, match="more than its own element"):
        luminal.compile(model, (torch.zeros(2, 4), torch.zeros(6, 2, 4), torch.randn(4, 4)),
                        dynamic_shapes=(None, {0: torch.export.Dim("length", min=2, max=500)}, None))


def recurrence(state, rows, factor):
    def step(carry, row):
        new = torch.tanh(carry * factor + row)
        return new, new * 2

    return scan(step, state, rows)


@pytest.mark.parametrize("device", DEVICES)
def test_torch_compile(device, compiles):
    args = torch.randn(3, 5, device=device), torch.randn(20, 3, 5, device=device), torch.randn(5, device=device)
    with torch.no_grad():
        got = torch.compile(recurrence, backend=backend)(*args)
    torch.testing.assert_close(got, recurrence(*args), rtol=1e-5, atol=1e-5)
    assert len(compiles) == 1


def test_a_loop_in_a_graph_that_is_split_is_pytorchs():
    def model(state, rows, factor):
        last, stacked = recurrence(state, rows, factor)
        return torch.linalg.qr(last)[0].abs() + 1, stacked * 2

    args = torch.randn(3, 5), torch.randn(20, 3, 5), torch.randn(5)
    with torch.no_grad(), pytest.warns(luminal.LuminalWarning, match="scan: is in a graph with unsupported ops"):
        got = torch.compile(model, backend=backend)(*args)
    torch.testing.assert_close(got, model(*args), rtol=1e-5, atol=1e-5)


FUNCTIONS = [torch.sin, torch.tanh, torch.sigmoid, torch.neg, torch.abs, torch.relu, lambda x: x * 0.25, lambda x: x + 1]
PAIRS = [torch.add, torch.sub, torch.mul, torch.maximum, torch.minimum, lambda x, y: torch.where(x > y, x, y * 0.5)]


def random_step(choose):
    """A step of random ops on one or two states, a row, a row of another shape, and a tensor that all trips read."""
    program = [(choose.choice(FUNCTIONS), choose.choice(PAIRS), choose.randrange(99), choose.randrange(99)) for _ in range(6)]
    numbers = [choose.randrange(99) for _ in range(4)]

    def step(states, row, wide, constant):
        values = [*states, row, wide[..., None].expand_as(row), constant.expand_as(row)]
        for one, two, i, j in program:
            values.append(torch.tanh(two(one(values[i % len(values)]), values[j % len(values)])))
        made = values[5 - (2 - len(states)):]
        return [made[numbers[k] % len(made)] * 0.5 for k in range(len(states))], made[numbers[2] % len(made)]

    return step


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(12))
def test_random_steps(device, seed):
    choose = random.Random(seed)
    step, count = random_step(choose), choose.choice([1, 2])
    inner, outer, length = choose.choice([1, 3, 8, 21, 64]), choose.choice([1, 2, 9]), choose.choice([1, 2, 7, 40])
    torch.manual_seed(seed)

    def model(states, rows, wide, constant):
        def body(carry, row):
            new, value = step(carry, row[0], row[1], constant)
            return [v.clone() for v in new], value.clone()

        return scan(body, states, (rows, wide))

    make = lambda *size: torch.randn(size, device=device)
    states = [make(outer, inner) for _ in range(count)]
    compiled = check(model, states, make(length, outer, inner), make(length, outer), make(inner), rtol=1e-4, atol=1e-4)
    assert "llir.recurrence" in compiled.ir("fused")
