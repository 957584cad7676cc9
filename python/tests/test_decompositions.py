# ===- test_decompositions.py - Decompositions of the package's own --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of lists of tensors, which optimizers and gradient clipping use, are compiled tensor by tensor; spaces of integers have the
elements of PyTorch's kernels."""
import warnings

import pytest
import torch
from luminal._backend import backend
from torch.utils import _pytree as pytree


def tensors(seed, low=-2.0):
    generator = torch.Generator().manual_seed(seed)
    return [low + 3 * torch.rand(shape, generator=generator) for shape in ((3, 4), (5,), ())]


def check(function, *args):
    """The results and what is written to the arguments are eager PyTorch's, and no op is left to PyTorch."""
    ours, theirs = (pytree.tree_map_only(torch.Tensor, torch.clone, args) for _ in range(2))
    torch._dynamo.reset()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = function(*theirs)
        got = torch.compile(function, backend=backend, options={"cache": False}, fullgraph=True)(*ours)
    torch.testing.assert_close((got, ours), (expected, theirs))


P, Q, W = tensors(1), tensors(2), tensors(3, low=0.1)
UNARY = ["abs", "ceil", "cos", "erf", "exp", "expm1", "floor", "log", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sqrt", "tanh", "trunc"]
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max", "pow"]


def foreach(name):
    return getattr(torch, f"_foreach_{name}")


def test_functions_of_one_list():
    check(lambda w: [foreach(name)(w) for name in UNARY], W)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name):
    """A list, a number, and a list of numbers."""
    f = foreach(name)
    check(lambda w, q: (f(w, q), f(w, 0.7), f(w, [2.0, 3.0, 0.5])), W, Q)


def test_scaled_and_mixed():
    number = torch.tensor(0.5)
    check(lambda p, q, w, s: (foreach("add")(p, q, alpha=0.3), foreach("sub")(p, q, alpha=2), foreach("mul")(p, s), foreach("add")(p, s, alpha=2), foreach("div")(p, s),
                              foreach("addcdiv")(p, q, w, -0.1), foreach("addcdiv")(p, q, w, [1.0, 2.0, 3.0]), foreach("addcmul")(p, q, w), foreach("lerp")(p, q, 0.3),
                              foreach("lerp")(p, q, w), foreach("pow")(2.0, p)), P, Q, W, number)


@pytest.mark.parametrize("order", [1, 2, float("inf")])
def test_norms(order):
    check(lambda p: (foreach("norm")(p, order), torch.nn.utils.get_total_norm(p, order)), P)


def test_steps_write_to_their_arguments():
    def step(p, g, m, v):
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(g)))
        torch._foreach_mul_(g, (1 / (norm + 1e-6)).clamp(max=1))
        torch._foreach_lerp_(m, g, 0.1)
        torch._foreach_mul_(v, 0.999)
        torch._foreach_addcmul_(v, g, g, 0.001)
        root = torch._foreach_sqrt(v)
        torch._foreach_add_(root, 1e-8)
        torch._foreach_addcdiv_(p, m, root, -0.01)
        torch._foreach_zero_(g)
        return norm

    check(step, P, Q, tensors(4), W)


def test_spaces_of_integers_between_tensors():
    """PyTorch's decomposition does not truncate the ends, and divides in f32; its kernels do not."""
    def spaces(a, b):
        return (torch.linspace(a, b, 50, dtype=torch.int64), torch.linspace(a, 7, 50, dtype=torch.int32), torch.linspace(0, b, 3, dtype=torch.int16),
                torch.linspace(a, b, 5))

    torch._dynamo.reset()
    for ends in ((4.3, -3.0), (0.0, 7.0), (4.3, 1.9)):
        args = [torch.tensor(end) for end in ends]
        torch.testing.assert_close(torch.compile(spaces, backend=backend)(*args), spaces(*args))
