# ===- test_tools.py - Reports, explain, bench, the command line -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import html
import re
import subprocess
import sys

import conftest
import helpers
import luminal
import numpy
import pytest
import torch
from torch import nn


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4)).eval()


def test_report(model):
    report = luminal.compile(model, (torch.randn(8, 16),)).report
    assert report.stop == "saturated" and report.data["target"] == "cpu"
    # Weights may be prepared by kernels of their own.
    assert sum(kernel.steps for kernel in report.kernels) == report.steps + len(report.prepare) and report.steps >= 1
    assert all(kernel.kind in str(report) for kernel in report.kernels)
    assert any(rule.ops > 0 for rule in report.rules) and set(report.phases) >= {"imported", "fused"}
    assert len(helpers.Page(report._repr_html_()).all("tr")) == 1 + len(report.program)
    # Every step is reported with all its properties.
    steps = [*report.program, *report.prepare]
    assert len(report.program) == report.steps and {s.kernel for s in steps} == {k.name for k in report.kernels}
    for step in steps:
        assert step.name in str(report) and step.bytes > 0 and step.seconds > 0 and 0 < step.roofline <= 1 and ".py:" in step.source
        assert step.schedule.startswith("#llir.loops<") and step.why and step.why in str(report)


def test_report_of_a_gpu(tmp_path):
    """Library calls have no predicted time, but a roofline bound."""
    torch.export.save(torch.export.export(nn.Linear(512, 512), (torch.randn(256, 512),)), tmp_path / "model.pt2")
    done = run(tmp_path, "compile", "model.pt2", "-o", "m.lum", "--", "--target=cuda", "--arch=sm_90a", "--report=report.json")
    assert done.returncode == 0, done.stderr
    report = luminal._report.Report.read(tmp_path / "report.json")
    (step,) = report.program
    assert step.kernel == "cublaslt_matmul" and step.seconds is None and step.least > 0 and step.bytes > 0 and step.why
    assert luminal._report_page.by_module(report.program) == [("Linear", step.least)]
    assert "of a library" in report.html().lower() and " - " in str(report)


class Functions(nn.Module):
    def forward(self, x):
        return torch.erf(x) / (x + 2) + torch.rsqrt(x * x + 1) + nn.functional.gelu(x)


def test_report_names_all_rules(tmp_path):
    rules = {rule.name: rule for rule in luminal.compile(Functions(), (torch.randn(4, 8),)).report.rules}
    assert {"Erf", "Div", "Rsqrt", "Gelu"} <= rules.keys()
    # Other rules replaced the ops of these.
    assert rules["Rsqrt"].ops == 0 and rules["Rsqrt"].steps > 0
    assert all(rule.steps > 0 for rule in rules.values())


def test_page_of_a_report(model, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "plans"))
    compiled = luminal.compile(model, (torch.randn(8, 16),), search_candidates=2, report=str(tmp_path / "report.json"))
    text = compiled.report.html()
    assert {"Gemm", "Gelu"} <= {rule.name for rule in compiled.report.rules}
    page = helpers.Page(text)
    assert "http" not in text.replace("http://www.w3.org", "")
    assert [len(page.all("svg")), len(page.all("circle"))] == [3, len([s for s in compiled.report.program if s.flops])]
    for circle in page.all("circle"):
        assert 70 <= float(circle["cx"]) <= 710 and 20 <= float(circle["cy"]) <= 280
    for told in (compiled.report, text):
        assert "programs tried" in str(told) and "won" in str(told) and "timing kernels" in str(told)
    assert all(html.escape(step.name) in text and html.escape(step.why) in text for step in compiled.report.program)
    done = run(tmp_path, "report", "report.json", "-o", "report.html")
    assert done.returncode == 0 and (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>"), done.stderr
    done = run(tmp_path, "report", "report.json")
    assert done.returncode == 0 and "of roofline" in done.stdout and "rules: " in done.stdout, done.stderr
    (tmp_path / "other.json").write_text("[1]")
    done = run(tmp_path, "report", "other.json")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "is not a report of a compilation" in done.stderr


def test_report_of_a_search_is_of_what_runs(tmp_path, monkeypatch):
    """The report describes the search that found the program, because another search may find another one; a cached
    artifact has no names of a particular model."""
    monkeypatch.setenv("LUMINAL_CACHE", str(tmp_path / "cache"))
    compiles, compile_bytes = [], luminal._capi.compile_bytes
    monkeypatch.setattr(luminal._capi, "compile_bytes", lambda *given: compiles.append(given) or compile_bytes(*given))

    class First(nn.Module):
        def forward(self, x):
            return x.exp().sum(-1)

    class Third(First):  # the same graph
        pass

    def compiled(kind):
        return luminal.compile(kind(), (torch.ones(4, 16),), search_candidates=1, plan_cache=str(tmp_path / "plans"))

    first, second, third = compiled(First), compiled(First), compiled(Third)
    for model in first, second:
        assert [step.name for step in model.report.program] == [step.name for step in model.profile().steps]
        assert "First (" in str(model.report) and model.report.searches and not model.report.remarks
    assert len(compiles) == 1
    assert all("Third (" in step.name for step in [*third.profile().steps, *third.report.program])
    assert len(compiles) == 2 and not third.report.remarks  # the decision is cached with the measurements
    assert third.report.searches == first.report.searches and "loops<" in third.ir()
    third._data, third._report = luminal.compile(Third(), (torch.ones(8, 16),), cache=False)._data, None
    assert "describes another search than the one that found the running program" in str(third.report)
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".json", ".lum"]


