# ===- __main__.py - python -m luminal ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``luminal compile|run|info|report|graph|bench|generate|serve``, or ``python -m luminal``: exit code 2 and a one-line message for invalid input."""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
from typing import Any, NoReturn

from . import __version__, _errors, _text
from ._artifact import Artifact, Tensor


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        print(f"luminal: error: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def _parse() -> argparse.ArgumentParser:
    parser = _Parser("luminal", description=__doc__.replace("``", ""))
    parser.add_argument("--version", action="version", version=f"Luminal {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    compile_ = commands.add_parser("compile", help="compile an archive of torch.export to an artifact")
    compile_.add_argument("archive", type=pathlib.Path, help="archive written by torch.export.save (.pt2)")
    compile_.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="FILE", help="artifact to write (.lum)")
    compile_.add_argument("--report", action="store_true", help="print the compiler's report")
    compile_.epilog = "Options of luminal-compile come after --: -- --target=cuda --embed-weights"
    run = commands.add_parser("run", help="call an artifact on .npy files and print its outputs")
    run.add_argument("artifact", type=pathlib.Path, help="artifact written by luminal compile or luminal-compile (.lum)")
    run.add_argument("--weights", type=pathlib.Path, metavar="FILE",
                     help=".pt2 or .safetensors file with the weights, if they are neither in the artifact nor beside it")
    run.add_argument("--input", action="append", default=[], metavar="[NAME=]FILE",
                     help=".npy file, by position or by name, or NAME=VALUE for an integer; once for each input")
    run.add_argument("--output", action="append", default=[], type=pathlib.Path, metavar="FILE",
                     help=".npy file to write; once for each output")
    run.add_argument("--profile", type=pathlib.Path, metavar="TRACE",
                     help="make another call, print the time of each step, and write a trace for Perfetto")
    run.add_argument("--threads", type=int, default=0, metavar="N", help="number of threads of a call (default: all that the process may use)")
    info = commands.add_parser("info", help="print the signature of an artifact")
    info.add_argument("artifact", type=pathlib.Path)
    report = commands.add_parser("report", help="show the report that luminal-compile --report=FILE wrote")
    report.add_argument("report", type=pathlib.Path)
    report.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE", help=".html file to write, with plots")
    graph = commands.add_parser("graph", help="draw the steps of an artifact")
    graph.add_argument("artifact", type=pathlib.Path)
    graph.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="FILE",
                       help="page (.html), drawing (.svg) or Graphviz file (.dot) to write")
    graph.add_argument("--weights", type=pathlib.Path, metavar="FILE", help="as for luminal run")
    bench = commands.add_parser("bench", help="time an archive in eager PyTorch, Inductor and Luminal, on its sample inputs")
    bench.add_argument("archive", type=pathlib.Path)
    _text.add(commands)
    return parser


def _compile(args: argparse.Namespace) -> None:
    from . import _capi, _report

    if args.report:
        notes, report = _report.with_report(args.options, lambda texts: _capi.compile_file(args.archive, args.output, texts))
        print(report)
    else:
        notes = _capi.compile_file(args.archive, args.output, args.options)
    for note in notes:
        print(f"luminal: warning: {note}", file=sys.stderr)


def _report(args: argparse.Namespace) -> None:
    from ._report import Report

    report = Report.read(args.report)
    if args.output is None:
        print(report)
    else:
        args.output.write_text(report.html(), encoding="utf-8")


def _run(args: argparse.Namespace) -> None:
    import numpy

    from ._load import load

    model = load(args.artifact, args.weights, threads=args.threads)
    if len(args.output) > len(model.outputs):
        raise _errors.ArgumentError(f"--output is given {len(args.output)} times, the artifact has {len(model.outputs)}")
    files: list[Any] = []
    named: dict[str, Any] = {}
    tensors = [tensor.name for tensor in model.inputs]
    for text in args.input:
        name, equal, value = text.partition("=")
        if equal and name in model.integers:
            named[name] = _integer(name, value)
        elif equal and name in tensors:
            named[name] = _read(value)
        else:
            files.append(_read(text))
    missing = [name for name in tensors[len(files):] + model.integers if name not in named]
    if missing or len(files) > len(tensors):
        raise _errors.ArgumentError(f"{len(args.input)} --input for " + (
            ", ".join(tensors + [f"{name} (an integer)" for name in model.integers]) or "no inputs"))
    outputs = model(*files, **named)
    for path, output in zip(args.output, outputs):
        numpy.save(path, output, allow_pickle=False)
    for spec, output in zip(model.outputs, outputs):
        values = numpy.array2string(output, threshold=12, edgeitems=3, precision=6, separator=", ")
        print(f"{spec.name}: {spec.dtype} {list(output.shape)}\n{values}")
    if args.profile is not None:
        print(model.profile(args.profile, tuple(files), named))


def _read(path: str) -> Any:
    """The array in a .npy file. Raises ArgumentError if it is not one."""
    import numpy

    try:
        return numpy.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise _errors.ArgumentError(f"{path}: this is not a .npy file") from None


def _integer(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise _errors.ArgumentError(f"--input {name}={value}: expected an integer") from None


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


def _graph(args: argparse.Namespace) -> None:
    from . import _drawing

    _drawing.of_artifact(args.artifact.read_bytes(), Artifact.from_file(args.artifact, args.weights)).save(args.output)


def _bench(args: argparse.Namespace) -> None:
    from . import _export
    from ._bench import bench

    exported = _export.load(str(args.archive))
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
        parser.error(f"unrecognized arguments: -- {' '.join(args.options)}")
    try:
        {"compile": _compile, "run": _run, "info": _info, "report": _report, "graph": _graph, "bench": _bench, "generate": _text.generate,
         "serve": _text.serve}[args.command](args)
    except OSError as error:
        print(f"luminal: error: {error.filename}: {error.strerror}" if error.filename else f"luminal: error: {error}", file=sys.stderr)
        return 2
    except (_errors.LuminalError, ValueError, ImportError) as error:
        print(f"luminal: error: {_errors.sentence(error)}", file=sys.stderr)
        return 2
    return 0


def luminal_run() -> int:
    """Replaces the process by luminal-run, from the wheel or else from the build in the source tree."""
    package = pathlib.Path(__file__).resolve().parent
    for folder in (package / "bin", package.parents[1] / "build" / "release" / "bin"):
        if (program := folder / "luminal-run").exists():
            os.execv(program, [str(program), *sys.argv[1:]])
    print("luminal-run: error: the program is neither in the package nor in the build of the source tree", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
