#!/usr/bin/env python3
# ===- screenshots.py - The page of a report and what a notebook shows, in a browser --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes report.html, the page of a report of a searched compile, and notebook.html, the HTML that a notebook shows for each object
of the package; with a browser also docs/report.png and docs/notebook.png, as a headless one draws them.

    python utils/dev/screenshots.py DIRECTORY [--browser chromium]     with PYTHONPATH and LUMINAL_LIBRARY; needs PyTorch
    python utils/dev/screenshots.py DIRECTORY --history FILE [...]     instead the pages of utils/bench/llm: of the first run in FILE, and of all
    python utils/dev/screenshots.py DIRECTORY --graphs [...]           instead docs/graph-vit.png and docs/graph-llama.png: small models of transformers

No test needs a browser: those of HTML parse it (python/tests/test_tools.py).
"""
import argparse
import html
import pathlib
import subprocess
import sys

import torch
from torch import nn

import luminal

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
STYLE = """body{font:13px/1.4 sans-serif;margin:1.5em}table{border-collapse:collapse;margin:0.5em 0}pre{background:#f4f4f4;padding:6px}
td,th{padding:2px 10px 2px 0;text-align:left;border-bottom:1px solid #ddd;vertical-align:top}"""


class Classifier(nn.Module):
    """Two layers of a transformer over patches of an image."""

    def __init__(self, width=128):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 4 * width, activation="gelu", batch_first=True, norm_first=True)
                                    for _ in range(2))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean(1))


def broken(x):
    y = x.sin()
    print(end="")
    return torch.linalg.eigvalsh(y @ y.t()).cos()


def cells(model, images, compiled, space):
    """Lines of a notebook, and what they show."""
    yield "compiled.profile(calls=20)", compiled.profile(calls=20)
    yield 'luminal.bench(model, (images,), forms=("eager", "luminal"))', luminal.bench(model, (images,), forms=("eager", "luminal"))
    yield "luminal.explore(adapter, (x,))", space
    yield "luminal.explain(broken)(torch.randn(4, 4))", luminal.explain(broken)(torch.randn(4, 4))
    yield "compiled.report", compiled.report


def shoot(browser, page, picture, height):
    subprocess.run([browser, "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size=1100,{height}",
                    f"--screenshot={picture}", page.resolve().as_uri()], check=True, stderr=subprocess.DEVNULL)


def shoot_suite(args):
    sys.path.insert(0, str(DOCS.parent / "utils/bench/llm"))
    import history
    import pages
    store = history.History(args.history)
    for name, text, height in (("llm-report", pages.report(store, store.runs()[0]["run"]), 1120), ("llm-dashboard", pages.dashboard(store), 1050)):
        page = args.directory / f"{name}.html"
        page.write_text(text, encoding="utf-8")
        if args.browser is not None:
            shoot(args.browser, page, DOCS / f"{name}.png", height)


def shoot_graphs(args):
    import transformers

    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4}
    vit = transformers.ViTForImageClassification(transformers.ViTConfig(image_size=64, patch_size=16, num_hidden_layers=12, **sizes))
    llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=512, num_hidden_layers=16, num_key_value_heads=2, use_cache=False, **sizes))
    for name, model, x in ("vit", vit, torch.randn(1, 3, 64, 64)), ("llama", llama, torch.randint(512, (1, 32))):
        compiled = luminal.compile(model.eval(), (x,))
        compiled(x)
        page = args.directory / f"{name}.html"
        luminal.graph(compiled, profile=compiled.profile(calls=50)).save(page)
        if args.browser is not None:
            shoot(args.browser, page, DOCS / f"graph-{name}.png", 1020 if name == "vit" else 1180)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--browser", help="a program that takes Chromium's options")
    parser.add_argument("--history", type=pathlib.Path, help="a history of utils/bench/llm, for docs/llm-report.png and docs/llm-dashboard.png")
    parser.add_argument("--graphs", action="store_true", help="docs/graph-vit.png and docs/graph-llama.png")
    args = parser.parse_args()
    if args.history is not None:
        shoot_suite(args)
        return
    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    if args.graphs:
        shoot_graphs(args)
        return
    model, images = Classifier().eval(), torch.randn(2, 3, 64, 64)
    compiled = luminal.compile(model, (images,), search_budget=10, plan_cache=str(args.directory / "plans"))
    compiled(images)
    report, notebook = args.directory / "report.html", args.directory / "notebook.html"
    report.write_text(compiled.report.html(), encoding="utf-8")
    space = luminal.explore(nn.Sequential(nn.Linear(256, 8, bias=False), nn.Linear(8, 256, bias=False)).eval(), (torch.randn(4, 256),))
    space.sample(3, strength=2)
    shown = "".join(f"<pre>{html.escape(line)}</pre>{value._repr_html_()}" for line, value in cells(model, images, compiled, space))
    notebook.write_text(f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>A notebook</title><style>{STYLE}</style></head>"
                        f"<body>{shown}</body></html>\n", encoding="utf-8")
    if args.browser is not None:
        shoot(args.browser, report, DOCS / "report.png", 1720)
        shoot(args.browser, notebook, DOCS / "notebook.png", 1900)


if __name__ == "__main__":
    main()
