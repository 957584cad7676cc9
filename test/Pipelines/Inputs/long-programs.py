#!/usr/bin/env python3
# ===- long-programs.py - Programs of many ops ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""long-programs.py grow OUT: where a program grows to four times its length, its kernels are as many and as large as before,
       and its steps at most four times as many. Counts, and no clock.
long-programs.py run OUT: a chain of 20,000 ops is compiled, explained and run, and its numbers are right.
long-programs.py bits OUT: a chain gives the same bits, however it is cut into kernels, and those agree with the interpreter.
long-programs.py prove OUT: indices that 20,000 ops compute are proved to be inside.
long-programs.py emit OUT: a kernel of 20,000 ops is emitted; gathers inside of too many others are refused by name.
"""
import json
import pathlib
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils/testing"))
import npy

VECTOR, MASK = "tensor<256xf32>", "tensor<256xi1>"
MATRIX, ROWS = "tensor<64x64xf32>", "tensor<64xf32>"


def run(*command, status=0):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{command}: exit {done.returncode}, expected {status}\n{done.stderr[:2000]}")
    return done


def function(arguments, body, results, type):
    inputs = ", ".join(f"%{name}: {of}" for name, of in arguments)
    types = ", ".join([type] * len(results))
    return (f"func.func @main({inputs}) -> ({types}) {{\n" + "\n".join(body) +
            f"\n  return {', '.join(results)} : {types}\n}}\n")


def constant(name, value):
    return [f"%{name}s = hlir.constant dense<{value}> : tensor<f32>",
            f"%{name} = hlir.view %{name}s <(d0) -> ()> : tensor<f32> -> {VECTOR}"]


def adds(n):
    """Each op reads the one before it."""
    body = [f"%v{i + 1} = hlir.{'add' if i % 2 else 'mul'} %v{i}, %w : {VECTOR}" for i in range(n)]
    return function([("v0", VECTOR), ("w", VECTOR)], body, [f"%v{n}"], VECTOR)


def steps(n):
    """Euler's method: each step reads its value several times."""
    body = constant("h", 0.01)
    for i in range(n):
        body += [f"%a{i} = hlir.exp2 %v{i} : {VECTOR}", f"%b{i} = hlir.sqrt %a{i} : {VECTOR}",
                 f"%c{i} = hlir.add %a{i}, %b{i} : {VECTOR}", f"%d{i} = hlir.recip %c{i} : {VECTOR}",
                 f"%e{i} = hlir.mul %d{i}, %h : {VECTOR}", f"%v{i + 1} = hlir.add %v{i}, %e{i} : {VECTOR}"]
    return function([("v0", VECTOR)], body, [f"%v{n}"], VECTOR)


def inputs(n):
    """A wide sum."""
    body = [f"%v{i + 1} = hlir.add %v{i}, %x{i} : {VECTOR}" for i in range(n)]
    return function([("v0", VECTOR)] + [(f"x{i}", VECTOR) for i in range(n)], body, [f"%v{n}"], VECTOR)


def views(n):
    """Views that do not cancel, with an op between two of them."""
    body = [f"%v{i + 1} = hlir.view %v{i} <(d0) -> (255 - d0)> : {VECTOR} -> {VECTOR}" if i % 2 else
            f"%v{i + 1} = hlir.sqrt %v{i} : {VECTOR}" for i in range(n)]
    return function([("v0", VECTOR)], body, [f"%v{n}"], VECTOR)


def results(n):
    """Many kernels that read one value."""
    body = [f"%y = hlir.exp2 %v0 : {VECTOR}"] + [f"%y{i} = hlir.add %y, %x{i} : {VECTOR}" for i in range(n)]
    return function([("v0", VECTOR)] + [(f"x{i}", VECTOR) for i in range(n)], body,
                    [f"%y{i}" for i in range(n)], VECTOR)


