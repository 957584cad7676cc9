#!/usr/bin/env python3
# ===- walk.py - A first session, from the README to a profile -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's example, its commands, and four common models: a vision transformer, an LSTM, a graph network and
`generate` of a language model. Writes docs/Walk.md: the code of each, and what it prints. test/Docs/walk.test holds the page to it.

    python utils/dev/walk.py DIRECTORY > docs/Walk.md     with the package installed, or PYTHONPATH and LUMINAL_LIBRARY; makes files in DIRECTORY
"""
import inspect
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import warnings

import numpy
import torch
import transformers
from torch import nn

import luminal
from luminal._backend import backend  # by the name "luminal" once the package is installed

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = """# Walk: the output of a first session

This page shows what `utils/dev/walk.py` runs and prints; `test/Docs/walk.test` compares everything but measured numbers. `OPTIONS` compile for
any x86-64 processor with AVX2 and for two cores, so that the output is the same on every machine; without them programs are compiled for the
machine at hand. [Python.md](Python.md) explains the functions, the [Glossary](Glossary.md) the words of the reports."""
OPTIONS = {"arch": "x86-64-v3", "workers": 2}


class GraphNetwork(nn.Module):
    """Two rounds of messages along edges, then one number a node."""

    def __init__(self, width=16):
        super().__init__()
        self.message, self.update, self.head = nn.Linear(2 * width, width), nn.GRUCell(width, width), nn.Linear(width, 1)

    def forward(self, nodes, edges):
        for _ in range(2):
            sent = self.message(torch.cat([nodes[edges[0]], nodes[edges[1]]], -1)).relu()
            nodes = self.update(torch.zeros_like(nodes).index_add(0, edges[1], sent), nodes)
        return self.head(nodes)


def vit():
    """A vision transformer: report and profile"""
    config = transformers.ViTConfig(image_size=32, patch_size=8, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                    num_attention_heads=4)
    model, x = transformers.ViTForImageClassification(config).eval(), torch.randn(2, 3, 32, 32)
    compiled = luminal.compile(model, (x,), **OPTIONS)
    torch.testing.assert_close(compiled(x)["logits"], model(x).logits, rtol=1e-4, atol=1e-5)
    print(compiled.report)
    print(compiled.profile(calls=3))


def lstm():
    """An LSTM: torch.compile leaves it to PyTorch with a warning, luminal.compile compiles it"""
    model, x = nn.LSTM(16, 32).eval(), torch.randn(3, 2, 16)
    torch.compile(model, backend="luminal", options=OPTIONS)(x)
    print(luminal.explain(model)(x))
    compiled = luminal.compile(model, (x,), **OPTIONS)
    torch.testing.assert_close(compiled(x)[0], model(x)[0], rtol=1e-4, atol=1e-5)
    print(compiled.report)
    print(compiled.profile(calls=3))


def graph_network():
    """A graph network: any number of edges, the report of explain, and PyTorch's profiler"""
    model, nodes = GraphNetwork().eval(), torch.randn(6, 16)
    compiled = torch.compile(model, backend="luminal", dynamic=True, options=OPTIONS)
    for count in (9, 14):
        edges = torch.randint(0, 6, (2, count))
        torch.testing.assert_close(compiled(nodes, edges), model(nodes, edges), rtol=1e-4, atol=1e-5)
    print(luminal.explain(model, **OPTIONS)(nodes, edges))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
        compiled(nodes, edges)
    ranges = [event for event in profiled.events() if event.is_user_annotation and event.name.endswith(")")]
    for event in sorted(ranges, key=lambda event: event.time_range.start):
        print(f"{event.name:40}{event.cpu_time_total:6.1f} us")


def generate():
    """generate: a compiled step, the cache of transformers"""
    config = transformers.GPT2Config(vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4, pad_token_id=0, bos_token_id=1,
                                     eos_token_id=2)
    model = transformers.GPT2LMHeadModel(config).eval()
    words = torch.randint(3, 96, (1, 5))
    expected = model.generate(words, max_new_tokens=8, do_sample=False)
    forward = model.forward
    model.forward = torch.compile(forward, backend="luminal", dynamic=True, options=OPTIONS)
    print("the same words as eager:", torch.equal(model.generate(words, max_new_tokens=8, do_sample=False), expected))
    model.forward = forward
    cache = model(words, use_cache=True).past_key_values
    step = luminal.compile(model, (words[:, -1:],), {"past_key_values": cache, "use_cache": True}, **OPTIONS)
    print(step.report)
    print(step.profile(calls=3))


def title(text):
    print(f"\n## {text}")


def show(function):
    """The code of a part, and what it prints."""
    title(function.__doc__)
    lines, _ = inspect.getsourcelines(function)
    print("\n```python\n" + textwrap.dedent("".join(lines[2:])) + "```\n\n```text", flush=True)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        function()
    for text in (str(w.message) for w in heard if issubclass(w.category, luminal.LuminalWarning)):
        print(f"LuminalWarning: {text}")
    print("```")


def readme():
    title("The example of the README")
    text = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)[1]
    print(f"\n```python\n{text}```\n\n```text", flush=True)
    exec(text.replace('"luminal"', "backend"), {"backend": backend})
    print("```")


def commands():
    title("The commands")
    model, x = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4)).eval(), torch.randn(8, 16)
    torch.export.save(torch.export.export(model, (x,)), "model.pt2")
    numpy.save("x.npy", x.numpy())
    print("\n`model.pt2` is the model above, as `torch.export.save` wrote it.\n\n```text")
    for line in ("luminal compile model.pt2 -o model.lum --report -- --arch=x86-64-v3 --workers=2",
                 "luminal compile model.pt2 -o model.lum -- --arch=x86-64-v3 --workers=2 --report=report.json",
                 "luminal report report.json -o report.html", "luminal info model.lum",
                 "luminal run model.lum --input x.npy --profile trace.json", "luminal run model.lum", "luminal run none.lum --input x.npy"):
        print(f"$ {line}", flush=True)
        done = subprocess.run([sys.executable, "-m", *line.split()], capture_output=True, text=True)
        # What else speaks there is a sanitizer's runtime, where the library is built with one.
        told = [text for text in done.stderr.splitlines(keepends=True) if text.startswith("luminal: ")]
        print(done.stdout, *told, sep="", end="" if done.returncode == 0 else f"exit code {done.returncode}\n")
    print("```")


def main():
    os.chdir(sys.argv[1])
    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    torch._dynamo.backends.registry.register_backend(backend, name="luminal")
    print(HEAD)
    readme()
    commands()
    for part in (vit, lstm, graph_network, generate):
        torch._dynamo.reset()
        show(part)


if __name__ == "__main__":
    main()
