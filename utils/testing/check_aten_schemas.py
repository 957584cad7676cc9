#!/usr/bin/env python3
# ===- check_aten_schemas.py - The op table's schemas against torch's ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the schemas of lib/Target/PT2/Aten/*.cpp and compares names of arguments and defaults with the operators of
the torch at hand: an argument that torch would write into an archive must be known, and an omitted one must mean what
torch means. The dtype codes of Graph.cpp are compared with torch's as well. Exit code 1 where one differs.
"""
import re
import sys

import torch
import torch._export.serde.schema as serde

from aten_table import SOURCES, schemas  # Beside this file.


def default_of(text):
    text = text.strip()
    if text == "contiguous":  # torch's number for this memory format
        return 0
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    if text.startswith("["):
        return [int(x) for x in text[1:-1].split(",") if x.strip()]
    try:
        return float(text)
    except ValueError:
        return text


def same(ours, theirs):
    if isinstance(theirs, (list, tuple)) or isinstance(ours, list):
        theirs = list(theirs) if isinstance(theirs, (list, tuple)) else [theirs]
        return ours == theirs or (len(set(theirs)) == 1 and ours == theirs[:1])
    return ours == theirs


def check(schema):
    name, _, rest = schema.partition("(")
    namespace, _, op = name.rpartition("::")
    if namespace:
        return None  # Of a library that may be absent.
    packet, _, overload = op.partition(".")
    operator = None
    for known in (packet, packet + "_"):  # Some ops only write in place.
        operator = operator or getattr(getattr(torch.ops.aten, known, None), overload or "default", None)
    if operator is None:
        return "torch has no such operator"
    theirs = {a.name: a for a in operator._schema.arguments}
    ours = {}
    for item in re.split(r",\s*(?![^\[]*\])", rest.removesuffix(")")):
        if item.strip() in ("*", ""):
            continue
        declaration, _, default = item.strip().partition("=")
        ours[declaration.split()[-1]] = default if "=" in item else None
    if list(ours) != list(theirs):
        return f"has arguments {list(ours)}, torch has {list(theirs)}"
    for argument, default in ours.items():
        theirs_has = theirs[argument].has_default_value()
        if theirs_has != (default is not None):
            return f"'{argument}': only one of the two has a default"
        if theirs_has and not same(default_of(default), theirs[argument].default_value):
            return f"'{argument}': default {default}, torch has {theirs[argument].default_value!r}"
    return None


def check_dtypes():
    names = dict(re.findall(r"\{(\d+), \"(\w+)\",", (SOURCES / "Archive/Graph.cpp").read_text()))
    to_torch = {"BYTE": "uint8", "CHAR": "int8", "SHORT": "int16", "INT": "int32", "LONG": "int64", "HALF": "float16",
                "FLOAT": "float32", "DOUBLE": "float64", "COMPLEXHALF": "complex32", "COMPLEXFLOAT": "complex64",
                "COMPLEXDOUBLE": "complex128", "BOOL": "bool"}
    for code in serde.ScalarType:
        if code.name == "UNKNOWN":
            continue
        theirs = to_torch.get(code.name, code.name.lower())
        ours = names.get(str(code.value), "")
        if ours.replace("_", "") != theirs.replace("_", ""):
            yield f"dtype code {code.value} is {code.name}, the table has '{ours}'"


count, problems = 0, []
for file, schema in schemas():
    count += 1
    problem = check(schema)
    if problem:
        problems.append(f"{file.name}: {schema.partition('(')[0]}: {problem}")
problems += check_dtypes()
print(*problems, f"{count} schemas, {len(problems)} problems", sep="\n")
sys.exit(1 if problems or count < 300 else 0)
