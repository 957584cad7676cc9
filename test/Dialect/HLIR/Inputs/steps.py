# ===- steps.py - Loops over time, written out ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over time, written out: 70 steps of 4 ops on what a step carries, that read slices of %x; and near misses. With a
folder, writes a program there whose outputs are stacked, and inputs for it."""
import sys


def step(name, carried, t, at):
    return [f"  %x{t} = hlir.view %x <(d0) -> ({at}, d0)> : tensor<200x3xf32> -> tensor<3xf32>",
            f"  %m{t} = hlir.mul {carried}, %x{t} : tensor<3xf32>",
            f"  %s{t} = hlir.sin %m{t} : tensor<3xf32>",
            f"  %e{t} = hlir.exp2 %s{t} : tensor<3xf32>",
            f"  %r{t} = hlir.add %e{t}, %x{t} : tensor<3xf32>"], f"%r{t}"


def loop(name, steps, place):
    lines, carried = [f"func.func @{name}(%h: tensor<3xf32>, %x: tensor<200x3xf32>) -> tensor<3xf32> {{"], "%h"
    for t in range(steps):
        more, carried = step(name, carried, t, place(t))
        lines += more
    return "\n".join([*lines, f"  return {carried} : tensor<3xf32>", "}"])


def joined(name, parts):
    """A chain of selects carries too, but computes nothing with it."""
    arguments = ", ".join(f"%a{t}: tensor<3xf32>" for t in range(parts))
    lines = [f"func.func @{name}({arguments}) -> tensor<{parts}x3xf32> {{",
             f"  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<{parts}x3xi64>"]
    kind = f"tensor<{parts}x3xf32>"
    last = "%z"
    lines.append(f"  %z = hlir.view %a{parts - 1} <(d0, d1) -> (d1)> : tensor<3xf32> -> {kind}")
    for t in reversed(range(parts - 1)):
        lines += [f"  %k{t} = hlir.constant dense<{t + 1}> : tensor<i64>",
                  f"  %b{t} = hlir.view %k{t} <(d0, d1) -> ()> : tensor<i64> -> tensor<{parts}x3xi64>",
                  f"  %q{t} = hlir.less_than %i, %b{t} : tensor<{parts}x3xi64> -> tensor<{parts}x3xi1>",
                  f"  %v{t} = hlir.view %a{t} <(d0, d1) -> (d1)> : tensor<3xf32> -> {kind}",
                  f"  %s{t} = hlir.select %q{t}, %v{t}, {last} : tensor<{parts}x3xi1>, {kind}"]
        last = f"%s{t}"
    return "\n".join([*lines, f"  return {last} : {kind}", "}"])


def stacked(steps):
    """@main: a loop over lists, as hlir-roll-loops makes it of all steps, and a chain of selects."""
    row, kind = "tensor<3xf32>", f"tensor<3x{steps}xf32>"
    lines = ['func.func @main(%h: tensor<3xf32> {hlir.name = "h"}, %x: tensor<200x3xf32> {hlir.name = "x"})', f"    -> ({kind}, {row}) {{"]
    lines += [f"  %x{t} = hlir.view %x <(d0) -> ({2 * t + 1}, d0)> : tensor<200x3xf32> -> {row}" for t in range(steps)]
    lines += [f"  %r:{steps + 1} = hlir.repeat {steps} carried(%h : {row}) each({', '.join(f'%x{t}' for t in range(steps))} : "
              f"{', '.join([row] * steps)}) {{", f"  ^bb0(%c: {row}, %e: {row}):", f"    %m = hlir.mul %c, %e : {row}",
              f"    %n = hlir.sin %m : {row}", f"    %o = hlir.add %m, %e : {row}", f"    hlir.yield %n, %o : {row}, {row}",
              f"  }} -> ({', '.join([row] * (steps + 1))})", f"  %i = hlir.iota <(d0, d1) -> (d1)> : tensor<3x{steps}xi64>"]
    lines += [f"  %v{t} = hlir.view %r#{t + 1} <(d0, d1) -> (d0)> : {row} -> {kind}" for t in range(steps)]
    last = f"%v{steps - 1}"
    for t in reversed(range(steps - 1)):
        lines += [f"  %k{t} = hlir.constant dense<{t + 1}> : tensor<i64>",
                  f"  %b{t} = hlir.view %k{t} <(d0, d1) -> ()> : tensor<i64> -> tensor<3x{steps}xi64>",
                  f"  %q{t} = hlir.less_than %i, %b{t} : tensor<3x{steps}xi64> -> tensor<3x{steps}xi1>",
                  f"  %s{t} = hlir.select %q{t}, %v{t}, {last} : tensor<3x{steps}xi1>, {kind}"]
        last = f"%s{t}"
    return "\n".join([*lines, f"  return {last}, %r#0 : {kind}, {row}", "}"])


if len(sys.argv) > 1:
    import numpy

    numbers = numpy.random.default_rng(0)
    numpy.save(f"{sys.argv[1]}/h.npy", numbers.standard_normal(3, dtype=numpy.float32))
    numpy.save(f"{sys.argv[1]}/x.npy", numbers.standard_normal((200, 3), dtype=numpy.float32))
    with open(f"{sys.argv[1]}/main.mlir", "w") as file:
        file.write(stacked(90))
print(loop("steps", 70, lambda t: 2 * t))
print(loop("few", 20, lambda t: t))
print(joined("joined", 100))
