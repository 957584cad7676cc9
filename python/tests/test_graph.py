# ===- test_graph.py - The steps of a program as a drawing ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import subprocess
import sys
import xml.etree.ElementTree

import conftest
import helpers
import luminal
import pytest
import torch
from luminal._drawing import Edge, Graph, Node
from luminal._profile import Profile, Step
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True, norm_first=True)
                                    for _ in range(2))
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def small():
    """Two steps in a box, and one beside it, with names that are markup elsewhere."""
    nodes = [Node("input", "input x", "input x"), Node("gemm", "gemm", "a.<b>&\"0 (gemm)", ("a",), "k0", ("a.w",)),
             Node("map", "map", "a (map)", ("a",), "k1"), Node("reduce", "</script>\\ (reduce)", "c", (), "k2"),
             Node("output", "output y", "output y")]
    return Graph(nodes, [Edge(0, 1, 5376), Edge(1, 2, 12), Edge(1, 3, math.nan), Edge(2, 3, 2_500_000), Edge(3, 4, 4)])


def shown(text):
    """The texts of a drawing, which is well-formed."""
    root = xml.etree.ElementTree.fromstring(text)
    return [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_graph(tmp_path):
    model, x = Model().eval(), torch.randn(2, 7, 32)
    compiled = luminal.compile(model, (x,))
    graph = luminal.graph(compiled)
    profile = compiled.profile()
    steps = [node for node in graph.nodes if node.kernel]
    assert [(node.name, node.kernel) for node in steps] == [(step.name, step.kernel) for step in profile.steps]
    assert {node.boxes[0] for node in steps if node.boxes} == {"layers.0", "layers.1"}
    assert any(node.label.startswith("head") and not node.boxes for node in steps)
    assert [node.label for node in graph.nodes if not node.kernel] == ["input x", f"output {compiled.artifact.outputs[0].name}"]
    # Most of what flows are 14 rows of floats.
    assert [edge.bytes for edge in graph.edges].count(4 * 14 * 32) > len(graph.edges) / 2
    assert graph.edges[-1].bytes == 4 * 2 * 5
    assert {edge.target for edge in graph.edges} >= set(range(1, len(graph.nodes)))
    assert all(edge.source < edge.target for edge in graph.edges)
    # The same model gives the same bytes, also where it is compiled for the drawing.
    again = luminal.graph(model, (x,))
    assert (again.html(), again.dot()) == (graph.html(), graph.dot())
    timed = luminal.graph(compiled, profile=profile)
    assert [node.ms for node in timed.nodes if node.kernel] == [step.ms for step in profile.steps]
    assert f"{profile.steps[0].ms:.4f} ms" in timed.dot() and f"{profile.ms:.4f} ms" in timed.html()
    assert "layers.0" in shown(timed.svg()) and "1.79 KB" in shown(timed.svg())
    compiled.save(tmp_path / "m.lum")
    for name, start in ("g.html", "<!DOCTYPE html>"), ("g.svg", "<svg"), ("g.dot", "digraph"):
        done = subprocess.run([sys.executable, "-m", "luminal", "graph", tmp_path / "m.lum", "-o", tmp_path / name],
                              capture_output=True, text=True, env=conftest.environment())
        assert done.returncode == 0 and (tmp_path / name).read_text().startswith(start), done.stderr


def test_text_for_graphviz():
    assert small().dot() == r'''digraph program {
  graph [fontname="sans-serif", style=rounded, color=gray];
  node [shape=box, style=rounded, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=10];
  n0 [label="input x", shape=ellipse, tooltip="input x"];
  subgraph cluster_0 {
    label="a";
    n1 [label="gemm\nk0", tooltip="a.<b>&\"0 (gemm)\nreads a.w"];
    n2 [label="map\nk1", tooltip="a (map)"];
  }
  n3 [label="</script>\\ (reduce)\nk2", tooltip="c"];
  n4 [label="output y", shape=ellipse, tooltip="output y"];
  n0 -> n1 [label="5.38 KB"];
  n1 -> n2 [label="12 B"];
  n1 -> n3 [label=""];
  n2 -> n3 [label="2.50 MB"];
  n3 -> n4 [label="4 B"];
}
'''


def test_page():
    graph = small()
    text = graph.html()
    page = helpers.Page(text)
    assert "http" not in text.replace("http://www.w3.org", "")
    items = [g for g in page.all("g") if g.get("class", "").startswith("i")]
    assert [g.get("data-n") for g in items] == ["0", None, "1", "2", "3", "4"]
    assert len(page.all("svg")) == 1 and len(page.all("script")) == 2 and len(page.all("button")) == 2
    assert "&lt;/script&gt;" in text and text.count("</script>") == 2
    assert {"a", "gemm", "2.50 MB"} <= set(shown(graph.svg()))
    # A notebook has the same, and where it runs no script the drawing.
    assert graph._repr_html_() in text and graph._repr_svg_() == graph.svg()


def test_closed_boxes():
    """Of many nodes a few are seen: boxes begin closed where all would be too many, and edges are those of boxes."""
    nodes = [Node("map", "map", "m", (f"layers.{i // 50}", f"part{i // 10 % 5}"), f"k{i}") for i in range(2000)]
    graph = Graph(nodes, [Edge(i, i + 1, 8) for i in range(1999)])
    text = graph.svg()
    boxes = [t for t in shown(text) if t.startswith("layers.")]
    assert boxes == [f"layers.{i}" for i in range(40)]
    assert "part0" in shown(text) and shown(text).count("50 nodes") == 39
    # Between 39 closed boxes, into them from the open one, and inside that.
    assert shown(text).count("8 B") == 39 + 4 + 9 and len(helpers.Page(graph.html()).all("g")) > 2200
    assert len(shown(graph.svg(10_000))) > 6000 > len(shown(text))


def test_errors(tmp_path):
    graph = small()
    with pytest.raises(luminal.ArgumentError, match="written as .html, .svg or .dot"):
        graph.save(tmp_path / "graph.png")
    assert not list(tmp_path.iterdir())
    with pytest.raises(luminal.ArgumentError, match="of another model"):
        graph.timed(Profile([Step("other (gemm)", "k0", 1.0, 0.0, 0.0, 1.0, 1)], 1))
    compiled = luminal.compile(nn.Linear(4, 4).eval(), (torch.randn(2, 4),))
    with pytest.raises(luminal.ArgumentError, match="arguments and options are for one that is not"):
        luminal.graph(compiled, (torch.randn(2, 4),))
    with pytest.raises(luminal.ArgumentError):
        luminal.graph(3)
