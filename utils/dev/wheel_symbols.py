#!/usr/bin/env python3
# ===- wheel_symbols.py - What the tag of a wheel is held by ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wheel_symbols.py WHEEL: the oldest glibc that the wheel's own binaries run with, and the symbols that hold it there: those that
would have to go for an older one. Exit code 1 where the tag asks for a newer glibc than that."""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

wheel = pathlib.Path(sys.argv[1])
holders = collections.defaultdict(set)
with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as members:
    for name in members.namelist():
        path = pathlib.Path(members.extract(name, folder))
        if not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        table = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
        for version, symbol in re.findall(r"\*UND\*.*\(GLIBC_([0-9.]+)\) +(\S+)", table):
            holders[tuple(map(int, version.split(".")))].add(f"{symbol} ({path.name})")
newest = max(holders)
tag = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)", wheel.name).groups()))
print(f"{wheel.name}: glibc {newest[0]}.{newest[1]}, held by {', '.join(sorted(holders[newest]))}")
before = max((version for version in holders if version < newest), default=newest)
print(f"without these {before[0]}.{before[1]}, held by {', '.join(sorted(holders[before]))}")
sys.exit(tag[:2] != newest[:2])
