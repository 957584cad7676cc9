#!/usr/bin/env python3
# ===- walk.py - What somebody new sees, from the README to a profile ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's example, its commands, and four models that people bring: a vision transformer, an LSTM, a graph network and
`generate` of a language model; prints what each of them prints, and compares with eager. test/Docs/walk.test holds what stands there.

    python utils/walk.py DIRECTORY     with the package installed, or PYTHONPATH and LUMINAL_LIBRARY; makes files there
"""
import os
import pathlib
import re
import subprocess
import sys
import warnings

import numpy
import torch
import transformers
from torch import nn

import luminal
from luminal._backend import backend  # by the name "luminal" once the package is installed

ROOT = pathlib.Path(__file__).resolve().parent.parent


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


def title(text):
    print(f"\n== {text}", flush=True)


def same(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    print("same as eager")


def readme():
    title("README: the example")
    text = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)[1]
    exec(text.replace('"luminal"', "backend"), {"backend": backend})


def command(*arguments):
    title("luminal " + " ".join(arguments))
    done = subprocess.run([sys.executable, "-m", "luminal", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="" if done.returncode == 0 else f"exit code {done.returncode}\n")


def commands():
    model, x = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4)).eval(), torch.randn(8, 16)
    torch.export.save(torch.export.export(model, (x,)), "model.pt2")
    numpy.save("x.npy", x.numpy())
    command("compile", "model.pt2", "-o", "model.lum", "--report")
    command("info", "model.lum")
    command("run", "model.lum", "--input", "x.npy", "--profile", "trace.json")
    command("run", "model.lum")


def vit():
    title("A vision transformer: report and profile")
    config = transformers.ViTConfig(image_size=32, patch_size=8, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                    num_attention_heads=4)
    model, x = transformers.ViTForImageClassification(config).eval(), torch.randn(2, 3, 32, 32)
    compiled = luminal.compile(model, (x,))
    same(compiled(x)["logits"], model(x).logits)
    print(compiled.report)
    profile = compiled.profile(calls=3)
    print("\n".join(str(profile).splitlines()[:4]))


def lstm():
    title("An LSTM: torch.compile leaves it to PyTorch, luminal.compile takes it")
    model, x = nn.LSTM(16, 32).eval(), torch.randn(5, 2, 16)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        torch.compile(model, backend=backend)(x)
    print("\n".join(f"warning: {w.message}" for w in heard if issubclass(w.category, luminal.LuminalWarning)))
    print(luminal.explain(model)(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.export speaks of the LSTM's list of weights
        compiled = luminal.compile(model, (x,))
    same(compiled(x)[0], model(x)[0])


def graph_network():
    title("A graph network: any number of edges")
    model, nodes = GraphNetwork().eval(), torch.randn(6, 16)
    compiled = torch.compile(model, backend=backend, dynamic=True)
    for count in (9, 14):
        edges = torch.randint(0, 6, (2, count))
        same(compiled(nodes, edges), model(nodes, edges))
    print(luminal.explain(model)(nodes, edges))


def generate():
    title("generate: a compiled step, the cache of transformers")
    config = transformers.GPT2Config(vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4, pad_token_id=0, bos_token_id=1,
                                     eos_token_id=2)
    model = transformers.GPT2LMHeadModel(config).eval()
    words = torch.randint(3, 96, (1, 5))
    expected = model.generate(words, max_new_tokens=8, do_sample=False)
    model.forward = torch.compile(model.forward, backend=backend, dynamic=True)
    got = model.generate(words, max_new_tokens=8, do_sample=False)
    print("the same words as eager" if torch.equal(got, expected) else f"{got} {expected}")


def main():
    os.chdir(sys.argv[1])
    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    for step in (readme, commands, vit, lstm, graph_network, generate):
        torch._dynamo.reset()
        step()


if __name__ == "__main__":
    main()
