#!/usr/bin/env python3
# ===- determinism.py - The same program gives the same bytes ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""determinism.py again ARCHIVE OUT: compiled again, with another number of threads, from another folder, with another layout of
       memory and other ways of printing, it gives the same artifact.
determinism.py phases ARCHIVE OUT PHASE...: each intermediate of luminal-pipeline is a file that luminal-opt goes on from to
       the same code, and luminal-compile, for the phases named, to the same artifact.
determinism.py labels ARCHIVE OUT: without locations and names, and with misleading ones, the machine code is the same.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

PHASES = ["imported", "rolled", "saturated", "fused", "scheduled", "lowered"]


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr[:2000]}")
    return done.stdout


def compile(source, artifact, *options, before=(), **more):
    run(*before, "luminal-compile", source, "-o", artifact, *options, **more)
    return artifact.read_bytes()


def content(artifact):
    """The members, without the archive's path in the manifest."""
    with zipfile.ZipFile(artifact) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["manifest.json"] = json.loads(members["manifest.json"])
    del members["manifest.json"]["weights_file"]
    return members


def opt(source, result, *options):
    run("luminal-opt", source, "-o", result, *options)
    return result


def again(archive, out):
    first = compile(archive, out / "first.lum")
    elsewhere = out / "else" / "where"
    elsewhere.mkdir(parents=True)
    shutil.copy(archive, elsewhere / "renamed.pt2")
    environment = {**os.environ, "MALLOC_PERTURB_": "85", "MALLOC_MMAP_THRESHOLD_": "4096", "LANG": "C"}
    fixed = ["setarch", "-R"] if shutil.which("setarch") and not subprocess.run(
        ["setarch", "-R", "true"], capture_output=True).returncode else []
    report = f"--report={out / 'report.json'}"
    printing = ["--mlir-print-debuginfo", "--mlir-elide-elementsattrs-if-larger=1", "--mlir-print-op-generic"]
    runs = {
        "again": (archive, [], {}),
        "one thread, nothing random in memory": (archive, ["--threads=1"], {"before": fixed}),
        "seven threads, another memory, folder and name, a report, other printing": (
            "renamed.pt2", ["--threads=7", report, *printing], {"env": environment, "cwd": elsewhere}),
    }
    program = content(out / "first.lum")
    for name, (source, options, more) in runs.items():
        data = compile(source, out / "again.lum", *options, **more)
        if content(out / "again.lum") != program or (source == archive and data != first):
            sys.exit(f"{archive}: another artifact: {name}")


def phases(archive, out, *compiled):
    expected = compile(archive, out / "direct.lum")
    keep = "--mlir-print-debuginfo"
    run("luminal-translate", "--import-pt2", archive, "-o", out / "imported.mlir", keep)
    for before, phase in zip(PHASES, PHASES[1:]):
        opt(out / f"{before}.mlir", out / f"{phase}.mlir", f"--luminal-pipeline=from={before} until={phase}", keep)
    lowered = (out / "lowered.mlir").read_bytes()
    for phase in PHASES:
        emitted = out / f"emitted-{phase}.mlir"
        run("luminal-compile", archive, f"--emit={phase}", "-o", emitted, keep)
        # The compiler and the pipeline agree on each phase, and on the phases after each.
        if emitted.read_bytes().strip() != (out / f"{phase}.mlir").read_bytes().strip():
            sys.exit(f"{archive}: --emit={phase} is not what luminal-pipeline gives")
        rest = opt(emitted, out / "rest.mlir", f"--luminal-pipeline=from={phase}", keep)
        if rest.read_bytes() != lowered:
            sys.exit(f"{archive}: other code by way of {phase}.mlir")
        if phase in compiled and compile(emitted, out / "way.lum", f"--weights={archive}") != expected:
            sys.exit(f"{archive}: another artifact by way of {phase}.mlir")


def machine_code(artifact):
    with zipfile.ZipFile(artifact) as archive:
        return archive.read("host.so")


def labels(archive, out):
    compile(archive, out / "labels.lum")
    expected = machine_code(out / "labels.lum")
    imported = out / "imported.mlir"
    run("luminal-translate", "--import-pt2", archive, "-o", imported)  # Prints no locations.
    text = imported.read_text()
    bare = re.sub(r', hlir\.name = "[^"]*"|hlir\.name = "[^"]*"(, )?', "", text)
    assert bare != text and "hlir.name" not in bare
    misled, count = [], 0
    for i, line in enumerate(bare.splitlines()):
        line, changed = re.subn(r"(= hlir\.(?:add|mul|recip|exp2|sqrt|reduce_sum) [^:]*) :",
                                r'\1 {"test.label" = "softmax"} :', line)
        count += changed
        misled.append(line + f' loc("layer_norm{i}"("model{i}.py":{i + 1}:1))' if changed else line)
    assert count > 5
    for name, program in ("bare", bare), ("misled", "\n".join(misled)):
        (out / f"{name}.mlir").write_text(program)
        compile(out / f"{name}.mlir", out / f"{name}.lum", f"--weights={archive}")
        if machine_code(out / f"{name}.lum") != expected:
            sys.exit(f"{archive}: other machine code: {name}")


what, archive, out = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
shutil.rmtree(out, ignore_errors=True)
out.mkdir(parents=True)
{"again": again, "phases": phases, "labels": labels}[what](archive, out, *sys.argv[4:])
