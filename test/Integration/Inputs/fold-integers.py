#!/usr/bin/env python3
# ===- fold-integers.py - Random programs of masks and positions ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fold-integers.py DIR: integers over an index space [s, 5], all of which are results, and calls of several extents."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils/testing"))
import npy

DIMS = "#hlir.dims<s>"


def tensor(element, shape="?x5"):
    return f"tensor<{shape}x{element}, {DIMS}>"


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.values, self.results, self.count = [], [], [], 0

    def emit(self, text):
        self.count += 1
        self.lines.append(f"  %{self.count} = hlir.{text}")
        return f"%{self.count}"

    def keep(self, text, element):
        self.values.append((self.emit(text), element))

    def pick(self, *elements):
        return self.random.choice([v for v in self.values if v[1] in elements])

    def add_iota(self):
        e = self.random.choice(["d0", "d1", "d0 * 3 + d1 - 2", "d0 floordiv 2", "(d0 + d1) mod 3", "max(d0 - 1, 0)", "min(d1, 3)",
                                "s - d0", "s + 1", "max(d0, d1) - s", "(2 * d0 + 1) mod 2", "d0 - (d0 floordiv 4) * 4"])
        element = self.random.choice(["i64", "i64", "i32"])
        self.keep(f"iota <(d0, d1) -> ({e})> : {tensor(element)}", element)

    def add_constant(self):
        element = self.random.choice(["i64", "i32"])
        c = self.emit(f"constant dense<{self.random.choice([0, 1, -1, 2, 5, 2147483647])}> : tensor<{element}>")
        self.keep(f"view {c} <(d0, d1) -> ()> : tensor<{element}> -> {tensor(element)}", element)

    def add_view(self):
        v, element = self.pick("i1", "i32", "i64")
        e = self.random.choice(["max(d0 - 1, 0), d1", "0, d1", "s - 1 - d0, d1", "d0, min(d1, 3)", "d0, 4 - d1", "d0, 0",
                                "d0, (d1 + d0) mod 5", "d0, d1"])
        self.keep(f"view {v} <(d0, d1) -> ({e})> : {tensor(element)} -> {tensor(element)}", element)

    def add_arithmetic(self):
        op = self.random.choice(["add", "mul"])
        a, element = self.pick(*(["i32", "i64"] if op == "add" else ["i1", "i32", "i64"]))
        self.keep(f"{op} {a}, {self.pick(element)[0]} : {tensor(element)}", element)

    def add_comparison(self):
        a, element = self.pick("i1", "i32", "i64")
        self.keep(f"less_than {a}, {self.pick(element)[0]} : {tensor(element)} -> {tensor('i1')}", "i1")

    def add_select(self):
        if all(v[1] != "i1" for v in self.values):
            return
        a, element = self.pick("i1", "i32", "i64")
        self.keep(f"select {self.pick('i1')[0]}, {a}, {self.pick(element)[0]} : {tensor('i1')}, {tensor(element)}", element)

    def add_cast(self):
        v, element = self.pick("i1", "i32", "i64")
        to = self.random.choice([e for e in ("i1", "i32", "i64") if e != element])
        self.keep(f"cast {v} : {tensor(element)} -> {tensor(to)}", to)

    def add_reduction(self):
        op = self.random.choice(["reduce_sum", "reduce_max"])
        v, element = self.pick(*(["i32", "i64"] + ["i1"] * (op == "reduce_max")))
        if self.random.random() < 0.5:
            r = self.emit(f"{op} {v} : {tensor(element)} -> {tensor(element, '?')}")
            self.keep(f"view {r} <(d0, d1) -> (d0)> : {tensor(element, '?')} -> {tensor(element)}", element)
        else:
            across = f"tensor<5x?x{element}, {DIMS}>"
            turned = self.emit(f"view {v} <(d0, d1) -> (d1, d0)> : {tensor(element)} -> {across}")
            r = self.emit(f"{op} {turned} : {across} -> tensor<5x{element}>")
            self.keep(f"view {r} <(d0, d1) -> (d1)> : tensor<5x{element}> -> {tensor(element)}", element)

    def add_gather(self):
        v, element = self.pick("i1", "i32", "i64")
        e = self.random.choice(["max(min(d0 + d1 - 2, s - 1), 0)", "s - 1 - d0", "d0", "d0 floordiv 3"])
        column = self.emit(f"view {v} <(d0) -> (d0, 2)> : {tensor(element)} -> {tensor(element, '?')}")
        at = self.emit(f"iota <(d0, d1) -> ({e})> : {tensor('i64')}")
        self.keep(f"gather {column}, {at} : {tensor(element, '?')}, {tensor('i64')} -> {tensor(element)}", element)

    def add_group(self):
        """Ops that read each other alone, so that they stay simple."""
        steps = [self.add_iota, self.add_constant, self.add_view, self.add_arithmetic, self.add_comparison, self.add_comparison,
                 self.add_select, self.add_select, self.add_cast, self.add_reduction, self.add_gather]
        for step in [self.add_iota] * 3 + self.random.choices(steps, k=40):
            step()
        self.results += self.values
        self.values = []

    def write(self, path):
        types = ", ".join(tensor(element) for _, element in self.results)
        path.write_text(f"func.func @main(%x: tensor<?xi64, {DIMS}>) -> ({types})\n"
                        "    attributes {hlir.symbols = #hlir.symbols<s in [1, 64]>} {\n" + "\n".join(self.lines) +
                        f"\n  return {', '.join(value for value, _ in self.results)} : {types}\n}}\n")


folder = pathlib.Path(sys.argv[1])
program = Program(7)
for _ in range(30):
    program.add_group()
program.write(folder / "random.mlir")
for call, extent in enumerate([1, 2, 3, 5, 11]):
    (folder / f"run_{call}").mkdir()
    npy.save(folder / f"run_{call}" / "input_0.npy", "i8", [extent], [0] * extent)
