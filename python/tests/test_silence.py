# ===- test_silence.py - What PyTorch runs itself is said, and why ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import subprocess
import sys
import warnings

import conftest
import helpers
import luminal
import pytest
import torch
from luminal import _backend
from torch import nn

X = torch.randn(4, 4)
RNN = "Dynamo does not support RNN, GRU, or LSTM"


def heard(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if issubclass(w.category, luminal.LuminalWarning)]


def test_dynamo_skips():
    lstm = nn.LSTM(4, 4).eval()
    for _ in range(2):  # torch forgets its callbacks at a reset
        texts = heard(lambda: torch.compile(lstm, backend=_backend.backend)(X))
        assert len(texts) == 1 and RNN in texts[0] and "luminal compiles nothing" in texts[0] and "\n" not in texts[0]
        torch._dynamo.reset()
    assert not heard(lambda: torch.compile(lstm, backend="eager")(X))
    assert not heard(lambda: torch.compile(lambda x: x.sin(), backend=_backend.backend)(X))
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match=RNN):
        assert not heard(lambda: torch.compile(lstm, backend=_backend.backend, fullgraph=True)(X))


class Inner(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x.sin())


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
@pytest.mark.parametrize("name", ["LSTM", "quantised"])
def test_a_break_inside_of_a_module(name):
    layers = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4) if name == "LSTM" else nn.ReLU()).eval()
    if name == "quantised":
        layers = torch.ao.quantization.quantize_dynamic(layers, {nn.Linear})
    for model in layers, Inner(layers):
        torch._dynamo.reset()
        with torch.no_grad():
            texts = heard(lambda: torch.compile(model, backend=_backend.backend)(X))
        assert len(texts) == 1 and "itself, between graphs that luminal compiles: " in texts[0] and "\n" not in texts[0]
        assert (RNN if name == "LSTM" else "as_proxy()") in texts[0] and ("LSTM(4, 4)" in texts[0]) == (name == "LSTM")
        assert ("test_silence.py:" in texts[0]) == isinstance(model, Inner)
        assert not heard(lambda: torch.compile(model, backend="eager")(X))
    found = luminal.explain(layers)(X)
    assert len(found.breaks) == 1 and not found.notes


def test_a_loop_that_breaks():
    def function(x):
        for _ in range(2):
            print(end="")
            x = x.sin()
        return x

    texts = heard(lambda: helpers.compile(function)(X))
    assert len(texts) == 1 and "PyTorch runs function itself" in texts[0] and "`print`" in texts[0]
    assert "test_silence.py:" in texts[0]


def test_nothing_is_compiled():
    texts = heard(lambda: helpers.compile(torch.linalg.eigvalsh, options={})(X))
    assert len(texts) == 1 and "compiles nothing of it: aten._linalg_eigh" in texts[0]


def test_explain():
    found = luminal.explain(nn.LSTM(4, 4).eval())(X)
    assert not found.graphs and str(found) == repr(found)
    assert "0 graphs, 1 break: PyTorch runs all of it, nothing is compiled\n" in str(found) and RNN in str(found)
    assert helpers.Page(found._repr_html_()).all("table") and RNN in found._repr_html_() and "nothing is compiled" in found._repr_html_()
    found = luminal.explain(torch.linalg.eigvalsh)(X)
    assert "1 graph, 0 breaks: PyTorch runs all of it" in str(found) and "_linalg_eigh" in str(found)
    assert helpers.Page(found._repr_html_()).all("table") and "_linalg_eigh" in found._repr_html_()


@pytest.mark.parametrize("model, text", [(nn.LSTM(4, 4).eval(), RNN), (torch.linalg.eigvalsh, "compiles nothing of it")])
def test_bench(model, text):
    table = luminal.bench(model, (X,), forms=("eager", "luminal"), rounds=1, seconds=0.001)
    assert not table[0].notes and any(text in note for note in table[1].notes)
    assert len(helpers.Page(table._repr_html_()).all("tr")) == 3 and text in table._repr_html_() and text in str(table) and str(table) == repr(table)
    assert any("no graph was compiled" in note for note in table[1].notes) == isinstance(model, nn.LSTM)


@pytest.mark.parametrize("level, told, untold", [
    ("info", ("compiled in", "PyTorch breaks a graph", "logs.py:"), ("--target=cpu",)), ("DEBUG", ("compiled in", "--target=cpu"), ()),
    ("", (), ("luminal:",)), ("loud", ("LUMINAL_LOG is 'loud': expected info or debug",), ("compiled in",))])
def test_log(level, told, untold, tmp_path):
    (tmp_path / "logs.py").write_text("import torch\nfrom luminal._backend import backend\ndef f(x):\n    x = x.sin()\n    print()\n"
                                      "    return x.cos()\ntorch.compile(f, backend=backend)(torch.ones(3))\n")
    done = subprocess.run([sys.executable, tmp_path / "logs.py"], capture_output=True, text=True, check=True,
                          env={**conftest.environment(), "LUMINAL_LOG": level, "LUMINAL_CACHE": str(tmp_path / "cache")})
    assert all(text in done.stderr for text in told) and not any(text in done.stderr for text in untold), done.stderr
