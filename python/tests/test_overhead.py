# ===- test_overhead.py - What a call costs, and addresses read in C ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import operator
import os
import sys

import helpers
import luminal
import luminal._objects
import pytest
import torch
from conftest import ROOT
from luminal import _versions
from test_threads import run_threads
from torch import nn

sys.path.insert(0, str(ROOT / "utils/bench"))

import call_overhead

# Maximum number of Python instructions of the package in a call of a compiled graph, and in a call of luminal.compile's
# result: Python 3.11 needs 23 and 96. utils/bench/call_overhead.py measures the time of a call.
INSTRUCTIONS, OF_CALLABLE = 26, 104


def instructions(call):
    """Number of Python instructions of the package that run in ``call``."""
    package, count = os.path.dirname(luminal.__file__) + os.sep, 0

    def trace(frame, event, _):
        nonlocal count
        if not frame.f_code.co_filename.startswith(package):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


class Asked(torch.Tensor):
    """A tensor that records accesses from Python, including those through C: ``map(torch.Tensor.data_ptr, tensors)``."""

    questions = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        Asked.questions.append(function)
        return super().__torch_function__(function, types, args, kwargs or {})


@pytest.fixture
def calls(monkeypatch):
    """The function and arguments of each call of a compiled graph."""
    seen = []
    direct = luminal._runner.GraphRunner.direct

    def noted(runner):
        run = direct(runner)

        def call(args):
            seen.append((run, list(args)))
            return run(args)

        call._boxed_call = True
        return call

    monkeypatch.setattr(luminal._runner.GraphRunner, "direct", noted)
    return seen


@pytest.mark.parametrize("guarded", [False, True])
def test_python_looks_at_no_weight(monkeypatch, calls, guarded):
    """The work of a call in Python does not depend on the number of weights, with or without dynamo's guards for them."""
    monkeypatch.setattr(_versions, "GUARDS_WEIGHTS", guarded)
    assert luminal._objects.tensor_reader(True) is not None
    counts = []
    for number in (2, 16, 64):
        torch._dynamo.reset()
        module, x = call_overhead.Sum(number), torch.rand(4)
        compiled = helpers.compile(module)
        with torch.no_grad():
            helpers.same(compiled(x), module(x))
            run, args = calls[-1]
            assert len(args) == number + 1
            run(list(args))
            counts.append(instructions(lambda: run(list(args))))
            asked = [arg.detach().as_subclass(Asked) for arg in args]
            Asked.questions.clear()
            result, = run(list(asked))
            assert not Asked.questions
            helpers.same(result, module(x))
    assert counts[0] == counts[1] == counts[2] and 0 < counts[0] <= INSTRUCTIONS


@pytest.mark.parametrize("guarded", [False, True])
def test_python_looks_at_no_state(monkeypatch, calls, guarded):
    """It does not depend on the number of written tensors either; PyTorch counts each write once."""
    monkeypatch.setattr(_versions, "GUARDS_WEIGHTS", guarded)
    counts = []
    for number in (2, 16, 64):
        torch._dynamo.reset()
        module, x = call_overhead.States(number), torch.rand(4)
        twin = copy.deepcopy(module)
        compiled = helpers.compile(module)
        with torch.no_grad():
            for _ in range(3):
                helpers.same(compiled(x), twin(x))
                helpers.same(list(module.states), list(twin.states))
            assert [s._version for s in module.states] == [s._version for s in twin.states]
            run, args = calls[-1]
            counts.append(instructions(lambda: run(list(args))))
    assert counts[0] == counts[1] == counts[2] and 0 < counts[0] <= INSTRUCTIONS


