# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-tables.py SOURCE: tables of the pages against the code: functions, limits, remarks, forms and loops of schedules."""
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

def compare(page, there, printed):
    """What a table of `page` names beside what there is."""
    assert printed == there, f"docs/{page} lacks {sorted(there - printed)}, and has {sorted(printed - there)} alone"


def sources(pattern, *folders):
    """What the pattern finds in the sources of the folders."""
    return [found for folder in folders for path in sorted((source / folder).rglob("*.[ch]*")) for found in re.findall(pattern, path.read_text())]


remarks = set(sources(r'[rR]eporter(?:\(\w+\))?\.(?:passed|missed|analysis)\(\s*[^;"]*?"([a-z-]+)",', "lib/Dialect/LLIR", "lib/Conversion"))
compare("LLIR.md", remarks, {row[1].strip("`") for row in rows("docs/LLIR.md", "What the passes report")})
words = dict(sources(r'StringLiteral (k\w+) = "(\w+)"', "lib/Dialect/LLIR/Schedules", "include/luminal/Dialect/LLIR/Schedules"))
names = {words.get(name, name) for listed in sources(r"StringRef kNames\[\] = \{([^}]*)\}", "lib/Dialect/LLIR/Schedules")
         for name in re.findall(r"\w+", listed)}
# Of values that have no loops.
names.add("keep")
compare("Schedules.md", names, {name for row in rows("docs/Schedules.md", "Forms") for name in re.findall(r"`(\w+)`", row[0])})
# Numbers and words of forms: {"rows", 1, 64}.
numbers = set(sources(r'\{"(\w+)", \d+, [^{}"]+\}', "lib/Dialect/LLIR/Schedules"))
shown = set(re.findall(r"`(\w+)(?: = [^`]*)?`", text("docs/Schedules.md") + text("docs/GPU.md")))
compare("Schedules.md", numbers, numbers & shown)
titles = set(re.findall(r'\{"([a-z ]+)",\s+emit\w+\}', text("lib/Conversion/Emitter/KernelFunction.cpp")))
compare("CodeGeneration.md", titles, {row[0] for row in rows("docs/CodeGeneration.md", "A schedule")})

limits = {name: eval(default.replace("uint64_t", "int")) for name, default in re.findall(
    r'^LUMINAL_EQSAT_LIMIT\(\w+, \w+, "([\w-]+)", (.*),$', text("include/luminal/EqSat/Core/Limits.def"), re.M)}
units = {"GiB": 1 << 30, "": 1}
printed = {}
for option, default, _ in rows("docs/EqualitySaturation.md", "Limits"):
    number, _, unit = default.partition(" ")
    printed[option.strip("`")] = int(number.replace(",", "")) * units[unit]
assert printed == limits, f"the code says {limits}, docs/EqualitySaturation.md {printed}"
print(f"{len(stated)} functions, {len(limits)} limits, {len(remarks)} remarks, {len(names)} forms with {len(numbers)} numbers, {len(titles)} loops")
