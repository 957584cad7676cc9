# ===- fired-rules.py - Every rule fires on HLIR written by hand ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: fired-rules.py SOURCE_DIR: saturates test/EqSat/Rules/*.mlir with all rules and prints each rule of
# lib/EqSat/Rules/*.pdll that learned nothing from any of them. What comes of a rule is the tests' own business.

import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
fired = set()
for test in sorted((source / "test/EqSat/Rules").glob("*.mlir")):
    done = subprocess.run(["luminal-opt", test, "--split-input-file", "--eqsat-saturate", "-o", "/dev/null",
                           "--remarks-filter=eqsat-saturate"], capture_output=True, text=True, check=True)
    for line in done.stderr.splitlines():
        rule, useful = re.search(r"\brule=(\w+)", line), re.search(r"\buseful=(\d+)", line)
        if rule and useful and int(useful[1]) > 0:
            fired.add(rule[1])
rules = []
for file in sorted((source / "lib/EqSat/Rules").glob("*.pdll")):
    rules += [(file.name, name) for name in re.findall(r"^Pattern (\w+)", file.read_text(), re.M)]
missing = [rule for rule in rules if rule[1] not in fired]
for file, name in missing:
    print(f"{file}: {name} fires on no test")
print(f"{len(rules)} rules")
sys.exit(1 if missing or not rules else 0)