@pytest.mark.parametrize("sums, roofline, told", [((2000, 1980, 1970), 25, "the roofline, below: 25.0 us"), ((300, 200, 120), 100, "the roofline: 100.0 us"),
                                                  ((50, 50), 25, "the roofline: 25.0 us"), ((30, 20), 25, "the roofline: 25.0 us")])
def test_curve_of_a_search(sums, roofline, told):
    """The gain of the search takes much of the height; texts neither overlap nor leave the picture."""
    points = [{"at": float(i), "sum_of_kernels": 1e-6 * value} for i, value in enumerate(sums)]
    text = luminal._report_page._curve({"seconds": len(sums) + 0.7, "curve": points, "roofline_seconds": 1e-6 * roofline})
    labels = [(float(t["x"]), float(t["y"]), t["text-anchor"]) for t in helpers.Page(text).all("text")]
    assert told in text
    assert all(abs(a[1] - b[1]) > 10 or abs(a[0] - b[0]) > 60 for a in labels for b in labels if a is not b), labels
    assert all(0 <= x <= (720 if anchor == "end" else 690) and 8 <= y <= 320 for x, y, anchor in labels), labels
    curve = next(path["d"] for path in helpers.Page(text).all("path") if path.get("stroke-width") == "2")
    heights = [float(height) for height in re.findall(r"[ V]([0-9.]+)", curve)]
    assert len(heights) == len(sums) and (sums[0] == sums[-1] or heights[-1] - heights[0] > 100)


def test_repr(model, tmp_path):
    compiled = luminal.compile(model, (torch.randn(8, 16),))
    assert repr(compiled) == f"<Sequential compiled for cpu: (input: float32 [8, 16]) -> ({compiled.artifact.outputs[0].name}: float32 [8, 4])>"
    assert repr(luminal.compile(torch.sin, (torch.ones(2),))).startswith("<sin compiled for cpu: (args_0: float32 [2]) -> (")
    compiled.save(tmp_path / "model.lum")
    assert repr(luminal.load(tmp_path / "model.lum")).startswith("<loaded model: (input: float32 [8, 16]) -> (")
    assert repr(compiled.artifact).startswith("<artifact for cpu: (input: float32 [8, 16])")


def test_ir(model):
    compiled = luminal.compile(model, (torch.randn(8, 16),))
    assert "hlir." in compiled.ir("imported") and "llir.kernel" not in compiled.ir("imported")
    assert "loops<" in compiled.ir()
    with pytest.raises(luminal.ArgumentError, match="bad option '--emit=nothing'"):
        compiled.ir("nothing")


def test_explain(model):
    def function(x):
        y = model(x)
        print(end="")  # graph break
        return torch.linalg.eigvalsh(y.t() @ y).cos()

    found = luminal.explain(function)(torch.randn(8, 16))
    assert len(found.graphs) == 2 and len(found.breaks) == 1 and "test_tools.py" in found.breaks[0]
    assert [len(graph.unsupported) for graph in found.graphs] == [0, 1]
    assert [len(graph.parts) for graph in found.graphs] == [1, 2]
    text = str(found)
    assert "2 graphs, 1 break\n" in text and "_linalg_eigh" in text and "kernel" in text


def test_bench(model):
    x = torch.randn(8, 16)
    table = luminal.bench(model, (x,), forms=("eager", "luminal"), rounds=2, seconds=0.01, options={"precision": "exact"})
    assert [row.form for row in table] == ["eager", "luminal"]
    assert all(row.milliseconds > 0 and row.error < 1e-5 and not row.problem for row in table)
    assert len(str(table).splitlines()) == 3
    with pytest.raises(luminal.ArgumentError, match="no form 'other'"):
        luminal.bench(model, (x,), forms=("other",))


def test_bench_tells_why_a_form_fails():
    def function(x):
        return torch.linalg.eigvalsh(x)

    table = luminal.bench(function, (torch.eye(3),), forms=("luminal",), options={"fallback": "error"}, rounds=1)
    assert "_linalg_eigh" in table[0].problem or "BackendCompilerFailed" in table[0].problem
    assert table[0].problem in str(table)


def run(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "luminal", *arguments], capture_output=True, text=True, cwd=folder,
                          env=conftest.environment())


