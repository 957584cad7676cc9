# ===- __main__.py - python -m luminal ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m luminal compile|run|info|bench``: thin over the C interface. Exit code 2 where the input is at fault."""
from __future__ import annotations

import argparse
import pathlib
import sys

from . import _errors
from ._artifact import Artifact, Tensor


def _parse() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("luminal", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    compile_ = commands.add_parser("compile", help="an archive of torch.export as an artifact")
    compile_.add_argument("archive", type=pathlib.Path)
    compile_.add_argument("-o", "--output", type=pathlib.Path, required=True)
    compile_.add_argument("--report", action="store_true", help="print what the compiler did")
    compile_.epilog = "Options of luminal-compile come after --: -- --target=cuda --embed-weights"
    run = commands.add_parser("run", help="calls an artifact on .npy files")
    run.add_argument("artifact", type=pathlib.Path)
    run.add_argument("--weights", type=pathlib.Path)
    run.add_argument("--input", action="append", default=[],
                     help="a .npy file, or NAME=VALUE for an integer; once for each input")
    run.add_argument("--profile", type=pathlib.Path, metavar="TRACE",
                     help="print the time of each step of one more call, and write a trace for Perfetto")
    run.add_argument("--output", action="append", default=[], type=pathlib.Path, help="a .npy file; once for each output")
    info = commands.add_parser("info", help="the signature of an artifact")
    info.add_argument("artifact", type=pathlib.Path)
    bench = commands.add_parser("bench", help="an archive in eager PyTorch, Inductor and Luminal, on its sample inputs")
    bench.add_argument("archive", type=pathlib.Path)
    return parser


def _compile(args: argparse.Namespace) -> None:
    from . import _cache, _report

    data, notes, report = _report.compile_with_report(args.archive.read_bytes(), str(args.archive), args.options)
    for note in notes:
        print(f"luminal: warning: {note}", file=sys.stderr)
    _cache.write_atomically(args.output, data)
    if args.report:
        print(report)


def _run(args: argparse.Namespace) -> None:
    import numpy

    from ._load import load

    model = load(args.artifact, args.weights)
    if len(args.output) > len(model.outputs):
        raise _errors.ArgumentError(f"{len(args.output)} files for {len(model.outputs)} outputs")
    files, integers = [], {}
    for text in args.input:
        name, _, value = text.partition("=")
        if name in model.integers:
            integers[name] = int(value)
        else:
            files.append(numpy.load(text, allow_pickle=False))
    outputs = model(*files, **integers)
    for path, output in zip(args.output, outputs):
        numpy.save(path, output, allow_pickle=False)
    for spec, output in zip(model.outputs, outputs):
        print(f"{spec.name}: {spec.dtype} {list(output.shape)}")
    if args.profile is not None:
        print(model.profile(args.profile, tuple(files), integers))


def _info(args: argparse.Namespace) -> None:
    artifact = Artifact.from_file(args.artifact)
    print(f"target {artifact.target}")

    def show(what: str, tensors: list[Tensor]) -> None:
        for tensor in tensors:
            print(f"{what} {tensor.name}: {tensor.dtype} [{', '.join(tensor.symbols)}]" + (
                ", written" if tensor.is_written and what == "input" else ""))

    show("input", artifact.inputs)
    for name in artifact.integers:
        print(f"integer {name}")
    show("output", artifact.outputs)
    show("state", artifact.states)
    show("weight", artifact.weights)


def _bench(args: argparse.Namespace) -> None:
    import torch

    from ._bench import bench

    exported = torch.export.load(args.archive)
    if exported.example_inputs is None:
        raise _errors.ArgumentError(f"{args.archive} has no sample inputs")
    positional, named = exported.example_inputs
    print(bench(exported.module(), positional, named))


def main() -> int:
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    parser = _parse()
    args = parser.parse_args(given[:end])
    args.options = given[end + 1:]
    if args.options and args.command != "compile":
        parser.error(f"unrecognized arguments: {' '.join(args.options)}")
    try:
        {"compile": _compile, "run": _run, "info": _info, "bench": _bench}[args.command](args)
    except (_errors.LuminalError, OSError, ValueError) as error:
        print(f"luminal: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
