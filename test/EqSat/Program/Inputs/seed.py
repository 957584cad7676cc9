#!/usr/bin/env python3
# ===- seed.py - What seeds of the extraction do ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""seed.py OUT: saturates one sum of products with many seeds and checks every program that comes out."""
import json
import pathlib
import re
import subprocess
import sys

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)


def pattern(name, lhs, rhs):
    """A pdl.pattern of two terms: (op, left, right), or the name of an operand."""
    lines, count = ["%t = pdl.type"], 0

    def leaves(term):
        return {term} if isinstance(term, str) else leaves(term[1]) | leaves(term[2])

    lines += [f"%{v} = pdl.operand" for v in sorted(leaves(lhs))]

    def build(term, top):
        nonlocal count
        if isinstance(term, str):
            return f"%{term}"
        a, b = build(term[1], False), build(term[2], False)
        count += 1
        op = f"%o{count}"
        lines.append(f'{op} = pdl.operation "test.{term[0]}"({a}, {b} : !pdl.value, !pdl.value) -> (%t : !pdl.type)')
        if top:
            return op
        lines.append(f"%r{count} = pdl.result 0 of {op}")
        return f"%r{count}"

    root = build(lhs, True)
    lines.append(f"pdl.rewrite {root} {{")
    made = build(rhs, True)
    lines += [f"pdl.replace {root} with {made}", "}"]
    body = "\n  ".join(lines)
    return f'pdl.pattern @{name} : benefit(0) attributes {{eqsat.promise = "exact"}} {{\n  {body}\n}}\n'


def both(op):
    return (pattern(f"Commute_{op}", (op, "a", "b"), (op, "b", "a"))
            + pattern(f"Associate_{op}", (op, "a", (op, "b", "c")), (op, (op, "a", "b"), "c")))


rules = out / "rules.mlir"
rules.write_text(both("add") + both("mul")
                 + pattern("Distribute", ("mul", "a", ("add", "b", "c")), ("add", ("mul", "a", "b"), ("mul", "a", "c")))
                 + pattern("Factor", ("add", ("mul", "a", "b"), ("mul", "a", "c")), ("mul", "a", ("add", "b", "c"))))
program = out / "program.mlir"
program.write_text("""func.func @f(%a: i64, %b: i64, %c: i64, %d: i64, %e: i64) -> i64 {
  %0 = "test.mul"(%a, %b) : (i64, i64) -> i64
  %1 = "test.mul"(%a, %c) : (i64, i64) -> i64
  %2 = "test.add"(%1, %d) : (i64, i64) -> i64
  %3 = "test.add"(%0, %2) : (i64, i64) -> i64
  %4 = "test.add"(%3, %e) : (i64, i64) -> i64
  return %4 : i64
}
""")


def evaluate(text):
    """The result, and the number of ops."""
    names = re.findall(r"%(\w+): i64", text)
    values, ops = {n: 1000 + 7 ** i for i, n in enumerate(names)}, 0
    for to, op, a, b in re.findall(r'%(\w+) = "test\.(\w+)"\(%(\w+), %(\w+)\)', text):
        values[to] = values[a] + values[b] if op == "add" else values[a] * values[b]
        ops += 1
    return values[re.search(r"return %(\w+)", text)[1]], ops


def run(options):
    report = out / "report.json"
    done = subprocess.run(
        ["luminal-opt", program, "--allow-unregistered-dialect",
         f"--eqsat-saturate=no-rule-sets cost=unit allow-unregistered rules={rules} report={report} {options}"],
        capture_output=True, text=True, check=True)
    function = json.loads(report.read_text())["functions"][0]
    assert function["stop"] == "saturated", function["stop"]
    return done.stdout, function["extraction"]["cost"]


expected, _ = evaluate(program.read_text())
plain, least = run("")
assert (plain, least) == run("seed=0 seed-strength=2") == run("seed=3 seed-strength=0")
assert least == 4, least
programs, costs = {plain}, set()
for seed in range(1, 31):
    text, cost = run(f"seed={seed} seed-strength=2")
    assert (text, cost) == run(f"seed={seed} seed-strength=2"), f"seed {seed}: another program the second time"
    result, ops = evaluate(text)
    assert result == expected, f"seed {seed}: another result:\n{text}"
    assert cost == ops >= least, f"seed {seed}: costs {cost}, has {ops} ops"
    programs.add(text)
    costs.add(cost)
assert len(programs) > 10, f"{len(programs)} programs"
assert len(costs) > 1, costs
