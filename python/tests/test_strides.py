# ===- test_strides.py - Inputs that are not row-major -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import helpers
import luminal
import luminal._runner
import luminal._strides
import pytest
import torch
from torch import nn

FORMS = {
    "transposed": lambda: torch.randn(6, 4).t(),
    "channels last": lambda: torch.randn(2, 3, 5, 7).to(memory_format=torch.channels_last),
    "permuted with a dim of one": lambda: torch.randn(5, 1, 3, 4).permute(3, 1, 0, 2),
    "expanded": lambda: torch.randn(4, 1, 3).expand(4, 5, 3),
    "expanded in front": lambda: torch.randn(3).expand(4, 3),
    "expanded and permuted": lambda: torch.randn(4, 3).t()[:, None, :].expand(3, 2, 4),
    "sliced": lambda: torch.randn(8, 16)[:, 4:8],
    "sliced by steps": lambda: torch.randn(9, 12)[::2, ::3],
    "sliced and permuted": lambda: torch.randn(8, 6, 16)[:, 1:4, :8].permute(2, 0, 1),
    "sliced and expanded": lambda: torch.randn(8, 1, 16)[:, :, :4].expand(8, 3, 4),
    "a diagonal": lambda: torch.randn(5, 5).diagonal(),
    "windows that overlap": lambda: torch.randn(20).unfold(0, 8, 4),
    "bools": lambda: (torch.randn(6, 4) > 0).t(),
    "halves": lambda: torch.randn(6, 4).half().t(),
}


@pytest.fixture
def copied(monkeypatch):
    """For each input, the number of calls in which it was copied."""
    counts = []
    run = luminal._runner.run_tensors

    def watched(artifact, tensors, *args, **kwargs):
        bound = kwargs["in_place"].bind(tensors) if kwargs.get("in_place") is not None else tensors
        counts.append(sum(a.data_ptr() != b.data_ptr() or not b.is_contiguous() for a, b in zip(tensors, bound)))
        return run(artifact, tensors, *args, **kwargs)

    monkeypatch.setattr(luminal._runner, "run_tensors", watched)
    return counts


def close(got, expected):
    """``luminal.compile`` returns row-major tensors."""
    torch.testing.assert_close(got, expected, check_stride=False)


def function(x):
    return x.logical_not() if x.dtype == torch.bool else (x * 2 + 1, x.sum(-1))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("grad", [False, True])
def test_read_in_place(form, grad, copied, compiles):
    x = FORMS[form]()
    compiled = helpers.compile(function, dynamic=False)
    with torch.set_grad_enabled(grad):
        for _ in range(2):
            helpers.same(compiled(x), function(x))
            x = FORMS[form]()
    assert not any(copied) and len(compiles) == 1


@pytest.mark.parametrize("form", FORMS)
def test_compiled_as_a_whole(form):
    """No guard covers the strides of later calls: a layout that can be restored by a copy is read in place."""
    x = FORMS[form]()
    compiled = luminal.compile(function, (x,))
    for other in (FORMS[form](), x.clone(memory_format=torch.contiguous_format), x):
        close(compiled(other), function(other))
    told = str(compiled.report).splitlines()[-1]
    if form.startswith(("expanded", "windows")) or form.endswith("and expanded"):
        assert compiled.report.in_place is None and "in place" not in told
    else:
        assert told == "  read in place: x (copied in 1 calls)"


def test_memory_that_kernels_cannot_read_is_copied(copied):
    compiled = helpers.compile(lambda x: x.exp(), dynamic=False)
    storage = torch.randn(8, 64)
    for start in (0, 4, 1, 3):
        x = storage[:, start:start + 16]
        helpers.same(compiled(x), x.exp())
    assert copied == [0, 0, 1, 1]
    turned = helpers.compile(lambda x: x.exp(), dynamic=False)
    for start in (0, 1):
        x = torch.randn(49)[start:start + 48].view(6, 8).t()
        helpers.same(turned(x), x.exp())


def test_dynamic_sizes(copied, compiles):
    compiled = helpers.compile(lambda x: (x @ x.t() + x.shape[1]).softmax(-1), dynamic=True)
    for n, m in ((3, 5), (4, 9), (7, 2)):
        x = torch.randn(m, n).t()
        helpers.same(compiled(x), (x @ x.t() + m).softmax(-1))
    assert len(compiles) == 1 and copied == [0, 0, 0]
    whole = luminal.compile(lambda x: x.exp(), (torch.randn(5, 3).t(),), dynamic_shapes=({0: torch.export.Dim("n", max=9)},))
    for n in (3, 8):
        x = torch.randn(5, n).t()
        close(whole(x), x.exp())


def test_weights(compiles):
    """A transposed tensor as a weight is a weight too: values that depend on it alone are computed once."""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(64, 64).t(), requires_grad=False)

        def forward(self, x):
            return x @ (self.w / self.w.norm(dim=0, keepdim=True))

    model, x = Model(), torch.randn(2, 64)
    compiled = helpers.compile(model)
    helpers.same(compiled(x), model(x))
    model.w.mul_(torch.arange(1.0, 65.0)[:, None])
    helpers.same(compiled(x), model(x))
    model.w.data = torch.randn(64, 64).t()
    helpers.same(compiled(x), model(x))
    model.w.data = torch.randn(64, 64)
    helpers.same(compiled(x), model(x))


