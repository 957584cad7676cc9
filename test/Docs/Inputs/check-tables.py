# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-tables.py SOURCE: the tables of docs/LLIR.md and docs/EqualitySaturation.md against the .def files."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])


def text(path):
    return (source / path).read_text()


def rows(path, heading):
    """The cells of the first table behind a heading, without its head."""
    section = text(path).split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


names = dict(re.findall(r'I32EnumAttrCase<"(\w+)", \d+, "(\w+)">', text("include/luminal/Dialect/LLIR/IR/LLIRAttrs.td")))
stated = {names[fn]: bounds for fn, *bounds in re.findall(
    r"^LUMINAL_FN\w*\((\w+), (?:\d, )?\w+, \d+, ([\d.]+), ([\d.]+), ([\d.]+)", text("include/luminal/Dialect/LLIR/IR/Functions.def"), re.M)}
told = {fn: row[1:] for row in rows("docs/LLIR.md", "Numbers") for fn in re.findall(r"`(\w+)`", row[0])}
for fn in stated.keys() | told.keys():
    assert stated.get(fn) == told.get(fn), f"{fn}: the code says {stated.get(fn)}, docs/LLIR.md {told.get(fn)}"

limits = {name: eval(default.replace("uint64_t", "int")) for name, default in re.findall(
    r'^LUMINAL_EQSAT_LIMIT\(\w+, \w+, "([\w-]+)", (.*),$', text("include/luminal/EqSat/Core/Limits.def"), re.M)}
units = {"GiB": 1 << 30, "": 1}
printed = {}
for option, default, _ in rows("docs/EqualitySaturation.md", "Limits"):
    number, _, unit = default.partition(" ")
    printed[option.strip("`")] = int(number.replace(",", "")) * units[unit]
assert printed == limits, f"the code says {limits}, docs/EqualitySaturation.md {printed}"
print(f"{len(stated)} functions, {len(limits)} limits")
