# ===- test_prepared.py - What is computed once from weights --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import threading
import time

import helpers
import luminal
import luminal._objects
import luminal._prepared
import pytest
import torch
from test_threads import run_threads
from torch import nn


class Scaled(nn.Module):
    """A module whose weight is computed from weights only, expensively enough to be prepared."""

    def __init__(self):
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.randn(64, 64)), nn.Parameter(torch.rand(64, 1))

    def forward(self, x):
        return x @ (self.weight * torch.tanh(torch.exp(self.scale)) / self.weight.norm(dim=1, keepdim=True)).t()


def of_torch(module, **options):
    return helpers.compile(module, options={"fallback": "error", **options})


def of_export(module, **options):
    return luminal.compile(module, (torch.randn(3, 64),), **options)


@pytest.fixture(params=[(of_torch, True), (of_export, True), (of_torch, False)],
                ids=["torch.compile", "luminal.compile", "torch.compile-python"])
def make(request, monkeypatch):
    """Runs with PyTorch's functions for addresses and versions, and without them."""
    function, natively = request.param
    assert luminal._objects.watch([0], False) is not None
    if not natively:
        monkeypatch.setattr(luminal._objects, "watch", lambda *_: None)
    return function


@pytest.fixture
def module():
    return Scaled()


def test_something_is_prepared(module):
    compiled = of_export(module)
    assert compiled.report.data["prepare"]["steps"] > 0
    assert all(t.is_prepared for t in compiled.artifact.weights)
    assert not any(t.is_prepared for t in of_export(module, prepare=False).artifact.weights)


def check(compiled, module):
    x = torch.randn(3, 64)
    with torch.no_grad():
        helpers.same(compiled(x), module(x))


def test_changes_that_pytorch_sees(make, module):
    compiled = make(module)
    check(compiled, module)
    with torch.no_grad():
        module.weight.mul_(2)
        check(compiled, module)
        module.weight.data = torch.randn(64, 64)
        check(compiled, module)
        for _ in range(20):
            # The allocator may give the next weight the same address and version.
            module.weight = None
            module.weight = nn.Parameter(torch.randn(64, 64))
            check(compiled, module)
        state = {"weight": torch.randn(64, 64), "scale": torch.rand(64, 1)}
        module.load_state_dict(state, assign=True)
        check(compiled, module)
        module.load_state_dict({name: torch.rand_like(value) for name, value in state.items()})
        check(compiled, module)


def test_changes_that_pytorch_does_not_see(make, module):
    compiled, x = make(module), torch.randn(3, 64)
    with torch.no_grad():
        before = compiled(x)
        module.scale.data.add_(1)
        assert torch.equal(compiled(x), before)
        luminal.invalidate(module)
        check(compiled, module)
        module.scale.data.numpy()[:] = 0.25
        luminal.invalidate(module)
        check(compiled, module)


def test_without_preparing(make, module):
    compiled = make(module, prepare=False)
    check(compiled, module)
    module.scale.data.add_(1)
    check(compiled, module)


def test_inference_tensors(make):
    """Their versions are not counted, so dependent values are computed at each call, unless the caller freezes the
    weights."""
    with torch.inference_mode():
        module, x = Scaled(), torch.randn(3, 64)
        for freeze in (False, True):
            compiled = make(module, freeze=freeze)
            before = compiled(x)
            module.scale.add_(1)
            assert torch.equal(compiled(x), before) == freeze
            luminal.invalidate(module)
            helpers.same(compiled(x), module(x))


def test_a_weight_that_becomes_an_inference_tensor(make, module):
    compiled = make(module)
    check(compiled, module)
    with torch.inference_mode():
        scale = torch.rand(64, 1)
    module.scale = nn.Parameter(scale, requires_grad=False)
    for _ in range(2):
        with torch.inference_mode():
            helpers.same(compiled(x := torch.randn(3, 64)), module(x))
            module.scale.add_(1)


def test_calls_that_are_looked_at_and_others(module):
    """Calls with gradients take another path than those without; both see the same changes."""
    compiled, x = of_export(module), torch.randn(3, 64)
    with torch.no_grad():
        helpers.same(compiled(x), module(x))
        module.scale.mul_(2)
    helpers.same(compiled(x).detach(), module(x).detach())
    with torch.no_grad():
        helpers.same(compiled(x), module(x))
        module.scale.mul_(0.5)
        helpers.same(compiled(x), module(x))
    helpers.same(compiled(x).detach(), module(x).detach())


def test_threads(make, module):
    """Threads share prepared values, and all see a change between calls."""
    compiled, x = make(module), torch.randn(3, 64)
    with torch.no_grad():
        compiled(x)  # PyTorch 2.11 does not support compiling in several threads
        for _ in range(5):
            module.weight.copy_(torch.randn(64, 64))
            expected = module(x)

            def work(index):
                with torch.no_grad():
                    for _ in range(50):
                        torch.testing.assert_close(compiled(x), expected, rtol=1e-4, atol=1e-5)

            run_threads(work, 4)


def test_buffers_that_the_model_writes_are_not_prepared():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(64, 64))

        def forward(self, x):
            result = x @ torch.tanh(torch.exp(self.scale))
            self.scale.add_(0.125)
            return result

    ours, theirs = Counting(), Counting()
    compiled = helpers.compile(ours)
    for _ in range(3):
        x = torch.randn(3, 64)
        helpers.same(compiled(x), theirs(x))


def test_invalidate_takes_models():
    with pytest.raises(luminal.ArgumentError, match="expected a module or a tensor"):
        luminal.invalidate("model")


def test_threads_number_a_change_once():
    """Threads that see a change at the same time agree on one number instead of preparing several times."""
    tensors, numbers = [torch.zeros(2)], []
    watch = luminal._prepared.Watch([0], freeze=False)
    first = watch.number(tensors)
    tensors[0].add_(1)
    threads = [threading.Thread(target=lambda: numbers.append(watch.number(tensors))) for _ in range(4)]
    with watch._lock:
        for thread in threads:
            thread.start()
        time.sleep(0.1)  # until all threads wait
    for thread in threads:
        thread.join()
    assert numbers == [first + 1] * 4
