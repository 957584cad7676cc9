#!/usr/bin/env python3
# ===- export_models.py - Writes the tests' archives and their references ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports models of models.py with torch.export, with PyTorch's own outputs beside them.

Under OUT/NAME/ it writes
  model.pt2        the exported program
  model_dec.pt2    the same after run_decompositions()
  input_I.npy      the inputs, in order
  output_I.npy     PyTorch eager's outputs (bfloat16 widened to float32)
  output64_I.npy   the same computed in float64 throughout
  size_K/          for a model with dynamic dims: the three kinds of file at another size
  run_K/           for a model with state, instead of the files above: call K of consecutive calls on one instance, and
                   changed_I.npy where the call changed input I
A folder that is complete already is left alone: `done` in it holds the same version of this exporter, or `kept`, for
archives that another machine made (utils/dev/gpu-bundle.sh).
"""
import argparse
import contextlib
import copy
import fcntl
import functools
import hashlib
import importlib.metadata
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent


def load_modules():
    """Slow imports, done only if something must be exported."""
    global float64, models, np, pytree, torch
    import numpy as np
    import torch
    from torch.utils import _pytree as pytree

    import float64
    import models


def save(folder, name, tensors):
    folder.mkdir(parents=True, exist_ok=True)
    for i, t in enumerate(t for t in pytree.tree_leaves(tensors) if isinstance(t, torch.Tensor)):
        t = t.detach().float() if t.dtype == torch.bfloat16 else t.detach()
        np.save(folder / f"{name}_{i}.npy", t.contiguous().numpy())


def save_call(folder, model, model64, args):
    save(folder, "input", args)
    save(folder, "output", model(*args))
    save(folder, "output64", float64.call(model64, float64.widened(args)))


def save_calls(folder, case):
    """Consecutive calls; an argument that is None is as the previous call left it."""
    model, model64 = copy.deepcopy(case.model), float64.copy_of(case.model)
    last, last64 = case.args, float64.widened(case.args)
    for k, args in enumerate(case.calls):
        args = [l if a is None else a.clone() for a, l in zip(args, last)]
        args64 = [l if a is None else float64.widened(a.clone()) for a, l in zip(case.calls[k], last64)]
        run, before = folder / f"run_{k}", [a.clone() for a in args]
        save(run, "input", before)
        save(run, "output", model(*args))
        save(run, "output64", float64.call(model64, args64))
        for i, (a, b, a64) in enumerate(zip(args, before, args64)):
            if not torch.equal(a, b):
                np.save(run / f"changed_{i}.npy", a.numpy())
                np.save(run / f"changed64_{i}.npy", a64.numpy())
        last, last64 = args, args64


def save_program(program, file):
    """Removes paths of this machine from stack traces: files of the project are named from its root, others by module."""
    roots = [f"{HERE.parents[1]}/"] + sorted((f"{path}/" for path in sys.path if path), key=len, reverse=True)
    for node in program.graph.nodes:
        trace = node.meta.get("stack_trace")
        if trace:
            for root in roots:
                trace = trace.replace(f'File "{root}', 'File "')
            node.meta["stack_trace"] = trace
    torch.export.save(program, file)


def export(name, folder):
    case = models.make(name)
    with torch.set_grad_enabled(case.grad):
        program = torch.export.export(copy.deepcopy(case.model), case.args, dynamic_shapes=case.dynamic)
    with torch.no_grad():
        folder.mkdir(parents=True, exist_ok=True)
        save_program(program, folder / "model.pt2")
        save_program(program.run_decompositions(), folder / "model_dec.pt2")
        if case.calls:
            save_calls(folder, case)
        else:
            model64 = float64.copy_of(case.model)
            save_call(folder, case.model, model64, case.args)
            for k, args in enumerate(case.sizes):
                save_call(folder / f"size_{k}", case.model, model64, args)


@functools.cache
def version():
    sources = [pathlib.Path(__file__), HERE / "models.py", HERE / "float64.py"]
    # Most models need PyTorch alone.
    libraries = [sorted((d.name, d.version) for d in importlib.metadata.distributions(name=name))
                 for name in ("torch", "transformers")]
    return hashlib.sha256(b"".join(p.read_bytes() for p in sources) + repr(libraries).encode()).hexdigest()


@contextlib.contextmanager
def held(folder):
    """Two processes that want one model, as tests do that run side by side, take turns."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def clear(folder):
    """What was exported goes, its mark first; the folder, which is held, stays."""
    (folder / "done").unlink(missing_ok=True)
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models or benchmark workloads (default: all models)")
    parser.add_argument("--force", action="store_true", help="export again what is there")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--ship", action="store_true", help="as the repository ships them: model.pt2 alone, no mark")
    args = parser.parse_args()
    def current(name):
        mark = args.out / name / "done"
        return mark.exists() and (mark.read_text() == "kept" or mark.read_text() == version())

    if args.names and not args.force and all(map(current, args.names)):
        return 0
    load_modules()
    if args.list:
        print("models:   ", *models.MODELS, "\nworkloads:", *models.WORKLOADS)
        return 0
    for name in args.names or models.MODELS:
        if name not in models.MODELS and name not in models.WORKLOADS:
            parser.error(f"no model '{name}'; --list prints the names")
        folder = args.out / name
        with held(folder):
            if not args.force and current(name):
                continue
            clear(folder)
            export(name, folder)
            if args.ship:
                (folder / "model_dec.pt2").unlink()
            else:
                (folder / "done").write_text(version())
        print(f"{name:20s} {(folder / 'model.pt2').stat().st_size / 1e6:8.2f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
