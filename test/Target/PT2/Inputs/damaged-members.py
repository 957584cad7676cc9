#!/usr/bin/env python3
# ===- damaged-members.py - Archives of torch, one member damaged ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damaged-members.py ARCHIVE OUT: removes, empties, cuts and overwrites each member of a real archive in turn, and the whole.

luminal-compile must refuse each with exit code 2 and one located error, and leave no file, or compile it as if nothing had
happened to it (not all members are needed, and weights may have any value): never anything else.
"""
import io
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

archive, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
shutil.rmtree(out, ignore_errors=True)
out.mkdir(parents=True)
data = archive.read_bytes()
with zipfile.ZipFile(archive) as file:
    members = {info.filename: file.read(info) for info in file.infolist()}


def pack(contents):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in contents.items():
            file.writestr(name, content)
    return buffer.getvalue()


def damages():
    for k in range(10):
        yield f"cut at {k} tenths", data[:len(data) * k // 10], True
    for name, content in members.items():
        isGraph = name.endswith("program.json") or "/models/" in name
        others = {key: value for key, value in members.items() if key != name}
        yield f"{name} removed", pack(others), isGraph
        yield f"{name} empty", pack({**others, name: b""}), isGraph
        yield f"{name} cut", pack({**others, name: content[:len(content) // 2]}), isGraph
        yield f"{name} overwritten", pack({**others, name: b"\xff" * len(content)}), isGraph
        yield f"{name} reversed", pack({**others, name: content[::-1]}), isGraph


refused = count = 0
problems = []
for what, damaged, isNeeded in damages():
    source, artifact = out / "model.pt2", out / "model.lum"
    source.write_bytes(damaged)
    artifact.unlink(missing_ok=True)
    done = subprocess.run(["luminal-compile", source, "-o", artifact, "--embed-weights", "--threads=1"],
                          capture_output=True, text=True, errors="replace")
    count += 1
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    if done.returncode == 0 and artifact.exists() and not errors and not isNeeded:
        continue
    refused += 1
    if (done.returncode != 2 or len(errors) != 1 or artifact.exists() or
            not re.match(r"[^ ]+:[0-9]+:[0-9]+: error: ", errors[0])):
        problems.append(f"{what}: exit {done.returncode}, {errors or done.stderr[:300]}")
print("\n".join(problems))
print(f"{refused} of {count} refused")
sys.exit(1 if problems or refused < 20 else 0)
