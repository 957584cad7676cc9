#!/usr/bin/env python3
# ===- random-ops.py - A call of every op that draws random numbers -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random-ops.py MAKE_PT2_INPUTS OUT   writes an archive that calls each op of ATen that torch marks as random, and prints
                                    their names
   random-ops.py ERRORS < NAMES        checks that the one error refuses each of them for that reason
"""
import pathlib
import runpy
import sys

# With one of these, drawing can be turned off.
ARGUMENTS = {"train", "training", "dropout", "dropout_p"}


def write(make, out):
    import torch

    names = []
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, name = name.partition("::")
        base, _, overload = name.partition(".")
        # Overloads with .out take results as arguments, and are never exported; nested tensors have no layout here.
        if namespace != "aten" or "out" in overload.split("_") or base.startswith("_nested"):
            continue
        op = getattr(getattr(torch.ops.aten, base), overload or "default")
        decided = ARGUMENTS & {argument.name for argument in op._schema.arguments}
        if torch.Tag.nondeterministic_seeded in op.tags and not decided:
            names.append(f"aten.{base}.{overload or 'default'}")
    sys.path.insert(0, str(pathlib.Path(make).parent))
    module = runpy.run_path(make, run_name="inputs")
    archive = module["Archive"]()
    for i, name in enumerate(sorted(names)):
        archive.add(f"torch.ops.{name}", [("self", module["tensor"]("x"))], f"random_{i}", beside=True)
    pathlib.Path(out).write_bytes(module["pack"](archive.members))
    print("\n".join(sorted(names)))


def check(errors):
    text = pathlib.Path(errors).read_text()
    error = [line for line in text.splitlines() if "error: " in line]
    assert len(error) == 1, text
    reasons = dict(part.partition(": ")[::2] for part in error[0].partition("unsupported ops ")[2].split("; "))
    names = sys.stdin.read().split()
    assert len(names) > 40, names
    missed = [name for name in names if reasons.get(name) != "draws random numbers"]
    for name in missed:
        print(f"{name}: {reasons.get(name, 'accepted')}")
    return 1 if missed else 0


sys.exit(check(sys.argv[1]) if len(sys.argv) == 2 else write(*sys.argv[1:]))
