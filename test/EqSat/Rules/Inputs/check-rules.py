# ===- check-rules.py - Every rule is named by a test and fires on one --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: check-rules.py SOURCE_DIR: prints each rule of lib/EqSat/Rules/*.pdll that no comment in test/EqSat/Rules/*.mlir
# names, and each that learns nothing from any of these files when all rules run on it.

import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
named = set()
fired = set()
for test in sorted((source / "test/EqSat/Rules").glob("*.mlir")):
    for comment in re.findall(r"^// (.*)$", test.read_text(), re.M):
        named.update(re.findall(r"\w+", comment))
    done = subprocess.run(["luminal-opt", test, "--split-input-file", "--eqsat-saturate", "-o", "/dev/null",
                           "--remarks-filter=eqsat-saturate"], capture_output=True, text=True, check=True)
    for line in done.stderr.splitlines():
        rule, useful = re.search(r"\brule=(\w+)", line), re.search(r"\buseful=(\d+)", line)
        if rule and useful and int(useful[1]) > 0:
            fired.add(rule[1])
rules = []
for file in sorted((source / "lib/EqSat/Rules").glob("*.pdll")):
    rules += [(file.name, name) for name in re.findall(r"^Pattern (\w+)", file.read_text(), re.M)]
problems = [f"{file}: no test names {name}" for file, name in rules if name not in named]
problems += [f"{file}: {name} fires on no test" for file, name in rules if name not in fired]
print("\n".join(problems + [f"{len(rules)} rules"]))
sys.exit(1 if problems or not rules else 0)
