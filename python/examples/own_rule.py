# ===- own_rule.py - One's own rule --------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds a rule to those of the compiler: 1 / (1 / x) = x.

The rule states its promise, two roundings, so ``precision="exact"`` leaves it out. docs/EqualitySaturation.md says how
rules are written and proved.
"""
import pathlib
import re
import tempfile

import luminal
import torch

RULE = """
pdl.pattern @RecipRecip : benefit(0) attributes {eqsat.promise = "rounding(2)", eqsat.dtypes = [f32, f64]} {
  %type = pdl.type
  %x = pdl.operand : %type
  %inner = pdl.operation "hlir.recip"(%x : !pdl.value) -> (%type : !pdl.type)
  %y = pdl.result 0 of %inner
  %root = pdl.operation "hlir.recip"(%y : !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}
"""


def function(x):
    return (x + 1).reciprocal().reciprocal() * 3


x = torch.rand(100) + 1
with tempfile.TemporaryDirectory() as folder:
    rule = pathlib.Path(folder) / "rule.mlir"
    rule.write_text(RULE)
    for precision, rules in (("finite", []), ("finite", [str(rule)]), ("exact", [str(rule)])):
        compiled = luminal.compile(function, (x,), precision=precision, rules=rules)
        torch.testing.assert_close(compiled(x), function(x))
        divisions = len(re.findall("elementwise (?:recip|div)", compiled.ir("saturated")))
        print(f"precision {precision}, {len(rules)} rules of ours: {divisions} divisions")
        assert divisions == (0 if rules and precision == "finite" else 2)
