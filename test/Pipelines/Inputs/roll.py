#!/usr/bin/env python3
# ===- roll.py - Programs of equal layers ------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""roll.py grow OUT: from 4 layers on, the e-graph is as large whatever their number, and kernels are as many as without rolling.
roll.py bits OUT: rolled and unrolled programs give the same numbers, those of the interpreter, outputs of each layer too.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils/testing"))
import npy

ROWS, MATRIX, WIDE, CUBE = "tensor<8xf32>", "tensor<8x16xf32>", "tensor<16x16xf32>", "tensor<8x16x16xf32>"


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr[:2000]}")
    return done


def layer(i):
    """x + f(norm(x) @ w), where f has a constant of its own; the scores are an output."""
    return f"""
    %sq{i} = hlir.mul %x{i}, %x{i} : {MATRIX}
    %sum{i} = hlir.reduce_sum %sq{i} : {MATRIX} -> {ROWS}
    %eps{i} = hlir.constant dense<16.0> : tensor<f32>
    %e{i} = hlir.view %eps{i} <(d0) -> ()> : tensor<f32> -> {ROWS}
    %mean{i} = hlir.add %sum{i}, %e{i} : {ROWS}
    %root{i} = hlir.sqrt %mean{i} : {ROWS}
    %inv{i} = hlir.recip %root{i} : {ROWS}
    %row{i} = hlir.view %inv{i} <(d0, d1) -> (d0)> : {ROWS} -> {MATRIX}
    %norm{i} = hlir.mul %x{i}, %row{i} : {MATRIX}
    %l{i} = hlir.view %norm{i} <(d0, d1, d2) -> (d0, d2)> : {MATRIX} -> {CUBE}
    %r{i} = hlir.view %w{i} <(d0, d1, d2) -> (d1, d2)> : {WIDE} -> {CUBE}
    %p{i} = hlir.mul %l{i}, %r{i} : {CUBE}
    %dot{i} = hlir.reduce_sum %p{i} : {CUBE} -> {MATRIX}
    %own{i} = hlir.constant dense<0.{i + 1}> : tensor<f32>
    %o{i} = hlir.view %own{i} <(d0, d1) -> ()> : tensor<f32> -> {MATRIX}
    %scaled{i} = hlir.mul %dot{i}, %o{i} : {MATRIX}
    %s{i} = hlir.sin %scaled{i} : {MATRIX}
    %x{i + 1} = hlir.add %x{i}, %s{i} : {MATRIX}"""


def program(layers, outputs):
    results = [f"%x{layers}"] + [f"%dot{i}" for i in range(layers) if outputs]
    types = ", ".join([MATRIX] * len(results))
    arguments = ", ".join([f"%x0: {MATRIX}"] + [f"%w{i}: {WIDE}" for i in range(layers)])
    return (f"func.func @main({arguments}) -> ({types}) {{" + "".join(map(layer, range(layers))) +
            f"\n    return {', '.join(results)} : {types}\n}}\n")


def compile(out, name, layers, roll, outputs=False):
    path = out / f"{name}.mlir"
    path.write_text(program(layers, outputs))
    report = out / f"{name}.json"
    run("luminal-compile", path, "-o", path.with_suffix(".lum"), f"--roll={roll}", f"--report={report}", "--quiet")
    return json.loads(report.read_text())


def nodes_of(report):
    return report["saturation"]["functions"][0]["nodes"]


def grow(out):
    rolled, flat = ({n: compile(out, f"{roll}{n}", n, roll) for n in (4, 8, 64)} for roll in ("on", "off"))
    # Operands of each trip are leaves.
    for n in (8, 64):
        if nodes_of(rolled[n]) - nodes_of(rolled[4]) > 4 * (n - 4):
            sys.exit(f"{n} layers are {nodes_of(rolled[n])} nodes, 4 are {nodes_of(rolled[4])}")
    if nodes_of(flat[64]) < 10 * nodes_of(flat[4]):
        sys.exit(f"without rolling, 64 layers are {nodes_of(flat[64])} nodes, 4 are {nodes_of(flat[4])}")
    for n in rolled:
        if rolled[n]["steps"] != flat[n]["steps"]:
            sys.exit(f"{n} layers are {rolled[n]['steps']} steps rolled, {flat[n]['steps']} flat")


def bits(out):
    layers = 5
    inputs = []
    for i in range(layers + 1):
        shape = (8, 16) if i == 0 else (16, 16)
        count = shape[0] * shape[1]
        inputs.append(out / f"in{i}.npy")
        npy.save(inputs[-1], "f4", shape, [((k * 37 + i * 11) % 101 - 50) / 64 for k in range(count)])
    given = [f"--input={path}" for path in inputs]
    for roll in ("on", "off"):
        compile(out, roll, layers, roll, outputs=True)
        run("luminal-run", out / f"{roll}.lum", *given, f"--output-dir={out}/{roll}")
    run("luminal-run", "--reference", out / "on.mlir", *given, f"--output-dir={out}/reference")
    for i in range(layers + 1):
        files = [out / folder / f"output_{i}.npy" for folder in ("on", "off")]
        if files[0].read_bytes() != files[1].read_bytes():
            sys.exit(f"output {i} differs between rolled and flat")
    run("luminal-run", out / "on.lum", *given, *(f"--expect={out}/reference/output_{i}.npy" for i in range(layers + 1)),
        "--rtol=1e-5", "--atol=1e-5")


if __name__ == "__main__":
    {"grow": grow, "bits": bits}[sys.argv[1]](pathlib.Path(sys.argv[2]))