def test_command_line(model, tmp_path):
    x = torch.randn(8, 16)
    torch.export.save(torch.export.export(model, (x,)), tmp_path / "model.pt2")
    done = run(tmp_path, "compile", "model.pt2", "-o", "model.lum", "--report", "--", "--embed-weights")
    assert done.returncode == 0 and "1 step for cpu" in done.stdout, done.stderr
    done = run(tmp_path, "info", "model.lum")
    assert "target cpu" in done.stdout and "float32 [8, 16]" in done.stdout and "weight 0.bias" in done.stdout
    numpy.save(tmp_path / "x.npy", x.numpy())
    done = run(tmp_path, "run", "model.lum", "--input", "x.npy", "--output", "y.npy")
    assert done.returncode == 0 and "float32 [8, 4]" in done.stdout, done.stderr
    with torch.no_grad():
        numpy.testing.assert_allclose(numpy.load(tmp_path / "y.npy"), model(x).numpy(), rtol=1e-4, atol=1e-5)
    # Without embedded weights, those of the archive beside the artifact are found from any folder.
    assert run(tmp_path, "compile", "model.pt2", "-o", "model.lum").returncode == 0
    (tmp_path / "other").mkdir()
    done = run(tmp_path / "other", "run", "../model.lum", "--input", "input=../x.npy")
    name, first = done.stdout.splitlines()[:2]
    assert name.endswith(": float32 [8, 4]") and first.startswith("[[") and f"{numpy.load(tmp_path / 'y.npy')[0, 0]:.4f}"[:6] in first
    (tmp_path / "model.pt2").unlink()
    assert "weights" in run(tmp_path, "run", "model.lum", "--input", "x.npy").stderr


def test_integers_on_the_command_line(tmp_path):
    class Model(nn.Module):
        def forward(self, x, n):
            return x + n

    exported = torch.export.export(Model(), (torch.ones(2, dtype=torch.int64), 5), dynamic_shapes=(None, torch.export.Dim.DYNAMIC))
    torch.export.save(exported, tmp_path / "model.pt2")
    assert run(tmp_path, "compile", "model.pt2", "-o", "model.lum").returncode == 0
    numpy.save(tmp_path / "x.npy", numpy.array([1, 2]))
    done = run(tmp_path, "run", "model.lum", "--input", "n=-4611686018427387904", "--input", "x.npy", "--output", "y.npy")
    assert done.returncode == 0, done.stderr
    assert numpy.load(tmp_path / "y.npy").tolist() == [1 - 2**62, 2 - 2**62]
    assert "integer n\n" in run(tmp_path, "info", "model.lum").stdout
    for value in "1.5", "", str(2**63):
        done = run(tmp_path, "run", "model.lum", "--input", "x.npy", "--input", f"n={value}", "--output", "z.npy")
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and not (tmp_path / "z.npy").exists()


@pytest.mark.parametrize("arguments, message", [
    (("compile", "missing.pt2", "-o", "model.lum"), "missing.pt2"),
    (("compile", "text.pt2", "-o", "model.lum"), "text.pt2"),
    (("compile", "text.pt2"), "-o/--output; see luminal compile --help"),
    (("compile", "add.pt2", "-o", "no/model.lum"), "no/model.lum: cannot be written"),
    (("compile", "add.pt2", "-o", "model.lum", "--", "--frob"), "bad option '--frob'"),
    (("frob",), "invalid choice: 'frob'"), ((), "COMMAND"),
    (("info", "text.pt2"), "text.pt2"), (("bench", "text.pt2"), "text.pt2"), (("bench", "missing.pt2"), "no such file"),
    (("run", "missing.lum"), "missing.lum"),
    (("run", "add.lum"), "0 --input for x, n (an integer)"),
    (("run", "add.lum", "--input", "x.npy", "--input", "n=many"), "expected an integer"),
    (("run", "add.lum", "--input", "text.pt2", "--input", "n=1"), "text.pt2: this is not a .npy file"),
    (("run", "add.lum", "--input", "none.npy", "--input", "n=1"), "none.npy: No such file"),
    (("run", "add.lum", "--input", "x.npy", "--input", "n=1", "--output", "a.npy", "--output", "b.npy"), "--output is given 2 times"),
    (("run", "add.lum", "--frob"), "unrecognized arguments: --frob"), (("run", "add.lum", "--", "--x"), "-- --x")])
def test_command_line_refuses(folder, arguments, message):
    done = run(folder, *arguments)
    assert done.returncode == 2 and done.stderr.startswith("luminal: error: ") and message in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1 and not (folder / "model.lum").exists() and not done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a text file, an archive with its artifact, and an input."""
    path = tmp_path_factory.mktemp("tools")
    (path / "text.pt2").write_text("no archive")

    class Add(nn.Module):
        def forward(self, x, n):
            return x + n

    dynamic = (None, torch.export.Dim.DYNAMIC)
    torch.export.save(torch.export.export(Add(), (torch.ones(2), 5), dynamic_shapes=dynamic), path / "add.pt2")
    assert run(path, "compile", "add.pt2", "-o", "add.lum").returncode == 0
    numpy.save(path / "x.npy", numpy.ones(2, "float32"))
    return path
