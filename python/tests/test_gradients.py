# ===- test_gradients.py - What a compiled function differentiates itself ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.func inside code that is compiled for inference, and training with another backend beside it."""
import subprocess
import sys
import textwrap

import conftest
import helpers
import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

X = torch.linspace(-2, 3, 12).reshape(3, 4)


def total(x):
    return (x.sin() * x.exp()).sum()


def partly(x):
    with torch.no_grad():
        held = x.cos()
    return (held * x.square()).sum()


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(x).tanh().sum()


torch.manual_seed(0)
LAYER = Layer()
WEIGHTS = {name: value.detach() for name, value in LAYER.named_parameters()}

FUNCTIONS = {
    "grad": grad(total), "grad of grad": grad(lambda x: grad(total)(x).square().sum()), "no_grad inside": grad(partly),
    "beside": lambda x: grad(total)(x) + grad(lambda y: y.pow(3).sum())(x.detach() + 1), "vjp": lambda x: vjp(torch.sin, x)[1](x)[0],
    "jvp": lambda x: jvp(torch.sin, (x,), (x + 1,))[1], "jacrev": jacrev(lambda x: x[0].exp()), "jacfwd": jacfwd(lambda x: x[0].exp()),
    "hessian": hessian(lambda x: x[1].pow(4).sum()), "of each row": vmap(grad(lambda row: row.pow(3).prod())),
    # Of these PyTorch's graph has one op, which has no derivative of its own there.
    "of norms": grad(lambda x: (nn.functional.layer_norm(x, (4,)) * nn.functional.group_norm(x, 2).exp()).sum()),
    "of a norm by its root": grad(lambda x: nn.functional.rms_norm(x, (4,)).exp().sum()),
    "of attention": grad(lambda x: nn.functional.scaled_dot_product_attention(x[None], x.cos()[None], x.exp()[None]).square().sum()),
    "of weights": lambda x: grad(lambda w: functional_call(LAYER, w, (x,)))(WEIGHTS),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("enabled", [True, False], ids=["with gradients", "without"])
def test_functions_of_torch_func(name, enabled):
    with torch.set_grad_enabled(enabled):
        torch.testing.assert_close(helpers.compile(FUNCTIONS[name])(X), FUNCTIONS[name](X), rtol=1e-5, atol=1e-5)


def test_a_backward_that_another_backend_compiles():
    """The backward is compiled while the rest of a function with a graph break runs."""
    code = """
        import torch
        import luminal._backend
        def f(x):
            x = x.detach().requires_grad_(True)
            return torch.autograd.grad(x.sin().sum(), x)[0]
        x = torch.randn(5)
        torch.testing.assert_close(torch.compile(f, backend="aot_eager")(x), x.cos())
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=300,
                   env=conftest.environment())