@pytest.mark.parametrize("kind", [call_overhead.Sum, call_overhead.States])
def test_python_looks_at_no_tensor_of_a_callable(kind):
    """The same holds for the result of luminal.compile."""
    counts = []
    for number in (2, 16, 64):
        module, x = kind(number), torch.rand(4)
        twin = copy.deepcopy(module)
        compiled = luminal.compile(module, (x,))
        with torch.no_grad():
            for _ in range(3):
                helpers.same(compiled(x), twin(x))
            assert [s._version for s in module.parameters()] == [s._version for s in twin.parameters()]
            Asked.questions.clear()
            helpers.same(compiled(x.as_subclass(Asked)), twin(x))
            assert Asked.questions  # a tensor of another class is checked
            counts.append(instructions(lambda: compiled(x)))
    assert counts[0] == counts[1] == counts[2] and 0 < counts[0] <= OF_CALLABLE


def test_structures_of_a_callable():
    """Arguments and results of any structure, by position or name, and the error for a wrong structure."""
    def function(pair, *, scale):
        return {"sum": pair[0] + pair[1]["b"] * scale, "both": (pair[0] * scale, [scale])}

    pair, scale = (torch.rand(3), {"b": torch.rand(3)}), torch.rand(3)
    compiled = luminal.compile(function, (pair,), {"scale": scale})
    for _ in range(2):
        helpers.same(compiled(pair, scale=scale), function(pair, scale=scale))
    with pytest.raises(luminal.ArgumentError, match="structure"):
        compiled((scale, scale), scale=scale)
    single = luminal.compile(lambda x: (x + 1,), (scale,))
    helpers.same(single(scale), (scale + 1,))
    with pytest.raises(luminal.DeviceError, match="sparse"):
        single(scale.to_sparse())


def test_writes_through_bases_are_checked():
    """Arguments that share memory are passed as their base, whose strides are unguarded."""
    def write(a, b):
        a.add_(1)
        return a + b

    compiled, eager = helpers.compile(write), write
    with torch.no_grad():
        for base in (torch.rand(4, 6), torch.rand(6, 4).t(), torch.rand(4, 12)[:, ::2]):
            twin = copy.deepcopy(base)
            helpers.same(compiled(base[:2], base[1:3]), eager(twin[:2], twin[1:3]))
            helpers.same(base, twin)


def test_loops_over_tensors_are_seen():
    """The recording of the test above would notice loops over tensors in the package."""
    asked = [torch.rand(2).as_subclass(Asked) for _ in range(3)]
    Asked.questions.clear()
    list(map(torch.Tensor.data_ptr, asked))
    list(map(operator.attrgetter("_version"), asked))
    assert len(Asked.questions) == 6
    row_major = luminal._artifact.row_major
    assert instructions(lambda: row_major((1,) * 9)) > instructions(lambda: row_major((1,) * 8)) > 0


def test_calls_of_dynamo_are_those_counted(calls):
    """No other code of the package runs around these calls."""
    module, x = call_overhead.Sum(16), torch.rand(4)
    compiled = helpers.compile(module)
    with torch.no_grad():
        compiled(x)
        compiled(x)
        run, args = calls[-1]
        assert instructions(lambda: compiled(x)) == instructions(lambda: run(list(args)))


def step(compiled, module, x):
    with torch.no_grad():
        helpers.same(compiled(x), module(x))


