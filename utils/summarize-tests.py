#!/usr/bin/env python3
# ===- summarize-tests.py - One closing line for several test runs ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads result files of `lit --output` and of `pytest --junitxml`, and prints `N passed, N failed, N skipped`.

A test that one build skips and another passes is not skipped. Exit code 1 where a test failed, a file is missing, or
nothing ran.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def read_lit(file):
    return [(test["code"], test["name"]) for test in json.loads(file.read_text())["tests"]]


def read_pytest(file):
    codes = {"skipped": "SKIPPED", "failure": "FAIL", "error": "FAIL"}
    return [(next((codes[part.tag] for part in test if part.tag in codes), "PASS"),
             f"{test.get('classname')}.{test.get('name')}")
            for test in xml.etree.ElementTree.parse(file).iter("testcase")]


def main():
    passed, skipped, failed = [], [], []
    for file in map(pathlib.Path, sys.argv[1:]):
        if not file.exists():
            failed.append(f"{file}: there are no results")
            continue
        for code, name in (read_pytest if file.suffix == ".xml" else read_lit)(file):
            if code in PASSED:
                passed.append(name)
            elif code in SKIPPED:
                skipped.append(name)
            else:
                failed.append(f"{code.lower()}: {name} ({file.parent.name})")
    skipped = sorted(set(skipped) - set(passed))
    for name in skipped:
        print(f"skipped: {name}")
    print("\n".join(failed), end="\n" if failed else "")
    print(f"{len(passed)} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
