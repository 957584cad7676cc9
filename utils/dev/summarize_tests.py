#!/usr/bin/env python3
# ===- summarize_tests.py - One closing line for several test runs ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads result files of `lit --output` and of `pytest --junitxml`, and prints `N passed, N failed, N skipped`.

A test that one build skips and another passes is not skipped. Under the name of each that failed stand the last lines of
its output: whoever keeps only the end of a log still sees why. Exit code 1 where a test failed, a file is missing, or
nothing ran. An argument --failure=TEXT is one more failure.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def read_lit(file):
    """(code, name, output) of each test."""
    return [(test["code"], test["name"], test.get("output", "")) for test in json.loads(file.read_text())["tests"]]


def read_pytest(file):
    """(code, name, output) of each test."""
    codes = {"skipped": "SKIPPED", "failure": "FAIL", "error": "FAIL"}
    tests = []
    for test in xml.etree.ElementTree.parse(file).iter("testcase"):
        code, output = next(((codes[part.tag], part.text or "") for part in test if part.tag in codes), ("PASS", ""))
        tests.append((code, f"{test.get('classname')}.{test.get('name')}", output))
    return tests


def last_lines(output, lines=12, width=300):
    """The end of `output`, indented, without empty lines and with long lines cut."""
    return [f"    {line[:width]}" for line in output.splitlines() if line.strip()][-lines:]


def main():
    passed, skipped, failed = [], [], []
    for argument in sys.argv[1:]:
        file = pathlib.Path(argument)
        if argument.startswith("--failure="):
            failed.append(argument.removeprefix("--failure="))
            continue
        if not file.exists():
            failed.append(f"{file}: there are no results")
            continue
        for code, name, output in (read_pytest if file.suffix == ".xml" else read_lit)(file):
            if code in PASSED:
                passed.append(name)
            elif code in SKIPPED:
                skipped.append(name)
            else:
                failed.append("\n".join([f"{code.lower()}: {name} ({file.parent.name})", *last_lines(output)]))
    skipped = sorted(set(skipped) - set(passed))
    for name in skipped:
        print(f"skipped: {name}")
    print("\n".join(failed), end="\n" if failed else "")
    print(f"{len(passed)} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
