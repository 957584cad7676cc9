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
    """They are PyTorch's where it may run them; else the size is that of the call, and others compile anew."""
    def function(x):
        return x.new_ones(math.ceil(x.shape[0] / 3) * 2, x.shape[1]).cumsum(0) * x.sum() * (x.shape[0] / 2)

    texts = check(function, [(4, 5), (7, 5), (7, 9)], helpers.compile(function, dynamic=True))
    assert len(texts[0]) == len(texts[1]) == 1 and "has an argument that is a float" in texts[0][0]
    assert " = 4 alone" in texts[0][0] and " = 7 alone" in texts[1][0] and texts[2] == []


def test_what_is_not_proved(monkeypatch):
    """As mamba's scan: no op is at fault, and the compiler names the size."""
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
    """PyTorch says so, and names the dim."""
    def function(x):
        return x * math.ceil(x.shape[0] / 3) + (x.shape[0] / 2)

    x = torch.randn(4, 5)
    torch._dynamo.mark_dynamic(x, 0)
    violated = torch.fx.experimental.symbolic_shapes.ConstraintViolationError
    with pytest.raises(violated, match="size..\\[0\\]"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        helpers.compile(function)(x)
