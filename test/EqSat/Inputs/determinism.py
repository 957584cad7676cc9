#!/usr/bin/env python3
# ===- determinism.py - The same program and report, twenty times ----------------===#
"""determinism.py PROGRAM OUT: saturates the program twenty times under changing layouts of memory."""
import os
import pathlib
import re
import subprocess
import sys

program, out = sys.argv[1], pathlib.Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)
# What is freed is overwritten; all memory is mapped, or none; large pages; no cache of small blocks; tiny arenas.
LAYOUTS = [
    {},
    {"MALLOC_PERTURB_": "85"},
    {"MALLOC_PERTURB_": "170", "MALLOC_MMAP_THRESHOLD_": "4096"},
    {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.tcache_count=0"},
    {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=65536"},
]
seen = set()
for i in range(20):
    report = out / f"{i}.json"
    # The name of the report takes no part; nor does the environment's size, which moves the stack.
    done = subprocess.run(["luminal-opt", program, f"--eqsat-saturate=report={report}"], capture_output=True, text=True,
                          env={**os.environ, **LAYOUTS[i % len(LAYOUTS)], "PADDING": "x" * (i * 977)})
    if done.returncode:
        sys.exit(f"run {i}: exit {done.returncode}\n{done.stderr[:2000]}")
    # "idle" compares times.
    text, times = re.subn(r'("(?:total|match|apply|rebuild|extract|match_milliseconds|apply_milliseconds|idle)": )[^,\n]+',
                          r"\1_", report.read_text())
    assert times > 50 and '"useful": 0' in text
    seen.add((done.stdout, text))
if len(seen) != 1:
    sys.exit(f"{len(seen)} different results of twenty runs")
program_out = next(iter(seen))[0]
assert program_out != pathlib.Path(program).read_text() and "llir." in program_out
