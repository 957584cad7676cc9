# ===- refused-rules.py - Each rule of a file is refused at its place ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: refused-rules.py RULES.pdll DIRECTORY: runs each pattern of the file alone, on a program without one op, and
# holds what luminal-opt says to the comment before the pattern.
import pathlib
import re
import subprocess
import sys

source, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
directory.mkdir(parents=True, exist_ok=True)
(directory / "input.mlir").write_text("func.func @f() { return }\n")
lines = source.read_text().splitlines()
common = [line if not line.startswith("Pattern") else "" for line in lines]
bad, count = 0, 0
for number, line in enumerate(lines):
    if not line.startswith("Pattern"):
        continue
    expected = re.fullmatch(r"// refused at (.*?): (.*)", lines[number - 1])
    name = line.split()[1]
    place = line.index(expected[1])
    # Every other line stays empty, so that numbers stay as they are.
    rules = directory / f"{name}.pdll"
    rules.write_text("\n".join(common[:number] + [line]) + "\n")
    pdl = subprocess.run(["mlir-pdll", "-x=mlir", rules], capture_output=True, text=True)
    assert pdl.returncode == 0, pdl.stderr
    text = re.sub(r"\) \{$", ') attributes {eqsat.promise = "exact"} {', pdl.stdout, flags=re.M)
    (directory / f"{name}.mlir").write_text(text)
    unregistered = "" if "other." in line else " allow-unregistered"
    run = subprocess.run(
        [
            "luminal-opt",
            directory / "input.mlir",
            f"--eqsat-saturate=no-rule-sets cost=unit{unregistered} rules={directory}/{name}.mlir",
        ],
        capture_output=True,
        text=True,
    )
    message = f"{rules}:{number + 1}:{place + 1}: error: rule '{name}' cannot be used: {expected[2]}\n"
    count += 1
    if run.returncode != 2 or run.stdout or not run.stderr.startswith(message) or run.stderr.count("error: ") != 1:
        bad += 1
        print(f"{name}: expected\n  {message}  but exit {run.returncode} and\n  {run.stderr or run.stdout}")
print(f"{count} rules, {bad} not refused as they should be")
sys.exit(bad != 0)
