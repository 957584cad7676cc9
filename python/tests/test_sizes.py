# ===- test_sizes.py - Programs that need a size to be known ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import warnings

import helpers
import luminal
import luminal._backend
import pytest
import torch


def warned(caught):
    return [str(w.message) for w in caught if "compiles for" in str(w.message)]


def check(function, shapes, compiled):
    texts = []
    for shape in shapes:
        x = torch.randn(shape)
        with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            helpers.same(compiled(x), function(x))
        texts.append(warned(caught))
    return texts


def test_floats_of_sizes():
    """PyTorch computes floats of sizes if it may; otherwise the size is fixed to that of the call, and other sizes
    recompile."""
    def function(x):
        return x.new_ones(math.ceil(x.shape[0] / 3) * 2, x.shape[1]).cumsum(0) * x.sum() * (x.shape[0] / 2)

    texts = check(function, [(4, 5), (7, 5), (7, 9)], helpers.compile(function, dynamic=True))
    assert len(texts[0]) == len(texts[1]) == 1 and "has an argument that is a float" in texts[0][0]
    assert " = 4 only" in texts[0][0] and " = 7 only" in texts[1][0] and texts[2] == []


def test_what_is_not_proved(monkeypatch):
    """As in mamba's scan: no op is unsupported, but the compiler cannot prove something about a size and names it."""
    compile_whole = luminal._backend.compile_whole

    def refuse(compile_archive, options, graph_module):
        for node in graph_module.graph.find_nodes(op="placeholder"):
            if isinstance(node.meta["val"], torch.SymInt) and not node.meta["val"].node.expr.is_number:
                raise luminal.CompileError(f"cannot prove that 'd0' stays in [0, {node.meta['val'].node.expr})")
        return compile_whole(compile_archive, options, graph_module)

    monkeypatch.setattr(luminal._backend, "compile_whole", refuse)
    texts = check(torch.sin, [(4,), (7,), (4,)], helpers.compile(torch.sin, dynamic=True))
    assert [len(t) for t in texts] == [1, 1, 0] and "cannot prove that 'd0'" in texts[1][0]


