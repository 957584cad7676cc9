# ===- test_archive.py - A graph as the bytes of an archive -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that writing an archive does no unnecessary work."""
import pytest
import torch

import luminal
import luminal._backend
from luminal import _graph


@pytest.fixture
def printed(monkeypatch):
    """The graphs for which Python code was generated."""
    graphs, generate = [], torch.fx.Graph.python_code

    def generating(graph, *args, **kwargs):
        graphs.append(graph)
        return generate(graph, *args, **kwargs)

    monkeypatch.setattr(torch.fx.Graph, "python_code", generating)
    return graphs


MODEL = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh()).requires_grad_(False)


def test_no_code_is_generated_of_a_model_to_write_it(printed):
    compiled = luminal.compile(MODEL, (torch.randn(3, 5),))
    printed.clear()
    assert compiled._input()
    assert not printed


def test_no_code_is_generated_of_a_graph_to_write_it(monkeypatch, printed):
    made, make = [], _graph.make_program

    def making(*args, **kwargs):
        before = len(printed)
        program = make(*args, **kwargs)
        made.append(len(printed) - before)
        return program

    monkeypatch.setattr(_graph, "make_program", making)
    x = torch.randn(3, 5)
    torch.testing.assert_close(torch.compile(MODEL, backend=luminal._backend.backend)(x), MODEL(x))
    assert made == [0]
