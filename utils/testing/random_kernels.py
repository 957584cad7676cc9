#!/usr/bin/env python3
# ===- random_kernels.py - Random kernels on a device, in batches --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels of random programs with many schedules each on a device, beside the interpreter.

The programs are those of LuminalRandomProgramsTests (test/unit/Pipelines/RandomKernelsTest.cpp). Each batch is a process
of its own, so that a fault of the device costs one batch; its programs are then run one by one. Prints how many kernels
ran by form and type, and appends them to a table. Exit code 1 where a kernel is wrong, or fewer than --at-least ran.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

FILTER = "--gtest_filter=RandomKernels.*"
# The forms that each device has (docs/CodeGeneration.md).
FORMS = {"cpu": ("elements", "rows", "product", "ordered", "stages", "streamed", "row-program"),
         "cuda": ("elements", "rows", "blocks", "ordered", "updates", "streamed-blocks", "transposes", "row-program", "whole",
                  "sequence")}


def name_card(device):
    """What the table says it ran on."""
    if device != "cuda":
        return device
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def run(binary, device, first, last, timeout):
    began = time.monotonic()
    environment = dict(os.environ, LUMINAL_TEST_DEVICE=device, LUMINAL_KERNELS=f"{first}:{last}")
    try:
        done = subprocess.run([binary, FILTER], env=environment, capture_output=True, text=True, timeout=timeout)
        code, text = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        code, text = 124, (error.stdout or b"").decode() + f"\nno end after {timeout} s\n"
    counts = collections.Counter()
    for line in text.splitlines():
        if line.startswith("kernels "):
            _, form, element, number = line.split()
            counts[form, element] += int(number)
    seconds = time.monotonic() - began
    if seconds > timeout / 4:
        print(f"programs {first}:{last} took {seconds:.0f} s", flush=True)
    return code, text, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--device", default="cuda", choices=sorted(FORMS))
    parser.add_argument("--programs", default="0:400", metavar="FIRST:LAST")
    parser.add_argument("--batch", type=int, default=4, help="programs of a process")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=240, help="seconds of a batch")
    parser.add_argument("--at-least", default="0,0", metavar="KERNELS,EACH", help="in all, and of each form")
    parser.add_argument("--table", type=pathlib.Path, help="rows are appended to this file")
    parser.add_argument("--results", type=pathlib.Path, help="what utils/dev/summarize_tests.py reads")
    args = parser.parse_args()
    binary = args.build / "test/unit/LuminalRandomProgramsTests"
    first, last = map(int, args.programs.split(":"))
    least, each = map(int, args.at_least.split(","))
    total, tests, start = collections.Counter(), [], time.monotonic()

    def note(name, code, text, counts):
        total.update(counts)
        tests.append({"code": "FAIL" if code else "PASS", "name": f"RandomKernels {name}"})
        if code:
            print(f"FAIL: programs {name}, exit code {code}\n{text[-6000:]}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        batches = {pool.submit(run, binary, args.device, i, min(i + args.batch, last), args.timeout): i
                   for i in range(first, last, args.batch)}
        for batch in concurrent.futures.as_completed(batches):
            i, (code, text, counts) = batches[batch], batch.result()
            end = min(i + args.batch, last)
            if code in (0, 1) or end == i + 1:
                note(f"{i}:{end}", code, text, counts)
                continue
            for k in range(i, end):
                note(f"{k}:{k + 1}", *run(binary, args.device, k, k + 1, args.timeout))

    seconds = time.monotonic() - start
    forms = collections.Counter()
    for (form, element), number in sorted(total.items()):
        forms[form] += number
        print(f"{form:16s} {element:5s} {number:6d}")
    for form in FORMS[args.device]:
        missing = forms[form] < each
        tests.append({"code": "FAIL" if missing else "PASS", "name": f"RandomKernels: enough of {form}"})
        print(f"{form:16s} {'all':5s} {forms[form]:6d}" + (f": fewer than {each}" if missing else ""))
    if unknown := set(forms) - set(FORMS[args.device]):
        print(f"forms that this script does not list: {', '.join(sorted(unknown))}")
        tests.append({"code": "FAIL", "name": "RandomKernels: forms are listed"})
    failed = [t["name"] for t in tests if t["code"] == "FAIL"]
    print(f"{sum(total.values())} kernels in {seconds:.0f} s on {args.jobs} cores, {len(failed)} failures", flush=True)
    if sum(total.values()) < least:
        failed.append("too few kernels")
        tests.append({"code": "FAIL", "name": f"RandomKernels: {least} kernels"})
    if args.table:
        row = {"date": time.strftime("%Y-%m-%d"), "device": name_card(args.device), "programs": args.programs, "seconds": round(seconds),
               "kernels": {f"{form} {element}": n for (form, element), n in sorted(total.items())}, "failed": sorted(failed)}
        with args.table.open("a") as file:
            file.write(json.dumps(row) + "\n")
    if args.results:
        args.results.write_text(json.dumps({"tests": tests}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
