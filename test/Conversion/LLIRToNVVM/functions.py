# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one map kernel for each scalar function and dtype that it has."""

FLOATS = ["f32", "f16", "bf16", "f64"]
INTS = ["i32", "i64"]
UNARY_FLOAT = ("neg abs exp exp2 expm1 log log2 log1p sin cos tanh erf atan asin acos sqrt rsqrt recip sigmoid silu gelu gelu_tanh "
               "floor ceil round trunc").split()
BINARY = "add sub mul div mod max min floor_div floor_mod".split()
COMPARE = "less_than less_equal equal".split()


def kernel(fn, inputs, result):
    name = "_".join([fn] + inputs + [result])
    types = [f"tensor<7x{t}>" for t in inputs]
    out = f"tensor<7x{result}>"
    args = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    block = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
    outer = ", ".join(f"%a{i}" for i in range(len(types)))
    inner = ", ".join(f"%x{i}" for i in range(len(types)))
    signature = f"({', '.join(types)}) -> {out}"
    print(f"func.func @{name}({args}) -> {out} {{")
    print(f"  %0 = llir.kernel({outer}) : {signature} {{")
    print(f"  ^bb0({block}):")
    print(f"    %1 = llir.elementwise {fn}({inner}) : {signature}")
    print(f"    llir.yield %1 : {out}\n  }}\n  return %0 : {out}\n}}")


for t in FLOATS:
    for fn in UNARY_FLOAT:
        kernel(fn, [t], t)
    kernel("is_nan", [t], "i1")
    kernel("pow", [t, t], t)
for t in FLOATS + INTS:
    for fn in BINARY:
        kernel(fn, [t, t], t)
    for fn in COMPARE:
        kernel(fn, [t, t], "i1")
    kernel("select", ["i1", t, t], t)
for t in INTS:
    kernel("neg", [t], t)
    kernel("abs", [t], t)
    for fn in ["bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"]:
        kernel(fn, [t, t], t)
for fn in ["mul", "or"]:
    kernel(fn, ["i1", "i1"], "i1")
kernel("not", ["i1"], "i1")
ALL = FLOATS + INTS + ["i1", "i8", "ui8", "f8E4M3FN", "f8E5M2", "i16", "ui16", "ui32"]
for source in ALL:
    for target in ALL:
        if source != target:
            kernel("cast", [source], target)
for widths in (("f64", "i64"), ("f32", "i32", "ui32"), ("f16", "bf16", "i16", "ui16"), ("f8E4M3FN", "i8", "ui8")):
    for source in widths:
        for target in widths:
            if source != target:
                kernel("bitcast", [source], target)