def test_views_and_writes_beside_it():
    def function(x, y):
        y.add_(x.sum(1))
        return x.t(), x[1:] * 2, y

    compiled = helpers.compile(function)
    x, ours = torch.randn(5, 4).t(), torch.zeros(4)
    theirs = ours.clone()
    results, expected = compiled(x, ours), function(x, theirs)
    helpers.same(results, expected)
    assert results[0].data_ptr() == x.data_ptr() and torch.allclose(ours, theirs)


def test_written_memory_between_the_elements(copied):
    def function(x, y):
        y.mul_(2)
        return x + 1, x.t() - 1

    ours, theirs = (torch.arange(100.0).reshape(10, 10) for _ in range(2))
    helpers.same(helpers.compile(function)(ours[:, :4], ours[0, 4:8]), function(theirs[:, :4], theirs[0, 4:8]))
    assert torch.equal(ours, theirs)


def test_between_parts():
    """An eager op may return other strides than in the trace."""
    def function(x):
        return torch.linalg.eigvalsh(x.t() @ x).cos() + x.t().sum()

    x = torch.randn(4, 4).t()
    with pytest.warns(UserWarning, match="does not support"):
        helpers.same(helpers.compile(function, options={})(x), function(x))


def test_saved_as_it_is_called(tmp_path):
    x = torch.randn(6, 4).t()
    compiled = luminal.compile(lambda x: x * 2, (x,))
    assert compiled.artifact.inputs[0].shape == (6, 4)
    compiled.save(tmp_path / "m.lum")
    model = luminal.load(tmp_path / "m.lum")
    assert model.inputs[0].shape == (4, 6)
    close(model(x)[0], x * 2)


def test_option_and_errors(copied):
    x = torch.randn(6, 4).t()
    compiled = helpers.compile(lambda x: x * 2, options={"in_place": False, "fallback": "error"})
    helpers.same(compiled(x), x * 2)
    assert copied == [1]
    whole = luminal.compile(lambda x: x * 2, (x,))
    with pytest.raises(luminal.ShapeError, match="dim 0 of 'x' is 6, expected 4"):
        whole(torch.randn(6, 4))
    with pytest.raises(luminal.DTypeError):
        whole(x.double())
    assert "read in place: " in str(luminal.explain(lambda x: x * 2)(x))


def test_layouts():
    def find(x, is_guarded=True):
        return luminal._strides.find(x, is_guarded, False)

    assert find(torch.randn(3, 4)) is None and find(torch.randn(0, 4).t()) is None
    layout = find(torch.randn(2, 3, 4).permute(2, 0, 1))
    assert layout.order == (1, 2, 0) and layout.strides is None and layout.is_injective
    # Two dims that interleave in memory share no element, but this test of strides does not recognise that.
    assert not find(torch.empty(64).as_strided((4, 4), (3, 4))).is_injective
    assert find(torch.empty(64).as_strided((4, 4), (2, 1)), False) is None
    assert find(torch.empty(64).as_strided((4, 4), (16, 2)), False).is_injective
    layout = find(torch.randn(3).expand(2, 3))
    strided = luminal._strides.Strided({0: layout}, [luminal._artifact.Tensor("x", "float32", (3,), ("3",), False, False)])
    with pytest.raises(luminal.CallError, match=r"'x' has strides \(3, 1\): the program was compiled for \(0, 1\)"):
        strided.bind([torch.randn(2, 3)])


def test_tensors_that_are_negated_when_they_are_read():
    def write(x, y):
        x.mul_(y)
        return x + 1

    x, y = torch.randn(2, 3, dtype=torch.complex64), torch.randn(2, 3)
    negated, twin = x.conj().imag, x.clone().conj().imag
    assert negated.is_neg()
    compiled = helpers.compile(write)
    with torch.no_grad():
        for _ in range(2):
            helpers.same(compiled(negated, y), write(twin, y))
            helpers.same(negated.resolve_neg(), twin.resolve_neg())
        helpers.same(compiled(y.clone(), y), y * y + 1)
    with pytest.raises(luminal.DeviceError, match="resolve_neg"):
        luminal.compile(lambda x: x + 1, (y,))(negated)


@pytest.mark.parametrize("transposed", [(True, True), (True, False), (False, True), (False, False)])
def test_attention_of_any_head_size(transposed):
    """Outputs have the memory order of the query, even if the head size is symbolic."""
    def inputs(batch, time, width):
        q, *rest = (torch.randn(batch, time, 4, width).transpose(1, 2) for _ in range(3))
        query_is, others_are = transposed
        return [q if query_is else q.contiguous(), *(t if others_are else t.contiguous() for t in rest)]

    def function(q, k, v):
        result = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return result, result.transpose(1, 2).flatten(2)

    torch._dynamo.reset()
    compiled = helpers.compile(function, dynamic=True)
    for sizes in ((2, 5, 8), (2, 6, 8), (3, 7, 12)):
        args = inputs(*sizes)
        helpers.same(compiled(*args), function(*args))