def test_addresses_are_read_at_each_call():
    """Tensors with all kinds of owners, whose memory is replaced or freed between calls."""
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
    """If another version of PyTorch lays out tensors differently, Python reads the addresses."""
    assert luminal._objects.reader() is not None
    monkeypatch.setattr(luminal._objects, "reader", lambda: None)
    test_addresses_are_read_at_each_call()


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
def test_what_weights_are_is_read_at_each_call(monkeypatch, reads, dynamic):
    """If dynamo does not guard the weights, the library checks them, or else Python."""
    monkeypatch.setattr(_versions, "GUARDS_WEIGHTS", False)
    assert luminal._objects.tensor_reader(True) is not None
    if not reads:
        monkeypatch.setattr(luminal._objects, "tensor_reader", lambda *_: None)
    made, refused = [], []
    direct, slow = luminal._runner.GraphRunner.direct, luminal._runner.GraphRunner._run_checked
    monkeypatch.setattr(luminal._runner.GraphRunner, "direct", lambda self: made.append(direct(self)) or made[-1])
    monkeypatch.setattr(luminal._runner.GraphRunner, "_run_checked",
                        lambda self, tensors, *rest: refused.append(len(tensors)) or slow(self, tensors, *rest))
    module = nn.Linear(8, 8)
    compiled = helpers.compile(module, dynamic=dynamic)
    for rows in (2, 3, 3):
        step(compiled, module, torch.randn(rows, 8))
    assert not refused and made
    run, x = made[-1], torch.randn(3, 8)

    def call(weight):
        """Calls it as dynamo without these guards does."""
        with torch.no_grad():
            return run([weight, module.bias, *([3] if dynamic else []), x])[0]

    helpers.same(call(module.weight), module(x).detach())
    other = torch.randn(8, 8)
    helpers.same(call(other.t()), nn.functional.linear(x, other.t(), module.bias).detach())
    assert len(refused) == 1
    for wrong, error in ((other.double(), luminal.DTypeError), (torch.randn(8, 9), luminal.ShapeError),
                         (torch.randn(8), luminal.ShapeError), (other.to("meta"), luminal.DeviceError)):
        with pytest.raises(error):
            call(wrong)
    assert len(refused) == 5


def test_only_dynamic_extents_are_looked_at():
    module = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 3))
    compiled = helpers.compile(module, dynamic=True)
    for rows in (2, 3, 2, 7):
        step(compiled, module, torch.randn(rows, 8))


def test_weights_replaced_while_threads_call():
    """A call reads the old tensor or the new one, and neither is freed during the call."""
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
                    # The caller must keep tensors alive: freeing one that another thread uses breaks eager calls too.
                    kept.append(module.weight.data)
                    module.weight.data = torch.full((64, 64), float(i % 7))
                done.append(True)
            while index and not done:
                result = compiled(x)
                assert result.eq(result[0, 0]).all() and float(result[0, 0]) / 64 in range(7)

    run_threads(work, 4)


def test_threads_and_written_weights_are_seen_in_c(monkeypatch, calls):
    """Such calls take the same path in Python, and give correct results."""
    made, threads = [], torch.get_num_threads()
    init = luminal._runner.Repeat.__init__
    monkeypatch.setattr(luminal._runner.Repeat, "__init__", lambda self, *rest: (made.append(self), init(self, *rest))[1])
    module, x = nn.utils.parametrizations.weight_norm(nn.Linear(64, 64)).eval(), torch.randn(3, 64)
    step(helpers.compile(module), module, x)
    run, args = calls[-1]
    try:
        for i in range(6):  # not through dynamo, which recompiles for another number of threads
            torch.set_num_threads(1 + i % 3)
            with torch.no_grad():
                module.parametrizations.weight.original0.mul_(1.5)
                helpers.same(run(list(args))[0], module(x))
    finally:
        torch.set_num_threads(threads)
    assert len(made) == 1


def test_without_functions_of_pytorch(monkeypatch):
    """Python then asks for the number of threads."""
    asked = []
    monkeypatch.setattr(luminal._objects, "library", lambda: object())
    luminal._objects.thread_counter.cache_clear()
    monkeypatch.setattr(torch, "get_num_threads", lambda: asked.append(1) or 1)
    try:
        counter = luminal._objects.thread_counter()
        assert counter() == 1 and asked
    finally:
        luminal._objects.thread_counter.cache_clear()


def test_more_kinds_of_calls_than_are_kept(calls):
    """Many numbers of threads: the data kept for one is evicted while another thread may use it."""
    module, x = nn.Linear(16, 16), torch.randn(3, 16)
    compiled = helpers.compile(module)
    with torch.no_grad():
        expected = compiled(x)
    run, args = calls[-1]

    def work(index):
        for i in range(200):
            torch.set_num_threads(1 + (7 * i + index) % 80)
            assert torch.equal(run(list(args))[0], expected)

    run_threads(work)
