# ===- test_mistakes.py - What a user does wrong, and the sentence that says so --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each mistake in Python raises a LuminalError of one line that names the problem, and the line of the user's code if the
model is at fault. test/Tools/mistakes.test has the mistakes on the command line."""
import inspect
import warnings

import luminal
import pytest
import torch
from luminal import _backend
from luminal._options import Options, OptionValues
from torch import nn

X = torch.randn(4, 4)


def branch(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def narrow(x):
    return x[:int(x.sum().item())]


def divide(x):
    return x / (1 // 0)


class Inverse(nn.Module):
    def forward(self, x):
        return torch.linalg.inv(x + 1)


def condition(x):
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return f"test_mistakes.py:{first + next(i for i, line in enumerate(lines) if text in line)}"


def quantised():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 4)).eval(), {nn.Linear}, dtype=torch.qint8)


def linear():
    return nn.Linear(4, 4).eval()


def artifact(folder):
    path = folder / "model.lum"
    luminal.compile(linear(), (X,)).save(path)
    return path


def rules(folder, name):
    path = folder / name
    path.write_text("""
pdl.pattern @Twice : benefit(0) attributes {eqsat.promise = "rounding(2)"} {
  %t = pdl.type
  %x = pdl.operand
  %inner = pdl.operation "hlir.recip"(%x : !pdl.value) -> (%t : !pdl.type)
  %recip = pdl.result 0 of %inner
  %root = pdl.operation "hlir.recip"(%recip : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}""")
    return path


def text_file(folder):
    path = folder / "text.pt2"
    path.write_text("no archive")
    return path


def of_torch_compile(function, **options):
    """torch.compile raises its own exception, which contains ours."""
    try:
        torch.compile(function, backend=_backend.backend, options={"fallback": "error", **options})(X)
    except torch._dynamo.exc.BackendCompilerFailed as error:
        raise error.inner_exception from None


DIM = torch.export.Dim("n")
SPECIFIC = {
    "a branch on what a tensor holds": (lambda _: luminal.compile(branch, (X,)), luminal.CompileError, line_of(branch, "if")),
    "a size from what a tensor holds": (lambda _: luminal.compile(narrow, (X,)), luminal.CompileError, line_of(narrow, "item")),
    "the model's own error": (lambda _: luminal.compile(divide, (X,)), luminal.CompileError, line_of(divide, "//")),
    "shapes that do not fit": (lambda _: luminal.compile(nn.Linear(5, 4), (X,)), luminal.CompileError, "[4, 4] X [5, 4]"),
    "an inverse": (lambda _: luminal.compile(Inverse(), (X,)), luminal.UnsupportedOpError, line_of(Inverse, "inv(")),
    "an inverse, torch.compile": (lambda _: of_torch_compile(Inverse()), luminal.UnsupportedOpError, line_of(Inverse, "inv(")),
    "torch.cond": (lambda _: luminal.compile(condition, (X,)), luminal.UnsupportedOpError, "test_mistakes.py:"),
    "torch.cond, torch.compile": (lambda _: of_torch_compile(condition), luminal.UnsupportedOpError, line_of(condition, "cond(x")),
    "a quantised module": (lambda _: luminal.compile(quantised(), (X,)), luminal.CompileError, "'0._packed_params'"),
    "a scripted module": (lambda _: luminal.compile(torch.jit.script(linear()), (X,)), luminal.ArgumentError, "TorchScript"),
    "a compiled model": (lambda _: luminal.compile(luminal.compile(linear(), (X,)), (X,)), luminal.ArgumentError, "compiled already"),
    "an artifact": (lambda f: luminal.compile(artifact(f)), luminal.ArgumentError, "luminal.load runs it"),
    "no archive": (lambda f: luminal.compile(text_file(f)), luminal.ArgumentError, "not an archive of torch.export"),
    "no file": (lambda f: luminal.compile(f / "none.pt2"), luminal.ArgumentError, "there is no such file"),
    "no model": (lambda _: luminal.compile(3, ()), luminal.ArgumentError, "model is a int"),
    "too many arguments": (lambda _: luminal.compile(linear(), (X, X)), luminal.ArgumentError, "too many positional"),
    "no arguments": (lambda _: luminal.compile(linear()), luminal.ArgumentError, "missing a required argument: 'input'"),
    "no tuple": (lambda _: luminal.compile(linear(), X), luminal.ArgumentError, "args is a Tensor: expected a tuple"),
    "no dict": (lambda _: luminal.compile(linear(), (X,), [1]), luminal.ArgumentError, "kwargs is a list: expected a dict"),
    "a name of no input": (lambda _: luminal.compile(linear(), (X,), {"a": 1}), luminal.ArgumentError, "keyword argument 'a'"),
    "a fixed dim as dynamic": (lambda _: luminal.compile(linear(), (X,), dynamic_shapes=({1: DIM},)), luminal.ArgumentError,
                               "specialized it to be a constant (4)"),
    "dynamic shapes of no input": (lambda _: luminal.compile(linear(), (X,), dynamic_shapes={"a": None}), luminal.ArgumentError,
                                   "must be the arg names ['input']"),
    "an option that there is not": (lambda _: luminal.compile(linear(), (X,), budget=1), luminal.ArgumentError, "no option 'budget'"),
    "a bad precision": (lambda _: luminal.compile(linear(), (X,), precision="fast"), luminal.ArgumentError,
                        "expected 'exact', 'rounding' or 'finite'"),
    "one file of rules": (lambda _: luminal.compile(linear(), (X,), rules="a.mlir"), luminal.ArgumentError, "expected a list"),
    "rules of no file": (lambda _: luminal.compile(linear(), (X,), rules=["a.mlir"]), luminal.ArgumentError, "names 'a.mlir'"),
    "rules of no file, torch.compile": (lambda _: of_torch_compile(branch, rules=["a.mlir"]), luminal.ArgumentError, "names 'a.mlir'"),
    "rules in PDLL": (lambda f: luminal.compile(linear(), (X,), rules=[rules(f, "rules.pdll")]), luminal.LuminalError,
                      "rules.pdll: is PDLL, which is not supported"),
    "to bench a number": (lambda _: luminal.bench(3), luminal.ArgumentError, "model is a int"),
    "to explain a number": (lambda _: luminal.explain(3), luminal.ArgumentError, "function is a int"),
    "another element type": (lambda _: luminal.compile(linear(), (X,))(X.double()), luminal.DTypeError, "float64, expected float32"),
    "another size": (lambda _: luminal.compile(linear(), (X,))(X[:2]), luminal.ShapeError, "is 2, expected 4"),
    "gradients": (lambda _: luminal.compile(nn.Linear(4, 4), (X,))(X).sum().backward(), luminal.TrainingError, "no gradients"),
    "to load text": (lambda f: luminal.load(text_file(f)), luminal.ArtifactError, "text.pt2"),
}
if not torch.cuda.is_available():
    SPECIFIC["no GPU"] = (lambda _: luminal.compile(linear(), (X,), device="cuda"), luminal.DeviceError, "finds no NVIDIA GPU")


@pytest.mark.parametrize("name", SPECIFIC)
def test_mistake(name, tmp_path, capfd):
    act, kind, text = SPECIFIC[name]
    with pytest.raises(kind) as caught:
        act(tmp_path)
    message = str(caught.value)
    assert text in message and len(message.splitlines()) == 1 and len(message) < 400, message
    assert "eval_with_key" not in message and "/proc/" not in message and "/luminal/_" not in message
    assert capfd.readouterr().err == ""  # PyTorch does not print the error again


def test_rules_of_no_use_are_told(tmp_path):
    path = rules(tmp_path, "rules.mlir")
    with pytest.warns(luminal.LuminalWarning, match="rule 'Twice' is not used: its promise rounding.2. is not admitted"):
        luminal.compile(linear(), (X,), rules=[path], precision="exact")
    with warnings.catch_warnings():
        warnings.simplefilter("error", luminal.LuminalWarning)
        luminal.compile(linear(), (X,), rules=[path])
    path.write_text(path.read_text().replace("rounding(2)", "exact"))
    with pytest.warns(luminal.LuminalWarning, match="rule 'Twice' promises exact, but on sampled tensors of f32 its right side gives"):
        luminal.compile(linear(), (X,), rules=[path], plan_cache=str(tmp_path))


def test_options_are_in_the_signatures():
    options = vars(Options())
    for function in (luminal.compile, luminal.explain, luminal.explore):
        parameters = inspect.signature(function).parameters
        assert {name: parameters[name].default for name in options} == options
        assert all(p.kind != inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    assert list(OptionValues.__annotations__) == list(options)


def test_dir():
    assert set(dir(luminal)) == {*luminal.__all__, "__version__"} >= {"bench", "compile", "explain", "explore", "load", "devices"}
    assert all(getattr(luminal, name) is not None for name in dir(luminal))