def passes(n):
    """Reductions over one domain, each of which computes all before it again."""
    body = []
    for i in range(n):
        body += [f"%s{i} = hlir.reduce_sum %v{i} : {MATRIX} -> {ROWS}",
                 f"%w{i} = hlir.view %s{i} <(d0, d1) -> (d0)> : {ROWS} -> {MATRIX}",
                 f"%v{i + 1} = hlir.add %v{i}, %w{i} : {MATRIX}"]
    return function([("v0", MATRIX)], body, [f"%v{n}"], MATRIX)


def reductions(n):
    """Reductions that cannot fuse, all of which read one value besides."""
    body = [f"%w = hlir.exp2 %w0 : {ROWS}"]
    for i in range(n):
        body += [f"%s{i} = hlir.reduce_sum %v{i} : {MATRIX} -> {ROWS}", f"%t{i} = hlir.add %s{i}, %w : {ROWS}",
                 f"%v{i + 1} = hlir.view %t{i} <(d0, d1) -> (d{1 - i % 2})> : {ROWS} -> {MATRIX}"]
    return function([("v0", MATRIX), ("w0", ROWS)], body, [f"%v{n}"], MATRIX)


def measure(out, name, text):
    """Steps, distinct kernels and bytes of code."""
    source, artifact, report = out / f"{name}.mlir", out / f"{name}.lum", out / f"{name}.json"
    source.write_text(text)
    run("luminal-compile", source, "--quiet", "-o", artifact, f"--report={report}")
    found = json.loads(report.read_text())
    assert found["saturation"]["functions"][0]["stop"] == "saturated", name
    with zipfile.ZipFile(artifact) as parts:
        code = parts.getinfo("host.so").file_size
    return found["steps"], len(found["kernels"]), code


def grow(out):
    for program, n in (adds, 1500), (steps, 150), (inputs, 1100), (views, 500), (results, 500), (passes, 150), (reductions, 500):
        few, many = measure(out, "few", program(n)), measure(out, "many", program(4 * n))
        print(f"{program.__name__}: {n} ops {few}, {4 * n} ops {many}")
        assert many[0] <= 4 * few[0], "steps grow faster than the program"
        # The first and the last kernel of a chain may differ from those between.
        assert many[1] <= max(few[1] + 2, 3), "kernels grow with the program"
        assert many[2] <= 3 * few[2], "code grows with the program"


def clamps(n):
    """max(min(x, top), 0) again and again, as compare and select."""
    body = constant("zero", 0.0) + constant("top", 2.0)
    for i in range(n):
        x, y = ("%v" + str(i), "%zero") if i % 2 else ("%top", "%v" + str(i))
        body += [f"%c{i} = hlir.less_than {x}, {y} : {VECTOR} -> {MASK}",
                 f"%v{i + 1} = hlir.select %c{i}, {'%zero' if i % 2 else '%top'}, %v{i} : {MASK}, {VECTOR}"]
    return function([("v0", VECTOR)], body, [f"%v{n}"], VECTOR)


def runs(out):
    source, artifact = out / "chain.mlir", out / "chain.lum"
    source.write_text(clamps(10000))
    run("luminal-compile", source, "--quiet", "-o", artifact, f"--eqsat-explain={out / 'why'}")
    values = [(i - 128) / 32 for i in range(256)]
    npy.save(out / "x.npy", "f4", [256], values)
    npy.save(out / "y.npy", "f4", [256], [max(min(v, 2.0), 0.0) for v in values])
    run("luminal-run", artifact, f"--input={out / 'x.npy'}", f"--expect={out / 'y.npy'}", "--rtol=0", "--atol=0")
    assert "claims" in (out / "why").read_text()


