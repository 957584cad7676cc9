# ===- conftest.py - What every test of the package starts from -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import sys

import pytest
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import luminal._backend


@pytest.fixture(autouse=True)
def start_afresh(tmp_path_factory, monkeypatch):
    """Gives each test an empty compiler state, a cache that only this test run uses, and the same random numbers."""
    monkeypatch.setenv("LUMINAL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    torch._dynamo.reset()
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def compiles(monkeypatch):
    """A list to which each compilation of a graph appends the number of its nodes."""
    counts = []
    whole = luminal._backend.compile_whole

    def count(compile_archive, options, graph_module):
        runner = whole(compile_archive, options, graph_module)
        counts.append(len(graph_module.graph.nodes))
        return runner

    monkeypatch.setattr(luminal._backend, "compile_whole", count)
    return counts


def environment():
    """The environment of a process that imports the package from the source tree."""
    paths = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