def test_a_size_that_the_caller_wants_dynamic():
    """PyTorch reports the violation, and names the dim."""
    def function(x):
        return x * math.ceil(x.shape[0] / 3) + (x.shape[0] / 2)

    x = torch.randn(4, 5)
    torch._dynamo.mark_dynamic(x, 0)
    violated = torch.fx.experimental.symbolic_shapes.ConstraintViolationError
    with pytest.raises(violated, match="size..\\[0\\]"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        helpers.compile(function)(x)


def _transposed(x, w):
    return torch.nn.functional.conv_transpose2d(x, w, stride=2, padding=1)


# For each function, calls of different sizes that must share one program.
ONE_PROGRAM = {
    "scatter_add": (lambda i, v: torch.zeros(4).scatter_add(0, i, v), [(torch.arange(n) % 4, torch.ones(n)) for n in (8, 5, 6)]),
    "scatter_reduce": (lambda i, v: torch.zeros(4).scatter_reduce(0, i, v, "amax"), [(torch.arange(n) % 4, torch.ones(n)) for n in (8, 5)]),
    "gather": (lambda v, i: v.gather(1, i), [(torch.randn(n + 1, 3), torch.arange(2 * n).view(n, 2) % 3) for n in (8, 5)]),
    "ceil_mode": (lambda v: torch.nn.functional.max_pool2d(v, 3, 2, ceil_mode=True), [(torch.randn(1, 2, *s),) for s in ((8, 8), (11, 9), (7, 12))]),
    "ceil_mode, means": (lambda v: torch.nn.functional.avg_pool2d(v, 3, 2, 1, ceil_mode=True, count_include_pad=False),
                         [(torch.randn(n, n + 1, *s),) for n, s in enumerate(((8, 8), (11, 9), (7, 12)), 2)]),
    "ceil_mode, means with padding": (lambda v: torch.nn.functional.avg_pool2d(v, (5, 2), (3, 2), (2, 1), ceil_mode=True),
                                      [(torch.randn(n, n + 1, *s),) for n, s in enumerate(((8, 8), (11, 9), (7, 12)), 2)]),
    "power": (lambda v: v ** v.shape[0], [(torch.rand(n),) for n in (3, 4)]),
    "transposed": (_transposed, [(torch.randn(1, n, 5, 6), torch.randn(n, n + 1, 3, n)) for n in (3, 4)]),
    "tail": (lambda v, n: (v * 2)[n.shape[0]:].sum(), [(torch.randn(4), torch.ones(n)) for n in (2, 4, 6)]),
    "check": (lambda v: (torch._check(v.shape[0] < 100), v + 1)[1], [(torch.rand(n),) for n in (3, 4)]),
    "array_split": (lambda v: v.tensor_split(3), [(torch.rand(n),) for n in (5, 9)]),
    "in place": (lambda v: v.mul_(2), [(torch.rand(n, 12, 128, 64).transpose(1, 2),) for n in (2, 3)]),
    "prod": (lambda v, n: (v * 2)[n.shape[0]:].prod(), [(torch.rand(4), torch.ones(n)) for n in (2, 4)]),
    "prod of all but a head": (lambda v, n: v[n.shape[0]:].prod(0), [(torch.rand(9, 3) + 0.5, torch.ones(n)) for n in (2, 4, 9)]),
    "prod of a head": (lambda v, n: v[:n.shape[0]].prod(0), [(torch.randint(1, 4, (k, 2)), torch.ones(n)) for k, n in ((9, 3), (30, 40))]),
    "pad": (lambda v, n: torch.nn.functional.pad((v * 2)[n.shape[0]:], (2, 1), value=3), [(torch.rand(4), torch.ones(n)) for n in (2, 4)]),
}


@pytest.mark.parametrize("name", ONE_PROGRAM)
def test_what_the_trace_took_for_granted(name):
    """A property that is not proved for all sizes becomes a requirement of each call."""
    function, calls = ONE_PROGRAM[name]
    compiled = helpers.compile(function, dynamic=True)
    for args in calls:
        with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            helpers.same(compiled(*(a.clone() for a in args)), function(*(a.clone() for a in args)))
        assert not warned(caught)


def test_mamba_without_a_cache():
    """Mamba's scan reads halves of a symbolic length: dynamo traces odd lengths again, but no length is fixed."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = transformers.MambaModel(transformers.MambaConfig(
        vocab_size=16, hidden_size=4, state_size=2, num_hidden_layers=1, conv_kernel=2, time_step_rank=1, use_cache=False)).eval()
    torch._dynamo.reset()
    compiled = helpers.compile(model, dynamic=True)
    for length in (20, 21):
        tokens = torch.randint(0, 16, (1, length))
        with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.testing.assert_close(compiled(tokens, use_cache=False)[0], model(tokens, use_cache=False)[0])
        assert not warned(caught)


EMPTY = {
    "mean": lambda v: v.mean(), "any": lambda v: v.bool().any(), "logsumexp": lambda v: v.logsumexp(0), "norm": lambda v: v.norm(),
    "softmax": lambda v: v.softmax(0), "median": lambda v: v.median(), "cumprod": lambda v: v.cumprod(0), "diff": lambda v: v.diff(),
    "diag": lambda v: v.diag_embed(1), "repeat": lambda v: v.repeat_interleave(0), "chunk": lambda v: v.chunk(2),
    "product": lambda v: v.view(-1, 1) @ v.view(1, -1), "cat": lambda v: torch.cat([v, v.new_ones(2), v]), "outer": lambda v: v.outer(v).sum(0),
    "gather": lambda v: v[torch.zeros(0, dtype=torch.int64)], "scatter": lambda v: torch.ones(3).scatter(0, v.long(), v),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_tail(name):
    def function(x):
        return EMPTY[name]((x * 2)[4:])

    compiled = helpers.compile(function)
    with torch.no_grad():
        helpers.same(compiled(torch.ones(4)), function(torch.ones(4)))


def test_a_check_that_fails():
    """A failed check raises PyTorch's own error, in later calls too."""
    def function(x):
        torch._check(x.shape[0] < 9)
        return x + 1

    compiled = helpers.compile(function, dynamic=True)
    with torch.no_grad():
        compiled(torch.ones(4))
        with pytest.raises(RuntimeError):
            compiled(torch.ones(9))


def test_a_device_that_was_moved():
    """An archive may assert ``cpu:0`` for tensors on ``cpu``, and likewise for ``cuda`` after torch's
    move_to_device_pass."""
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.mvlgamma(x.double() + 2, 1)  # PyTorch decomposes this

    x = torch.rand(2, 4)
    exported = torch.export.export(Model(), (x,))
    asserted = exported.graph.find_nodes(op="call_function", target=torch.ops.aten._assert_tensor_metadata.default)
    for node in asserted:
        node.kwargs = {**node.kwargs, "device": torch.device("cpu:0")}
    assert asserted
    with torch.no_grad():
        helpers.same(luminal.compile(exported)(x), Model()(x))
    assert all(node.kwargs["device"] == torch.device("cpu:0") for node in asserted)


@pytest.mark.parametrize("function", [
    lambda x: x[:int(x.size(0) * 0.75)] + 1, lambda x: torch.zeros(math.floor(x.size(0) * 1.5)) + x[0],
    lambda x: x[:int(x.size(0) ** 0.5)] * 2, lambda x: x[:round(x.size(0) / 2)] * 2, lambda x: x[:x.size(0) & 3] * 2,
    lambda x: torch.zeros(math.ceil((x.size(0) // 2) / 3)) + 1, lambda x: torch.zeros(abs(x.size(0) - 9)) + 1,
    lambda x: (x * 2)[:int(x.size(0) * (1 / 3))], lambda x: torch.nn.functional.interpolate(x.view(1, 1, -1), scale_factor=1.5),
    lambda x: (x[:2 * int(x.size(0) * 0.3) + 1].sum(), int((x.size(0) - 9) / 2)), lambda x: x.sum() + int((x.size(0) - 9) / 2)])
def test_arithmetic(function):
    """The caller computes arithmetic that no archive can express."""
    assert not any(check(function, [(6,), (7,), (11,), (13,)], helpers.compile(function, dynamic=True)))


@pytest.mark.parametrize("function", [
    lambda x, k: x / (abs(k) + 1), lambda x, k: x * (k & 7), lambda x, k: torch.full((2,), k & 6) + abs(k), lambda x, k: x + (k ^ 3),
    lambda x, k: x.new_ones(abs(k - 9) % 5 + x.shape[0]).sum() + x, lambda x, k: x + int(k * 0.5) + (k | 1),
    lambda x, k: x + round((k - 9) * 0.5), lambda x, k: (x[:x.shape[0] & 3] * abs(k), k & 3)])
def test_arithmetic_of_integers(function):
    """The same with ints of any sign and magnitude."""
    compiled = helpers.compile(function, dynamic=True)
    for k in (5, -7, 2 ** 50 + 1, -2 ** 60 - 5):
        helpers.same(compiled(torch.arange(4.0), k), function(torch.arange(4.0), k))


def test_arguments_that_overlap(monkeypatch):
    """AOTAutograd searches for overlapping arguments again once guards determine the sizes."""
    compile_whole = luminal._backend.compile_whole

    def refuse(compile_archive, options, graph_module):
        if any(isinstance(s, torch.SymInt) for n in graph_module.graph.find_nodes(op="placeholder")
               if isinstance(n.meta["val"], torch.Tensor) for s in n.meta["val"].shape):
            raise luminal.CompileError("cannot prove it")
        return compile_whole(compile_archive, options, graph_module)

    def function(a, b):
        return a.add_(1) * b.sum()

    monkeypatch.setattr(luminal._backend, "compile_whole", refuse)
    compiled = helpers.compile(function, dynamic=True)
    for rows in (3, 4):
        x, y = torch.randn(rows, 5), torch.zeros(rows, 5)
        y.copy_(x)
        with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            helpers.same(compiled(x, x.t()[1:]), function(y, y.t()[1:]))
        assert len(warned(caught)) == 1


@pytest.mark.parametrize("function", [
    lambda x, k: x * k, lambda x, k: x[k], lambda x, k: x.roll(k), lambda x, k: x[:k], lambda x, k: x.long() * (k // 3) + k % 3,
    lambda x, k: x.view(2, 2).tril(k), lambda x, k: torch.arange(k, k + 4) + x])
def test_integers_are_values_of_any_sign(function):
    compiled = torch.compile(function, backend=luminal._backend.backend, options={"fallback": "error"})
    for k in (2, 3, -1, -2):
        torch.testing.assert_close(compiled(torch.arange(4.0), k), function(torch.arange(4.0), k))


def test_integers_are_exact_in_64_bits():
    compiled = torch.compile(lambda x, k: x * k, backend=luminal._backend.backend, options={"fallback": "error"})
    x = torch.ones(4, dtype=torch.int64)
    for k in (3, 4, 2 ** 62 + 1, -2 ** 63, 2 ** 63 - 1):
        assert compiled(x, k).tolist() == [k] * 4


def positive(x):
    assert (x > 0).all(), "not positive"
    return x * 2


def written(x):
    x.add_(1)
    torch._assert_async((x > 3).all(), "not above 3")
    return x * 2


def without_a_text(x):
    torch._assert_async((x > 0).all().view(1, 1))
    return x + 1


def beside_ops_that_are_left(x):
    y = torch.special.airy_ai(x)
    assert (y > 0).all(), "not positive"
    return torch.special.airy_ai(y * 2) + x


def of_a_flag(x):
    torch._assert_async(x[0] > 0, "the first")
    torch._assert_async(x[0] > 0, "the first")
    torch._assert_async((x * 0 + 1).all(), "never")
    return x + 1


def of_a_float(x):
    torch._check(x.sum().item() / 2 > x.size(0), lambda: "the mean")
    return x * 2


def of_an_int(x):
    n = x.long().max().item()
    torch._check(n > 1, lambda: "not above 1")
    return x * n, n + x.size(0)


def of_a_sum(x):
    n = x.long().max().item() - 2
    torch._check(n >= 1, lambda: "not above 2")
    torch._check(n <= x.size(0))
    return x.narrow(0, 0, n).sum()


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("function,text", [
    (positive, "not positive"), (written, "not above 3"), (without_a_text, "^Expected Tensor with single nonzero value"), (beside_ops_that_are_left, "not positive"), (of_a_flag, "the first"),
    (of_a_float, "zuf0|the mean"), (of_an_int, "u0 >= 2"), (of_a_sum, "u0 >= 3|u0 - 2 >= 1|not above 2|negative")])
def test_assertions_about_elements(function, text, is_dynamic, monkeypatch):
    """The error is that of PyTorch's own backends; what the call wrote to inputs is not undone."""
    monkeypatch.setattr(torch._dynamo.config, "capture_scalar_outputs", True)
    torch._dynamo.reset()
    compiled = helpers.compile(function, dynamic=is_dynamic, options={"fallback": "eager"})
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (4, 6):
            a, b = torch.full((n,), 4.0), torch.full((n,), 4.0)
            helpers.same(compiled(a), function(b))
            helpers.same(a, b)
            bad = torch.full((n,), -4.0)
            with pytest.raises(RuntimeError, match=text):
                compiled(bad)
            assert bad[0] == (-3 if function is written else -4)
        helpers.same(compiled(torch.full((6,), 5.0)), function(torch.full((6,), 5.0)))


def test_assertions_of_compiled_models():
    class Model(torch.nn.Module):
        def forward(self, x):
            torch._assert_async((x > 0).all(), "not positive")
            return x * 2

    compiled = luminal.compile(Model(), (torch.ones(4),), dynamic_shapes={"x": {0: torch.export.Dim("n", max=99)}})
    helpers.same(compiled(torch.ones(7)), torch.full((7,), 2.0))
    with pytest.raises(luminal.FailedAssertionError, match="^not positive$"):
        compiled(-torch.ones(3))
