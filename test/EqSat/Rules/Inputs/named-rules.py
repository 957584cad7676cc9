# ===- named-rules.py - Every rule is named by a test -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: named-rules.py SOURCE_DIR: prints each rule of lib/EqSat/Rules/*.pdll that no test in test/EqSat/Rules names
# in a comment. LuminalEqSatRulesTests checks that it fires.

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
comments = []
for test in sorted((source / "test/EqSat/Rules").glob("*.mlir")):
    comments += re.findall(r"^// (.*)$", test.read_text(), re.M)
words = set(re.findall(r"\w+", " ".join(comments)))
rules = []
for file in sorted((source / "lib/EqSat/Rules").glob("*.pdll")):
    rules += [(file.name, name) for name in re.findall(r"^Pattern (\w+)", file.read_text(), re.M)]
missing = [rule for rule in rules if rule[1] not in words]
for file, name in missing:
    print(f"{file}: no test names {name}")
print(f"{len(rules)} rules")
sys.exit(1 if missing or not rules else 0)
