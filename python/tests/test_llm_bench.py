# ===- test_llm_bench.py - The suite of language models -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import html.parser
import math
import os
import pathlib
import re
import runpy
import sys
import xml.etree.ElementTree

import pytest
import tiny_checkpoint

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "utils/bench/llm"


@pytest.fixture(scope="module")
def suite():
    """The names defined by the command line program."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield runpy.run_path(str(FOLDER / "__main__.py"), run_name="llm_bench")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture
def call(suite, tmp_path, monkeypatch):
    def run(*args):
        monkeypatch.setattr(sys, "argv", ["llm-bench", args[0], "--history", str(tmp_path / "history.db"), *map(str, args[1:])])
        return suite["main"]()

    return run


def rows_of(suite, folder):
    store = suite["history"].History(folder / "history.db")
    try:
        return store.rows()
    finally:
        store.close()


class Page(html.parser.HTMLParser):
    """Parses a page: tags in order, and texts by class. Checks that all tags are closed and that nothing is fetched."""

    VOID = {"meta", "link", "br", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.titles = [], [], {}, []
        self.feed(text)
        assert not self.open
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "") and "<script" not in text

        for svg in re.findall("<svg.*?</svg>", text, re.S):
            self.check_texts(xml.etree.ElementTree.fromstring(svg))

    def check_texts(self, svg):
        """Checks that no text leaves the chart and that tick labels do not overlap, assuming a width of 6.5 for each
        letter."""
        spans = []
        for text in svg.iter("{http://www.w3.org/2000/svg}text"):
            size, kind = 6.5 * len(text.text), text.get("class")
            if (turned := re.match(r"translate\(([\d.]+) ([\d.]+)\) rotate\((-?\d+)\)", text.get("transform", ""))):
                x, y, angle = map(float, turned.groups())
                size *= math.cos(math.radians(angle)) if angle != -90 else 0
            else:
                x, y = float(text.get("x")), float(text.get("y"))
            left = x - size * {"end": 1, "middle": 0.5}.get(text.get("text-anchor"), 0)
            assert 0 <= left and left + size <= float(svg.get("width")) and 0 < y <= float(svg.get("height")), text.text
            if kind == "tick":
                spans.append((left, left + size, y))
        for (left, right, y), (other_left, _, other_y) in zip(spans, spans[1:]):
            assert abs(other_y - y) >= 12 or right < other_left

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs).get("class")))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1][1] or self.open[-1][0], []).append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def test_rows_of_a_tiny_model(suite, call, tmp_path, capfd):
    options = ["--backend", "eager", "luminal", "engine", "--prompt", 8, "--tokens", 4, "--cache", 32, "--turns", "--rounds", 2]
    options += ["--profile", "--logs", tmp_path / "logs"]
    assert call("run", "--model", "tiny", *options, "--report", tmp_path / "report.html") == 0
    rows = {row["backend"]: row for row in rows_of(suite, tmp_path)}
    assert list(rows) == ["eager", "luminal", "engine"]
    for row in rows.values():
        assert "failure" not in row and "note" not in row
        assert row["logits_error"] < 1e-5 and row["reference"] == "float64"
        assert row["step_bytes"] == 4 * (row["parameters"] - 320 * 64)
        assert row["ttft_ms"] > 0 and 0 < row["step_ms"] <= row["step_p99_ms"] and row["tokens_per_second"] > 0
        assert len(row["samples"]["ttft_ms"]) == 2 and list(map(len, row["samples"]["step_ms"])) == [4, 4]
    assert min(rows[name]["launches"] for name in ("luminal", "engine")) > 2 and rows["luminal"]["compile_seconds"] > 0 and rows["engine"]["host_bytes"] > 1 << 26
    assert [rows[name]["turns"] for name in rows] == [1, 1, 0]
    logs = "".join(log.read_text() for log in (tmp_path / "logs").iterdir())
    assert all(f"{name}, a token: {rows[name]['launches']} steps" in logs for name in ("luminal", "engine"))
    out = capfd.readouterr().out
    assert "tiny, luminal, 1 x 8 + 4 tokens, float32, cpu: TTFT " in out and " x eager" in out
    page = Page((tmp_path / "report.html").read_text())
    assert len(page.all("tr")) == 4 and len(page.all("rect")) == 3 + 3 + 3 + 2 + 1
    # Existing results are not measured again.
    assert call("run", "--model", "tiny", *options) == 0
    assert "0 rows, 0 failed, 3 were there" in capfd.readouterr().out


def test_every_model_can_be_made(suite):
    import catalog
    import torch
    assert list(catalog.MODELS) == list(suite["names"].MODELS)
    with torch.device("meta"):
        sizes = {name: sum(p.numel() for p in kind(config).parameters()) / 1e9
                 for name in catalog.MODELS for config, kind in [catalog.make_config(name)]}
    for name, billions in {"llama-160m": 0.16, "qwen2.5-0.5b": 0.49, "llama-3.2-1b": 1.24, "llama-3-8b": 8.0, "qwen3-4b": 4.0,
                           "gemma-3-4b": 3.9, "qwen3-30b-a3b": 30.5, "gemma-4-26b": 25.2}.items():
        assert abs(sizes[name] / billions - 1) < 0.02, name


# Sizes for small models of the same kinds, with more than one window and expert.
SMALL = {"hidden_size": 64, "intermediate_size": 96, "moe_intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": 320}
EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2}
SMALL_MODELS = {
    "qwen3-4b": {"head_dim": 16}, "gemma-3-4b": {"head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 16,
                   "layer_types": ["sliding_attention", "full_attention"]},
    "qwen3-30b-a3b": {"head_dim": 16, **EXPERTS},
    "gemma-4-26b": {"head_dim": 16, "global_head_dim": 32, "num_global_key_value_heads": 1, "sliding_window": 8, "num_experts": 8,
                    "top_k_experts": 2},
    "deepseek-v3-cut": {"num_key_value_heads": 4, "q_lora_rank": 24, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16,
                        "v_head_dim": 12, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 4, "topk_group": 2,
                        "first_k_dense_replace": 1},
}


# The other models consist of the same parts; LUMINAL_ALL_ARCHITECTURES=1 tests all models.
CHOSEN = list(SMALL_MODELS) if os.environ.get("LUMINAL_ALL_ARCHITECTURES") else ["gemma-4-26b", "deepseek-v3-cut"]


@pytest.mark.parametrize("name", CHOSEN)
def test_every_kind_of_model_is_right_when_small(suite, name):
    """Compiles each model of the suite, cut to two layers, in both of our forms, for two texts."""
    import backends
    import catalog
    import measure
    import reference
    import static_step
    import torch
    config, kind = catalog.make_config(name, 2, **SMALL | SMALL_MODELS[name])
    torch.manual_seed(0)
    model = kind(config).eval().requires_grad_(False)
    assert 0.2 < catalog.step_bytes(model) / sum(p.nbytes for p in model.parameters()) < (0.7 if "4b" not in name else 1.01)
    row = suite["history"].SETTINGS | {"model": name, "prompt": 12, "tokens": 3, "batch": 2, "cache": 32}
    work, step = measure.Work(row, 320), static_step.Step(model, 2, 32)
    with torch.no_grad():
        exact = reference.compute(step, work, 3)
        assert exact["dtype"] == "float64"
        for backend in ("luminal", "engine"):
            made = backends.make(row | {"backend": backend}, model, step, work)
            made.start(measure.Meter("cpu"))
            assert reference.distance(made.logits(3), exact["logits"]) < 1e-5, backend
            assert made.launches() == len(made.profile().steps) > 20


def test_a_checkpoint_and_a_recommendation_model(suite, call, tmp_path):
    tiny_checkpoint.write(tmp_path / "made", "qwen3")
    shape = ["--prompt", 6, "--tokens", 2, "--cache", 16, "--rounds", 1, "--batch", 2]
    assert call("run", "--checkpoint", tmp_path / "made", "--layers", 1, "--backend", "luminal", *shape) == 0
    assert call("run", "--model", "dlrm-256x3", "--backend", "luminal", "--rounds", 1) == 0
    made, dlrm = rows_of(suite, tmp_path)
    assert (made["model"], made["all_layers"], made["batch"]) == ("made", 1, 2) and made["logits_error"] < 1e-5
    assert dlrm["logits_error"] < 1e-5 and dlrm["step_ms"] > 0 and "ttft_ms" not in dlrm


def fake_child(monkeypatch, suite, folder, text):
    (folder / "measure.py").write_text("import json, os, sys, time\njob = json.load(sys.stdin)\n"
                                       "put = lambda text: open(job['out'], 'a').write(text + '\\n')\n" + text)
    monkeypatch.setitem(suite["measure"].__globals__, "FOLDER", folder)


SHAPE = ["--model", "llama-160m", "--prompt", 8, "--tokens", 4]


def test_failures_are_rows(suite, call, tmp_path, monkeypatch, capsys):
    fake_child(monkeypatch, suite, tmp_path, "put('{\"row\": 0, \"load_seconds\": 2.5}'); put('{\"row'); os.kill(os.getpid(), 9)")
    assert call("run", *SHAPE, "--backend", "eager") == 1
    fake_child(monkeypatch, suite, tmp_path, "sys.exit('no memory')")
    assert call("run", *SHAPE, "--backend", "default", "--logs", tmp_path / "logs") == 1
    assert [log.read_text() for log in (tmp_path / "logs").iterdir()] == ["no memory\n"]
    fake_child(monkeypatch, suite, tmp_path, "time.sleep(60)")
    assert call("run", *SHAPE, "--backend", "max-autotune", "--timeout", 5) == 1
    assert call("run", *SHAPE, "--backend", "luminal", "--deadline", 4) == 0
    assert "llama-160m, luminal, 1 x 8 + 4 tokens, float32, cpu: left out, the time is over" in capsys.readouterr().out
    killed, exited, stopped = rows_of(suite, tmp_path)
    assert killed["load_seconds"] == 2.5 and killed["failure"].startswith("killed by signal 9")
    assert (exited["failure"], stopped["failure"]) == ("exit code 1: no memory", "stopped after 5 s")
    # Failed runs are repeated only on request.
    fake_child(monkeypatch, suite, tmp_path, "put(json.dumps({'row': 0, 'done': True, 'step_ms': 1.0}))")
    assert call("run", *SHAPE, "--backend", "eager") == 0
    assert len(rows_of(suite, tmp_path)) == 3
    assert call("run", *SHAPE, "--backend", "eager", "--retry-failed") == 0
    assert rows_of(suite, tmp_path)[-1]["step_ms"] == 1.0


def test_pages_of_many_runs(suite, call, tmp_path, monkeypatch):
    for step in (4.0, 2.0, 30000.0):
        fake_child(monkeypatch, suite, tmp_path, f"put(json.dumps({{'row': 0, 'done': True, 'step_ms': {step}, 'ttft_ms': 1.0, 'all_layers': 2}}))")
        assert call("run", *SHAPE, "--layers", 2, "--backend", "eager", "luminal:5", "--again") == 0
    fake_child(monkeypatch, suite, tmp_path, "sys.exit('<b>')")
    assert call("run", *SHAPE, "--layers", 2, "--backend", "max-autotune") == 1
    assert call("dashboard", "-o", tmp_path / "dashboard.html") == call("report", "-o", tmp_path / "report.html") == 0
    page = Page((tmp_path / "dashboard.html").read_text())
    # Two figures for two backends in three of the four runs.
    assert len(page.all("circle")) == 12 and len(page.all("figure")) == 2 and len(page.texts["run"]) == 8
    assert page.texts["axis"] == ["ms", "ms"]
    ticks = page.texts["tick"]
    assert ticks[:2] == ["0", "0.2"] and ticks[-1] == "30,000"
    for circle in page.all("circle"):
        assert 110 <= float(circle["cx"]) <= 504 and 10 <= float(circle["cy"]) <= 210
    assert "llama-160m, cut to 2 layers, 1 x 8 + 4 tokens" in page.texts["h2"][0]
    report = Page((tmp_path / "report.html").read_text())
    assert "exit code 1: <b>" in report.texts["said"] and [row for row in report.all("tr") if row.get("class") == "failed"]


def test_axes_are_round(suite):
    charts = suite["pages"].charts
    assert len({charts.colour(name) for name in suite["names"].BACKENDS}) == len(suite["names"].BACKENDS)
    for most in (0, 1e-6, 0.3, 1, 9.99, 10, 12345):
        marks = charts.ticks(most)
        assert marks[0] == 0 and marks[-1] >= most and 2 <= len(marks) <= 8
        assert len({charts.number(mark) for mark in marks}) == len(marks)


@pytest.mark.parametrize("args, message", [
    (["--model", "tiny", "--backend", "eager:5"], "'eager:5' is no NAME"),
    (["--model", "tiny", "--backend", "tensorrt"], "'tensorrt' is no NAME"),
    (["--model", "tiny", "--prompt", "600"], "600 + 64 tokens do not fit into a cache of 512"),
    (["--model", "tiny", "--profile"], "--profile needs --logs"),
    ([], "no rows: give --suite, --model or --checkpoint")])
def test_mistakes(call, args, message, capsys):
    with pytest.raises(SystemExit) as error:
        call("run", *args)
    assert error.value.code == 2 and message in capsys.readouterr().err
