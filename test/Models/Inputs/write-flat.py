#!/usr/bin/env python3
# ===- write-flat.py - An archive in the layout of torch 2.6 --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""write-flat.py IN OUT   the same program; weights as torch.save files inside the zip"""
import io
import sys
import zipfile

import torch

program = torch.export.load(sys.argv[1])
with zipfile.ZipFile(sys.argv[1]) as archive:
    member = next(n for n in archive.namelist() if n.endswith("models/model.json"))
    text = archive.read(member)
state = {**program.state_dict}
constants = {k: v for k, v in program.constants.items() if isinstance(v, torch.Tensor)}
with zipfile.ZipFile(sys.argv[2], "w") as out:
    out.writestr("serialized_exported_program.json", text)
    for name, tensors in (("state_dict", state), ("constants", constants)):
        buffer = io.BytesIO()
        torch.save(tensors, buffer)
        out.writestr(f"serialized_{name}.pt", buffer.getvalue())
    out.writestr("version", "8.2")
