#!/usr/bin/env python3
# ===- gpu_models.py - Whole models beside PyTorch's on a GPU --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times GPT-2 small, BERT base, ViT base and ResNet-50 with random weights: eager and Inductor, each captured in a CUDA
graph, beside luminal.compile's callable.

    python utils/bench/gpu_models.py [MODEL:BATCH:DTYPE...] [--no-inductor] [--steps] [--table=FILE]

Needs a GPU, transformers and the library (LUMINAL_LIBRARY, or an installed package). TF32 is off on both sides. Milliseconds
a call, where calls follow each other without a wait: `host` is what the caller's thread spends on one. With one sequence or
image the largest errors against float64 are shown, by its largest value; otherwise the largest difference from eager.
--steps prints the time of each step of Luminal's program, --table appends each row to a file of one JSON object a line.

Exit code 1 where Luminal fails or its error is above four times eager's, 2 where there is no GPU.
"""
import argparse
import json
import pathlib
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
MODELS = ("gpt2", "bert", "vit", "resnet50")


class Output(torch.nn.Module):
    """The one output of a model of transformers that is looked at."""

    def __init__(self, model, name):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, x):
        return getattr(self.model(x), self.name)


def make(name, batch, dtype):
    torch.manual_seed(0)
    if name == "resnet50":
        import models

        model, x = models.ResNet((3, 4, 6, 3)), torch.randn(batch, 3, 224, 224)
    else:
        import transformers

        if name == "gpt2":
            config = transformers.GPT2Config(use_cache=False)
            model = Output(transformers.GPT2LMHeadModel(config), "logits")
        elif name == "bert":
            model = Output(transformers.BertModel(transformers.BertConfig()), "last_hidden_state")
        else:
            model = Output(transformers.ViTModel(transformers.ViTConfig()), "last_hidden_state")
        x = torch.randn(batch, 3, 224, 224) if name == "vit" else torch.randint(30000, (batch, 128))
    return model.eval().cuda().to(dtype), (x.to(dtype) if x.is_floating_point() else x).cuda()


def capture(call, x):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call(x)
    return graph.replay


def measure(call, seconds=0.15):
    """Milliseconds a call and of the caller's thread: the least of three rounds, and of 30 calls."""
    for _ in range(3):
        call()
    hosts = []
    for _ in range(30):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        hosts.append(time.perf_counter() - begin)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    torch.cuda.synchronize()
    count = max(5, min(500, int(seconds / max(time.perf_counter() - begin, 1e-5))))
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begin) / count)
    return 1e3 * best, 1e3 * min(hosts)


def distance(got, want):
    return ((got.double() - want).abs().max() / want.abs().max()).item()


def run(name, batch, dtype, inductor, steps):
    import luminal

    model, x = make(name, batch, DTYPES[dtype])
    row = {"model": name, "batch": batch, "dtype": dtype}
    eager = model(x)
    exact = None
    if batch == 1:
        exact = model.double()(x.double() if x.is_floating_point() else x)
        model.to(DTYPES[dtype])
    row["eager"] = measure(capture(model, x))[0]
    if inductor:
        row["inductor"] = measure(capture(torch.compile(model), x))[0]
        torch._dynamo.reset()
    begin = time.perf_counter()
    compiled = luminal.compile(model, (x,))
    got = compiled(x)
    torch.cuda.synchronize()
    row["first call s"] = time.perf_counter() - begin
    row["luminal"], row["host"] = measure(lambda: compiled(x))
    if steps:
        print(compiled.profile(), flush=True)
    if exact is None:
        row["difference"] = distance(got, eager.double())
        return row, True
    row["error"], row["eager's"] = distance(got, exact), distance(eager, exact)
    return row, row["error"] <= 4 * max(row["eager's"], torch.finfo(DTYPES[dtype]).eps)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", metavar="MODEL:BATCH:DTYPE")
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--steps", action="store_true", help="print the steps of Luminal's program")
    parser.add_argument("--table", type=pathlib.Path)
    args = parser.parse_args()
    cells = args.cells or [f"{m}:{b}:{t}" for t in ("f16", "f32") for b in (1, 32) for m in MODELS]
    for cell in cells:
        name, batch, dtype = (cell.split(":") + ["", ""])[:3]
        if name not in MODELS or not batch.isdecimal() or dtype not in DTYPES:
            parser.error(f"'{cell}' is no MODEL:BATCH:DTYPE; models: {', '.join(MODELS)}; dtypes: {', '.join(DTYPES)}")
    if not torch.cuda.is_available():
        parser.error("there is no GPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    sys.path += [str(ROOT / "python"), str(ROOT / "utils/testing")]
    failed = False
    for cell in cells:
        name, batch, dtype = cell.split(":")
        with torch.no_grad():
            try:
                row, good = run(name, int(batch), dtype, not args.no_inductor, args.steps)
            except Exception as error:  # the other cells are worth their time
                row, good = {"cell": cell, "failed": f"{type(error).__name__}: {error}"}, False
        failed |= not good
        print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()), flush=True)
        if args.table:
            with args.table.open("a") as file:
                file.write(json.dumps(row) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
