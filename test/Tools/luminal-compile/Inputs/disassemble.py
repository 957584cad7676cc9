# ===- disassemble.py - The features that an artifact needs, and its code ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import subprocess
import sys
import tempfile
import zipfile

artifact, objdump = sys.argv[1:]
with zipfile.ZipFile(artifact) as archive, tempfile.NamedTemporaryFile(suffix=".so") as code:
    print("features:", *json.loads(archive.read("manifest.json"))["target"]["features"], flush=True)
    code.write(archive.read("host.so"))
    code.flush()
    subprocess.run([objdump, "-d", "--no-show-raw-insn", code.name], check=True)
