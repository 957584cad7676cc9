# ===- test_progress.py - A line while a compile goes on --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import io
import itertools
import sys
import time
import types

import helpers
import pytest
import torch
from luminal import _cache, _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(_progress, "_QUIET_SECONDS", 0.01)
    monkeypatch.setattr(_progress, "_STEP_SECONDS", 0.01)


def test_terminal(quick, monkeypatch):
    """The line grows during a compilation and is removed afterwards."""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    compiled = helpers.compile(lambda x: (x @ x).softmax(-1), options={"fallback": "error", "cache": False})
    compiled(torch.randn(4, 4))
    shown = terminal.getvalue().split("\r")
    assert "luminal: compiling, 0 s" in shown and shown[-2].isspace() and shown[-1] == ""


def wait_for(text, stream):
    """Waits for the text, allowing for a slow machine."""
    end = time.monotonic() + 60
    while text not in stream.getvalue():
        assert time.monotonic() < end, stream.getvalue()
        time.sleep(0.01)


def test_budget(quick, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    clock = itertools.count()
    monkeypatch.setattr(_progress, "time", types.SimpleNamespace(perf_counter=lambda: next(clock) / 4))
    full = "searching [########################]"
    monkeypatch.setattr(_cache._capi, "compile_bytes", lambda *_: (wait_for(full, terminal), (b"", []))[1])
    _cache.compile_archive(b"", _cache.Options(search_budget=8.0, cache=False), [])
    shown = terminal.getvalue()
    assert shown.index("searching [......") < shown.index("searching [############....") < shown.index(full)


def test_notebook(quick, monkeypatch):
    shell = types.SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys, "stderr", notebook := io.StringIO())
    with _progress.shown():
        wait_for("luminal: compiling", notebook)


def test_errors_end_it(quick, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with pytest.raises(ValueError), _progress.shown():
        wait_for("luminal: compiling", terminal)
        raise ValueError
    length = len(terminal.getvalue())
    time.sleep(0.05)
    assert len(terminal.getvalue()) == length and terminal.getvalue().endswith("\r")


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_nobody_looks(quick, monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    with _progress.shown():
        time.sleep(0.05)
    assert stream is None or not stream.getvalue()
