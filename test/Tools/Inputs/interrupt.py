#!/usr/bin/env python3
# ===- interrupt.py - Tools that a signal ends while they work -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py FOLDER PROGRAM ARTIFACT INPUT...: each tool has its output open when the signal comes, and leaves no file.

A pipe without a writer keeps the compiler waiting for rules, a benchmark keeps luminal-run running.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

folder, program, artifact, *inputs = sys.argv[1:]
folder = pathlib.Path(folder)
commands = {
    "compile": ["luminal-compile", program, "-o", "out.lum", "--report=report.json", "--eqsat-explain=why.txt",
                "--eqsat-rules=pipe.mlir"],
    "run": ["luminal-run", artifact, *(f"--input={i}" for i in inputs), "--benchmark=600", "--profile=trace.json"],
    "opt": ["luminal-opt", "pipe.mlir", "-o", "out.mlir"],
}
failures = 0
for name, command in commands.items():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        work, temporary = folder / f"{name}-{number}", folder / f"{name}-{number}-tmp"
        for new in (work, temporary):
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
        os.mkfifo(work / "pipe.mlir")
        # A shell starts background processes with SIGINT ignored, which a tool does not change.
        process = subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env={**os.environ, "TMPDIR": str(temporary)},
                                   preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL))
        expected = 2 if name == "compile" else 1
        deadline = time.monotonic() + 60
        while len(list(work.iterdir())) < 1 + expected and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        opened = len(list(work.iterdir())) - 1
        process.send_signal(number)
        try:
            code = process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            code = "no end"
        left = sorted(p.name for p in [*work.iterdir(), *temporary.iterdir()])
        if opened != expected or code != -number or left != ["pipe.mlir"]:
            failures += 1
            print(f"{name}, {number.name}: opened {opened} files, ended with {code}, left {left}")
            print(process.stderr.read().decode(errors="replace")[:500])
sys.exit(f"{failures} cases failed" if failures else 0)
