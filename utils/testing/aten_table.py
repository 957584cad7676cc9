# ===- aten_table.py - The importer's table of ops, read from its sources ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of lib/Target/PT2/Aten/*.cpp, without a build and without PyTorch."""
import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "lib/Target/PT2"


def schemas():
    """The file and the schema of each row."""
    for file in sorted((SOURCES / "Aten").glob("*.cpp")):
        text = file.read_text()
        table = text.rfind("static const OpRow rows[] = {")
        if table < 0:  # What the themes share.
            continue
        macros = {}
        for name, body in re.findall(r"#define (\w+)((?:[^\n]*\\\n)*[^\n]*)", text):
            macros[name] = body.replace("\\\n", " ")
        for name in macros:  # Twice: one macro uses the other.
            for other in macros:
                macros[name] = macros[name].replace(other, macros[other]) if other != name else macros[name]
        rows = text[table:]
        for name, body in macros.items():
            rows = rows.replace(name, body)
        for row in re.findall(r"\{\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+),", rows):
            yield file, "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", row))


def themes():
    """The files that hold rows, in the order of the table."""
    text = (SOURCES / "Aten/OpTable.cpp").read_text()
    listed = text[text.index("getTable() {"):]
    return [SOURCES / "Aten" / f"{name}.cpp" for name in re.findall(r"get(\w+)Ops\(\)", listed)]


def aliases():
    """Other names of ops in the table: pairs of the other name and the op's."""
    text = (SOURCES / "Aten/OpTable.cpp").read_text()
    return re.findall(r'\{"(\w+)", "(\w+)"\}', text[text.index("kAliases[]"):text.index("getTable() {")])


def refusals():
    """The reason of each refusal of getRefusal, with its ops."""
    text = (SOURCES / "Aten/OpTable.cpp").read_text()
    text = text[text.index("pt2::getRefusal("):]
    return [(reason, re.findall(r'"(\w+)"', names))
            for names, reason in re.findall(r'\{("[^{}]*)\}\)\s*if \(op == \w+\)\s*return "([^"]*)";', text)]
