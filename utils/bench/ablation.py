#!/usr/bin/env python3
# ===- ablation.py - What each part of the compiler is worth ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs with all parts of the compiler, and with one part left out at a time.

    build/venv/bin/python utils/bench/ablation.py [NAME...] [--archive=model.pt2 ...]

The parts: rolling of loops (--roll=off), stages in a kernel (--fuse=kernels), all fusion (--fuse=ops), libraries
(--library=none), and each compiled-in set of rules. NAME is a program of search_table.py. A row is one form: nodes of
the e-graph, steps of a call, milliseconds of the compile, microseconds of a call (the median over the rounds of each round's
fastest; the forms of a program take turns), and the time beside that with all parts: above 1 the part pays. A form that
does not compile has the reason in place of numbers. All forms' outputs are compared with those with all parts.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import torch

import search_table  # Lies beside this file.

ALL = "all parts"


def get_forms(args, archive):
    sets = search_table.rule_sets(args, archive)
    forms = {ALL: [], "no rolling": ["--roll=off"], "no stages": ["--fuse=kernels"], "no fusion": ["--fuse=ops"],
             "no libraries": ["--library=none"]}
    return forms | {f"no {name} rules": [f"--eqsat-rule-sets={','.join(s for s in sets if s != name)}"] for name in sets}


def compile_form(args, archive, folder, options):
    """The artifact, with its figures; or the first line of the error."""
    artifact, report = folder / f"{len(list(folder.glob('*.lum')))}.lum", folder / "report.json"
    started = time.perf_counter()
    done = subprocess.run([args.bin / "luminal-compile", archive, "-o", artifact, f"--report={report}", "--quiet",
                           f"--workers={args.threads}", *options], capture_output=True, text=True)
    if done.returncode:
        return None, next((line for line in done.stderr.splitlines() if "error:" in line), "failed").split("error: ")[-1]
    figures = json.loads(report.read_text())
    nodes = sum(function["nodes"] for function in figures["saturation"]["functions"])
    return artifact, [nodes, figures["steps"], 1e3 * (time.perf_counter() - started)]


def measure(args, archive, inputs):
    """Rows by form: figures and microseconds, or an error."""
    with tempfile.TemporaryDirectory() as folder:
        rows, calls, expected = {}, {}, None
        for form, options in get_forms(args, archive).items():
            artifact, rows[form] = compile_form(args, archive, pathlib.Path(folder), options)
            if artifact is None:
                continue
            program = search_table.luminal(args, artifact, archive, inputs)
            outputs = [output.clone() for output in program.outputs]
            expected = expected or outputs
            torch.testing.assert_close(outputs, expected, rtol=1e-3, atol=1e-3)
            calls[form] = program.run
        for form, us in search_table.time_forms(calls, args.rounds, args.seconds).items():
            rows[form].append(us)
        return rows


def print_rows(name, rows):
    print(f"{name:24s}{'nodes':>8s}{'steps':>7s}{'compile ms':>12s}{'us':>11s}{'of all':>8s}")
    for form, row in rows.items():
        if isinstance(row, str):
            print(f"  {form:22s}  {row[:90]}")
            continue
        nodes, steps, milliseconds, us = row
        print(f"  {form:22s}{nodes:8d}{steps:7d}{milliseconds:12.0f}{us:11.2f}{us / rows[ALL][3]:8.3f}")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs (default: all, unless there are archives)")
    parser.add_argument("--archive", type=pathlib.Path, action="append", default=[],
                        help="a torch.export archive, with the inputs that it holds")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each form of a program, over all rounds")
    parser.add_argument("--bin", type=pathlib.Path, default=search_table.ROOT / "build/release/bin")
    parser.add_argument("--library", type=pathlib.Path,
                        default=search_table.ROOT / "build/release/lib/libluminal-runtime.so")
    args = parser.parse_args()
    if unknown := set(args.names) - set(search_table.PROGRAMS):
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(search_table.PROGRAMS)}")
    torch.set_grad_enabled(False)
    for name in args.names or ([] if args.archive else search_table.PROGRAMS):
        torch.manual_seed(sum(map(ord, name)))
        case = search_table.PROGRAMS[name]()
        with tempfile.TemporaryDirectory() as folder:
            archive = pathlib.Path(folder) / "model.pt2"
            torch.export.save(torch.export.export(case.model.eval(), case.args), archive)
            print_rows(name, measure(args, archive, case.args))
    for archive in args.archive:
        inputs, keywords = torch.export.load(archive).example_inputs
        if keywords:
            parser.error(f"{archive}: has inputs by name")
        print_rows(archive.stem, measure(args, archive, inputs))


if __name__ == "__main__":
    sys.exit(main())
