# ===- test_capture.py - Calls inside CUDA graphs of the caller's ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import gc

import helpers
import luminal
import pytest
import torch
from torch import nn

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


class Block(nn.Module):
    """Several kernels and a library's product, with memory between the steps."""

    def __init__(self, width=64):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 256), nn.Linear(256, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x)))).softmax(-1)


class Scaled(nn.Module):
    """A module whose weight is computed from weights only, expensively enough to be prepared."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(256, 256)), nn.Parameter(torch.randn(256, 256))

    def forward(self, x):
        return x @ (self.a @ self.b).sin()


def capture(call, *, pool=None):
    """Captures one call; returns the graph and the result."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        result = call()
    return graph, result


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


FORMS = ("torch.compile", "luminal.compile")


def compile_by(form, function, *args):
    return helpers.compile(function) if form == "torch.compile" else luminal.compile(function, args)


@pytest.mark.parametrize("form", FORMS)
def test_replays_find_new_data(form):
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    compiled = compile_by(form, model, x)
    compiled(x)
    graph, y = capture(lambda: compiled(x))
    for _ in range(3):
        x.copy_(torch.randn_like(x))
        graph.replay()
        helpers.same(y, model(x))
    # Meanwhile, the same callable outside of the graph.
    other = torch.randn_like(x)
    helpers.same(compiled(other), model(other))
    graph.replay()
    helpers.same(y, model(x))


@pytest.mark.parametrize("form", FORMS)
def test_work_of_the_caller_is_before_and_after(form):
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    compiled = compile_by(form, model, x)
    compiled(x)
    graph, y = capture(lambda: compiled(compiled(x * 2) + 1).relu())
    x.copy_(torch.randn_like(x))
    graph.replay()
    helpers.same(y, model(model(x * 2) + 1).relu())


def test_many_calls_of_one_kernel():
    x = torch.randn(1000, device="cuda")
    compiled = helpers.compile(lambda x: x.sin() + 1)
    compiled(x)

    def chain():
        y = x
        for _ in range(20):
            y = compiled(y)
        return y

    graph, y = capture(chain)
    x.copy_(torch.randn_like(x))
    graph.replay()
    expected = x
    for _ in range(20):
        expected = expected.sin() + 1
    helpers.same(y, expected)


def test_two_sizes_in_two_graphs():
    model = Block().cuda()
    compiled = helpers.compile(model, dynamic=True)
    inputs = [torch.randn(n, 64, device="cuda") for n in (3, 8)]
    for x in inputs:
        compiled(x)
    pool = torch.cuda.graph_pool_handle()
    graphs = [capture(lambda x=x: compiled(x), pool=pool) for x in inputs]
    for _ in range(2):
        for (graph, y), x in zip(graphs, inputs):
            x.copy_(torch.randn_like(x))
            graph.replay()
            helpers.same(y, model(x))


def test_make_graphed_callables():
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    compiled = helpers.compile(model)
    compiled(x)
    graphed = torch.cuda.make_graphed_callables(lambda x: compiled(x), (x,))
    other = torch.randn_like(x)
    helpers.same(graphed(other), model(other))


def test_states_are_written_by_replays():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(16, 8))

        def forward(self, x, at):
            self.cache.index_copy_(0, at, x)
            return self.cache.sum(0)

    model, x, at = Counter().cuda(), torch.ones(1, 8, device="cuda"), torch.tensor([0], device="cuda")
    compiled = helpers.compile(model)
    compiled(x, at)
    graph, y = capture(lambda: compiled(x, at))
    model.cache.zero_()
    for i in range(4):
        at.fill_(i)
        graph.replay()
    helpers.same(y, torch.full((8,), 4.0, device="cuda"))


def test_weights_that_change():
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    compiled = helpers.compile(model)
    compiled(x)
    graph, y = capture(lambda: compiled(x))
    model.up.weight.mul_(2)
    graph.replay()
    helpers.same(y, model(x))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_prepared_from_weights(form):
    model, x = Scaled().cuda(), torch.randn(8, 256, device="cuda")
    compiled = compile_by(form, model, x)
    before = compiled(x)
    graph, y = capture(lambda: compiled(x))
    graph.replay()
    helpers.same(y, before)
    model.a.data.mul_(0.5)
    torch.cuda.synchronize()
    luminal.invalidate(model)
    graph.replay()
    torch.testing.assert_close(y, model(x), rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(compiled(x), model(x), rtol=1e-3, atol=1e-3)


def test_the_graph_outlives_the_artifact():
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    compiled = luminal.compile(model, (x,))
    compiled(x)
    graph, y = capture(lambda: compiled(x))
    del compiled
    gc.collect()
    torch.randn(1 << 20, device="cuda")
    x.copy_(torch.randn_like(x))
    graph.replay()
    helpers.same(y, model(x))


def test_the_artifact_outlives_graphs():
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    compiled = luminal.compile(model, (x,))
    compiled(x)

    def lost(function):
        """Bytes of device memory that remain allocated after 30 graphs of the function, following a few others."""
        def run():
            graph, y = capture(lambda: function(x))
            graph.replay()
            torch.cuda.synchronize()
            del graph, y
            gc.collect()
            torch.cuda.empty_cache()
            helpers.same(compiled(x), model(x))

        for _ in range(5):
            run()
        free = torch.cuda.mem_get_info()[0]
        for _ in range(30):
            run()
        return free - torch.cuda.mem_get_info()[0]

    # Tools that check memory accesses keep memory for each graph. Allow as much as for PyTorch's graphs, which have more
    # kernels.
    theirs = lost(model)
    assert lost(compiled) <= max(theirs, 0) + (4 << 20)


def test_what_replays_find_is_told():
    x, i = torch.randn(4, 8, device="cuda"), torch.tensor([1], device="cuda")
    compiled = luminal.compile(lambda x, i: x[i], (x, i))
    compiled(x, i)
    graph, y = capture(lambda: compiled(x, i))
    graph.replay()
    torch.cuda.synchronize()
    luminal.synchronize()
    helpers.same(y, x[[1]])
    i.fill_(9)
    graph.replay()
    torch.cuda.synchronize()
    with pytest.raises(luminal.CallError, match="out of range"):
        luminal.synchronize()
    luminal.synchronize()


def test_memory_of_the_host_is_refused():
    compiled = luminal.compile(lambda x, k: x * k, (torch.randn(4, device="cuda"), torch.tensor(2.0)))
    x, k = torch.randn(4, device="cuda"), torch.tensor(3.0)
    compiled(x, k)
    with pytest.raises(luminal.CallError, match="host memory"):
        capture(lambda: compiled(x, k))
    torch.cuda.synchronize()
    helpers.same(compiled(x, k), x * 3)


def test_the_memory_between_steps_is_shared_by_calls():
    """The memory between steps comes from the capture's pool: twenty calls need as much as one."""
    model = nn.Sequential(nn.Linear(256, 4096), nn.GELU(), nn.Linear(4096, 256)).cuda()
    x = torch.randn(4096, 256, device="cuda")
    compiled = helpers.compile(model)
    compiled(x)

    def memory_of(count):
        def calls():
            y = x
            for _ in range(count):
                y = compiled(y)
            return y

        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        compiled(x)
        free = torch.cuda.mem_get_info()[0]
        kept = capture(calls)
        used = free - torch.cuda.mem_get_info()[0]
        kept[0].replay()
        return used

    few, many = memory_of(2), memory_of(20)
    assert many < few + 8 * (4096 * 4096 * 4)
