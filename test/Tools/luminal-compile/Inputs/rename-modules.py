# ===- rename-modules.py - The same graph with other names of modules -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rename-modules.py ARCHIVE OTHER OLD NEW [FIELD]: copies an archive, with modules renamed where nodes tell of them, or
what another field of nodes has.
rename-modules.py --same-manifest A B: whether two artifacts differ in the names of modules alone."""
import json
import re
import sys
import zipfile


def rename(source, target, old, new, field="nn_module_stack"):
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as copy:
        for member in archive.infolist():
            data = archive.read(member)
            if member.filename.endswith(".json"):
                data = re.sub(rf'"{field}": "[^"]*"', lambda m: m[0].replace(old, new), data.decode()).encode()
            copy.writestr(member, data)


def steps(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("manifest.json"))["steps"], json.loads(archive.read("modules.json"))


if sys.argv[1] == "--same-manifest":
    (steps_a, modules_a), (steps_b, modules_b) = steps(sys.argv[2]), steps(sys.argv[3])
    assert steps_a == steps_b and modules_a.keys() == modules_b.keys() and modules_a != modules_b
else:
    rename(*sys.argv[1:])
