#!/usr/bin/env python3
# ===- product_times.py - Times of products on a GPU, and what their price is made of ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures products on a GPU, and fits the coefficients of their price to what was measured.

    python utils/dev/product_times.py measure [--bin=build/bin] [--rows=test/unit/LLIR/ProductTimes.def]
    python utils/dev/product_times.py fit [--rows=...]

`measure` times each row of the file again (a chain of products in one graph, weights from memory) and writes it anew: by tiles
whose schedule is given, by the library, by kernels without tensor cores. `fit` finds the coefficients of getTileTime
(lib/Dialect/LLIR/Schedules/ProductTime.cpp) for the tiles: to two thirds of the rows, with the error of the third that is held
out, and to all of them. ProductTimeTest holds the compiler's to the rows.
"""
import argparse
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIGHTS = 64e6  # Bytes of a chain: more than a GPU of today has in its cache.
# The H200 of GPUs.def, as MachineModel has it.
WORKERS, READ, LAUNCH = 132, 0.9 * 4800, 1400
CACHE, PRODUCTS = 0.9 * 1.98 * 128 * WORKERS, 0.5 * 1.98 * 2048
NAMES = ("kEnds", "kStep", "kStepOfTile", "kMeeting", "kCacheShare", "kProductShare", "kMergeShare")
START = (500.0, 200.0, 60.0, 1500.0, 0.4, 1.0, 0.4)
HIDDEN = 0.25
ROW = re.compile(r"^LUMINAL_(TILE|LIBRARY|PLAIN)_TIME\(([\d., ]+)\)$", re.M)


def tile_time(p, m, n, k, r, c, parts):
    """Nanoseconds, as getTileTime."""
    ends, step, of_tile, meeting, cache, products, merge = p
    steps = math.ceil(math.ceil(k / 64) / parts)
    parts = math.ceil(math.ceil(k / 64) / steps)
    units, room = math.ceil(m / r) * math.ceil(n / c) * parts, 2 * WORKERS

    def wave(blocks):
        return steps * max(step + of_tile * r * c / 4096, blocks * (r + c) * 128 / (cache * CACHE),
                           math.ceil(blocks / WORKERS) * r * c * 64 / (products * PRODUCTS))

    full, rest = divmod(units, room)
    time, memory = full * wave(room) + (wave(rest) if rest else 0), (m + n) * k * 2 / READ
    time = max(time, memory) + HIDDEN * min(time, memory)
    if parts > 1:
        time += meeting + units * r * c * 4 / (merge * READ)
    return LAUNCH + ends + time


def error(p, row):
    m, k, n, r, c, parts, us = row
    return abs(math.log((tile_time(p, m, n, k, r, c, parts) + tile_time(p, m, k, n, r, c, parts)) / 2000 / us))


def fit(rows):
    """Coefficients of least mean error: each in turn larger or smaller, by less and less."""
    p, factor = list(START), 2.0
    loss = sum(error(p, row) for row in rows)
    while factor > 1.002:
        moved = False
        for i in range(len(p)):
            for by in (factor, 1 / factor):
                tried = p[:i] + [p[i] * by] + p[i + 1:]
                if (found := sum(error(tried, row) for row in rows)) < loss:
                    p, loss, moved = tried, found, True
        factor = factor if moved else math.sqrt(factor)
    return p


def program(kind, bits, m, k, n, loops):
    """A chain of m x k by k x n and back, in LLIR, and how many products it has."""
    t = "f16" if bits == 16 else "f32"
    pairs = max(2, min(24, round(WEIGHTS / (2 * k * n * bits // 8))))
    arguments, body, last = [f"%x: tensor<{m}x{k}x{t}>"], [], "%x"
    for i in range(2 * pairs):
        a, b = (k, n) if i % 2 == 0 else (n, k)
        x, w, v, y = f"tensor<{m}x{a}x{t}>", f"tensor<{b}x{a}x{t}>", f"tensor<{b}x{t}>", f"tensor<{m}x{b}x{t}>"
        arguments += [f'%w{i}: {w} {{hlir.kind = "weight", hlir.name = "w{i}"}}', f'%b{i}: {v} {{hlir.kind = "weight", hlir.name = "b{i}"}}']
        if kind == "LIBRARY":
            body.append(f"%y{i} = llir.cublaslt_matmul({last}, %w{i} bias %b{i}) sizes(1, {m}, {b}, {a}) lhs<(d0, d1, d2) -> ({a} * d1 + d2)> "
                        f"rhs<(d0, d1, d2) -> (d1 + {a} * d2)> result<(d0, d1, d2) -> ({b} * d1 + d2)> : ({x}, {w}, {v}) -> {y}")
        else:
            wide = [s.replace(t, "f32") for s in (x, w, v, y)]
            cast = lambda name, of, s, to: f"{name} = llir.elementwise cast({of}) : ({s}) -> {to}"  # noqa: E731
            body.append(f"%y{i} = llir.kernel({last}, %w{i}, %b{i}) {loops} : ({x}, {w}, {v}) -> {y} {{\n^bb0(%p: {x}, %q: {w}, %r: {v}):")
            body += [cast("%p1", "%p", x, wide[0]), cast("%q1", "%q", w, wide[1]), cast("%r1", "%r", v, wide[2])] if bits == 16 else []
            one = "1" if bits == 16 else ""
            maps = "<(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>"
            body += [f"%s = llir.gemm %p{one}, %q{one} k({a}) {maps} : {wide[0]}, {wide[1]} -> {wide[3]}",
                     f"%u = llir.view %r{one} <(d0, d1) -> (d1)> : {wide[2]} -> {wide[3]}",
                     f"%o = llir.elementwise add(%s, %u) : ({wide[3]}, {wide[3]}) -> {wide[3]}"]
            body += [cast("%z", "%o", wide[3], y)] if bits == 16 else []
            body.append(f"llir.yield %{'z' if bits == 16 else 'o'} : {y}\n}}")
        last = f"%y{i}"
    text = "\n".join(body)
    return f"func.func @main({', '.join(arguments)}) -> tensor<{m}x{k}x{t}> {{\n{text}\nreturn {last} : tensor<{m}x{k}x{t}>\n}}\n", 2 * pairs


def measure(args, rows):
    """Microseconds of each row, in order; none where they are only lowered."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chain.mlir"
        for kind, numbers in rows:
            bits, m, k, n = (16, *numbers[:3]) if kind == "TILE" else numbers[:4]
            loops = ""
            if kind == "TILE":
                r, c, parts = numbers[3:6]
                loops = (f"loops<grid(d1:{c}, d0:{r}) {f'parts({parts}) ' if parts > 1 else ''}threads({2 * r}, {2 * r}) op3 = block "
                         "{blocks = 2, columnalong = k, columnlanes = 8, copy = both, depth = 64, resultalong = columns, resultlanes = 8, "
                         f"rowalong = k, rowlanes = 8, stages = {4 if r * c <= 64 * 128 else 3}, use = wgmma}}>")
            text, count = program(kind, bits, m, k, n, loops)
            path.write_text(text)
            command = [str(args.bin / "luminal-compile"), str(path), *args.option]
            if args.dry:
                command += ["--target=cuda", "--arch=h200", "--emit=lowered", "-o", "-"]
            else:
                command += ["--target=cuda", "--time=0.04", "--quiet"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{kind} {numbers}: {done.stderr}")
            if not args.dry:
                times.append(float(done.stdout.split()[-2]) * 1e6 / count)  # "SECONDS s"
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("measure", "fit"))
    parser.add_argument("--rows", type=pathlib.Path, default=ROOT / "test/unit/LLIR/ProductTimes.def")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="the folder of luminal-compile")
    parser.add_argument("--option", action="append", default=[], help="another option of luminal-compile")
    parser.add_argument("--dry", action="store_true", help="only lower what would be timed, for an H200")
    args = parser.parse_args()
    text = args.rows.read_text()
    rows = [(kind, [float(x) if "." in x else int(x) for x in numbers.split(", ")]) for kind, numbers in ROW.findall(text)]
    if args.command == "measure":
        times = iter(measure(args, rows))
        if not args.dry:
            args.rows.write_text(ROW.sub(lambda row: f"{row.group(0).rpartition(',')[0]}, {next(times):.2f})", text))
        return 0
    tiles = [numbers for kind, numbers in rows if kind == "TILE"]
    kept, held = [row for i, row in enumerate(tiles) if i % 3], tiles[::3]
    p = fit(kept)
    print(f"{len(kept)} rows: median error {100 * statistics.median(error(p, row) for row in kept):.1f} %; "
          f"{len(held)} held out: {100 * statistics.median(error(p, row) for row in held):.1f} %")
    for name, value in zip(NAMES, fit(tiles)):
        print(f"{name} = {value:.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