def bits(out):
    source, flat = out / "steps.mlir", out / "flat.mlir"
    source.write_text(steps(12))
    npy.save(out / "x.npy", "f4", [256], [(i - 128) / 32 for i in range(256)])
    run("luminal-run", source, "--reference", f"--input={out / 'x.npy'}", f"--output-dir={out / 'expected'}")
    run("luminal-compile", source, "--quiet", "--emit=saturated", "-o", flat)
    found = []
    for budget in 1, 100, 1000000:
        fused, artifact, results = out / f"fused{budget}.mlir", out / f"{budget}.lum", out / f"out{budget}"
        run("luminal-opt", flat, f"--llir-fuse-kernels=code-budget={budget}", "-o", fused)
        run("luminal-compile", fused, "--quiet", "-o", artifact)
        run("luminal-run", artifact, f"--input={out / 'x.npy'}", f"--output-dir={results}",
            f"--expect={out / 'expected' / 'output_0.npy'}", "--rtol=1e-6", "--atol=0")
        found.append((fused.read_text().count("llir.kernel"), (results / "output_0.npy").read_bytes()))
    kernels = [count for count, _ in found]
    assert kernels[0] > kernels[1] > kernels[2] == 1, kernels
    assert len({data for _, data in found}) == 1, "a cut changes bits"


def prove(out):
    source, proved = out / "indices.mlir", out / "proved.mlir"
    indices, last = "tensor<4xi64>", "%i"
    body = [f"%c = llir.constant dense<5> : {indices}", f"%i = llir.iota <(d0) -> (d0)> : {indices}"]
    for i in range(20000):
        body.append(f"%v{i} = llir.elementwise {'sub' if i % 2 else 'add'}({last}, %c) : "
                    f"({indices}, {indices}) -> {indices}")
        last = f"%v{i}"
    body.append(f"%r = llir.gather %x, {last} {{checked}} : tensor<8xf32>, {indices} -> tensor<4xf32>")
    source.write_text(function([("x", "tensor<8xf32>")], body, ["%r"], "tensor<4xf32>"))
    run("luminal-opt", source, "--llir-prove-indices", "-o", proved)
    assert "checked" not in proved.read_text()


def kernel(types, body, result):
    names = [f"a{i}" for i in range(len(types))]
    signature = f"({', '.join(types)}) -> {types[0]}"
    return (f"func.func private @k({', '.join(f'%{n}: {t}' for n, t in zip(names, types))}) -> {types[0]} {{\n"
            f"  %r = llir.kernel({', '.join('%' + n for n in names)}) : {signature} {{\n"
            f"  ^bb0({', '.join(f'%{n}b: {t}' for n, t in zip(names, types))}):\n" + "\n".join(body) +
            f"\n    llir.yield {result} : {types[0]}\n  }}\n  return %r : {types[0]}\n}}\n")


def emit(out):
    source = out / "kernel.mlir"
    option = "--llir-schedule-kernels", "--convert-llir-to-llvm=keep-loops"
    body, last = [], "%a0b"
    for i in range(20000):
        body.append(f"    %v{i} = llir.elementwise add({last}, %a1b) : ({VECTOR}, {VECTOR}) -> {VECTOR}" if i % 2 else
                    f"    %v{i} = llir.view {last} <(d0) -> (255 - d0)> : {VECTOR} -> {VECTOR}")
        last = f"%v{i}"
    source.write_text(kernel([VECTOR, VECTOR], body, last))
    run("luminal-opt", source, *option, "-o", out / "loops.mlir")
    assert (out / "loops.mlir").read_text().count("arith.addf") == 10000  # whole vectors without a rest
    indices = "tensor<64xi64>"
    body, last = [], "%a0b"
    for i in range(600):
        body.append(f"    %v{i} = llir.gather %a1b, {last} : {indices}, {indices} -> {indices}")
        last = f"%v{i}"
    source.write_text(kernel([indices, indices], body, last))
    error = run("luminal-opt", source, *option, "-o", out / "loops.mlir", status=2).stderr
    assert error.count("error:") == 1 and "more than 500 gathers and reductions inside of each other" in error, error[:1000]


{"grow": grow, "run": runs, "bits": bits, "prove": prove, "emit": emit}[sys.argv[1]](pathlib.Path(sys.argv[2]))
