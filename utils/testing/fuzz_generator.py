# ===- fuzz_generator.py - Random PyTorch programs ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a program as Python source from a seed: ops, dtypes, odd sizes, size-1 and empty dims, views of views, and a
dynamic batch in every second program.

A drawn op is kept only if PyTorch runs it on every sample (several batches, several draws of the inputs) with finite
results of moderate size. Discontinuous ops (rounding, comparing, casting to integers) read only values that carry no
rounding error, since two correct programs may differ there.
"""
import random
import re
import types

import torch
import torch.nn.functional as F

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTS = (torch.int64, torch.int32)
# Batches of the samples; the first one is exported. A static program has the first alone, drawn as often.
BATCHES = (3, 1, 2, 7, 3, 3)
STATIC = (3, 3, 3)
LARGEST = {torch.float16: 200.0, torch.bfloat16: 1000.0}

SMOOTH = """torch.sin({0})|torch.cos({0})|torch.tanh({0})|torch.sigmoid({0})|F.relu({0})|F.gelu({0})
F.gelu({0}, approximate="tanh")|F.silu({0})|torch.erf({0})|torch.abs({0})|-{0}|torch.square({0})
torch.exp(torch.clamp({0}, max=4.0))|torch.exp2(torch.clamp({0}, max=5.0))|torch.log(torch.abs({0}) + 0.5)
torch.log2(torch.abs({0}) + 0.25)|torch.log1p(torch.abs({0}))|torch.expm1(torch.clamp({0}, max=3.0))
torch.sqrt(torch.abs({0}) + 0.125)|torch.rsqrt(torch.abs({0}) + 0.5)|torch.reciprocal(torch.abs({0}) + 0.5)
torch.clamp({0}, -1.5, 1.5)|{0} ** 2|{0} ** 3|{0} * 0.75 + 0.5|1.5 - {0}|{0} / 3.0|2.0 / (torch.abs({0}) + 1.0)
F.softplus({0})|F.leaky_relu({0}, 0.125)|F.elu({0})|F.hardtanh({0})|torch.pow(torch.abs({0}) + 0.5, 1.5)
torch.clamp({0}, min=0.25)|torch.rsub({0}, 2)|torch.addcmul({0}, {0}, {0}, value=0.5)|F.mish({0})|F.hardswish({0})
F.relu6({0})|F.selu({0})|F.celu({0}, 0.75)|F.logsigmoid({0})|F.hardsigmoid({0})|torch.nan_to_num({0})
torch.sinh(torch.clamp({0}, -3.0, 3.0))|torch.cosh(torch.clamp({0}, -3.0, 3.0))|torch.log10(torch.abs({0}) + 0.5)
torch.addcdiv({0}, {0}, torch.abs({0}) + 1.0, value=0.5)|torch.sgn({0}) * {0}|2.0 ** torch.clamp({0}, max=4.0)
torch.logaddexp({0}, {0} * 0.5)|torch.full_like({0}, 0.5) - {0}|F.threshold({0}, 0.0, 0.0)""".replace("\n", "|").split("|")
STEPS = """torch.floor({0})|torch.ceil({0})|torch.round({0})|torch.trunc({0})|torch.sign({0})|{0} > 0.25|{0} <= 0.5
{0} != 0.0|{0}.to(torch.int64)|{0}.to(torch.int32)|torch.fmod({0}, 0.75)|{0} < {0}.abs()|torch.isnan({0})
torch.remainder({0}, 0.75)|torch.frac({0})|{0} // 0.5|torch.logical_not({0})|torch.div({0}, 0.5, rounding_mode="trunc")""".replace("\n", "|").split("|")
INTEGER = """{0} + 3|{0} * 2|-{0}|torch.abs({0})|{0} // 3|{0} % 5|{0} - 1|{0} < 4|{0} == 2|{0}.float()|{0} >= 1
torch.sign({0})|torch.fmod({0}, 3)|{0} % -3|torch.square({0})|7 // (torch.abs({0}) + 1)
torch.clamp({0}, -3, 6)|{0} / 4|{0}.to(torch.int32)|{0}.to(torch.int64)|{0}.bool()|{0} * 0.5""".replace("\n", "|").split("|")
BOOLEAN = "~{0}|{0}.float()|{0}.to(torch.int64)|torch.logical_not({0})|{0} * 2.0|{0}.to(torch.bfloat16)".split("|")
FLOAT_PAIRS = """{0} + {1}|{0} - {1}|{0} * {1}|{0} / (torch.abs({1}) + 0.5)|torch.maximum({0}, {1})
torch.minimum({0}, {1})|torch.add({0}, {1}, alpha=2)|torch.lerp({0}, {1}, 0.25)|torch.logaddexp({0}, {1})""".replace("\n", "|").split("|")
EXACT_PAIRS = "{0} < {1}|{0} >= {1}|{0} == {1}|{0} != {1}|{0} > {1}".split("|")
INT_PAIRS = """{0} + {1}|{0} * {1}|{0} - {1}|torch.maximum({0}, {1})|{0} // (torch.abs({1}) + 1)
torch.remainder({0}, torch.abs({1}) + 1)|torch.div({0}, torch.abs({1}) + 1, rounding_mode="trunc")""".replace("\n", "|").split("|")
BOOL_PAIRS = "{0} & {1}|{0} ^ {1}|torch.bitwise_or({0}, {1})|torch.logical_and({0}, {1})|torch.logical_or({0}, {1})".split("|")


class Value:
    def __init__(self, name, samples, exact):
        self.name, self.samples, self.exact = name, samples, exact
        self.used = False

    @property
    def first(self):
        return self.samples[0]

    @property
    def dtype(self):
        return self.first.dtype

    @property
    def rank(self):
        return self.first.dim()

    def extent(self, dim):
        """The size of a dim, or None where it differs between the samples."""
        sizes = {s.shape[dim] for s in self.samples}
        return sizes.pop() if len(sizes) == 1 else None

    def code(self, dim):
        extent = self.extent(dim)
        return f"{self.name}.shape[{dim}]" if extent is None else str(extent)


def varied(samples):
    """Whether no row holds a single number: minus its mean, such a row is only rounding error."""
    return all((t.double().amax(-1) - t.double().amin(-1)).gt(1e-3).all() for t in samples if t.numel())


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dynamic = self.random.random() < 0.5
        self.batches = BATCHES if self.dynamic else STATIC
        self.inputs, self.members, self.pending, self.lines, self.pool = [], [], [], [], []
        self.owner = types.SimpleNamespace()
        for _ in range(self.random.randint(1, 3)):
            self.add_input()

    # --- Parts of programs ---------------------------------------------------------------------------------------

    def choose(self, *options):
        return self.random.choice(options)

    def extents(self, rank):
        weights = {1: 3, 2: 3, 3: 3, 5: 3, 7: 2, 8: 2, 13: 1, 16: 2, 17: 1, 33: 1, 0: 0.6}
        return self.random.choices(list(weights), weights.values(), k=rank)

    def add_input(self):
        dtype = self.random.choices(
            ["float32", "float16", "bfloat16", "float64", "int64", "int32", "bool"], [12, 2, 2, 2, 2, 2, 1])[0]
        shape = [str(e) for e in self.extents(self.random.randint(1, 4))]
        if self.dynamic and (not self.inputs or self.random.random() < 0.6):
            shape[0] = "batch"
        size = f"({', '.join(shape)},)"
        if dtype == "bool":
            code = f"torch.rand({size}, generator=g) < 0.5"
        elif dtype.startswith("int"):
            code = f"torch.randint(-5, 9, {size}, generator=g, dtype=torch.{dtype})"
        else:
            code = f"torch.randn({size}, generator=g).to(torch.{dtype})"
        self.inputs.append((f"x{len(self.inputs)}", code, shape[0] == "batch"))
        self.pool = [Value(name, [], True) for name, _, _ in self.inputs]
        for draw, batch in enumerate(self.batches):
            for value, tensor in zip(self.pool, make_inputs([c for _, c, _ in self.inputs], batch, draw)):
                value.samples.append(tensor)

    def member(self, code, parameter=False):
        """The name of a tensor that the program owns: a parameter, or a buffer."""
        seed = len(self.members) + len(self.pending)
        name = f"{'p' if parameter else 'b'}{seed}"
        line = f"self.{name} = nn.Parameter({code})" if parameter else f'self.register_buffer("{name}", {code})'
        self.pending.append((seed, line))
        setattr(self.owner, name, eval(code, {"torch": torch, "g": torch.Generator().manual_seed(seed)}))
        return f"self.{name}"

    def weight(self, *shape):
        # A shape of weights draws scaled values, so that products stay of moderate size.
        fan = max(1, shape[-1])
        return f"torch.randn({tuple(shape)!r}, generator=g) * {1 / fan ** 0.5:.6f}"

    def pick(self, want=lambda v: True):
        found = [v for v in self.pool if want(v)]
        if not found:
            return None
        # Later values more often, so that chains and views of views grow.
        return self.random.choices(found, [1 + 2 * i for i in range(len(found))])[0]

    # --- Ops: each returns code and whether its value carries no rounding error, or None -----------------------------

    def unary(self):
        v = self.pick()
        if v.dtype.is_floating_point:
            if v.exact and self.random.random() < 0.35:
                return self.choose(*STEPS).format(v.name), True
            if self.random.random() < 0.15:
                return f"{v.name}.to({self.choose(*FLOATS)})", False
            return self.choose(*SMOOTH).format(v.name), False
        return self.choose(*(BOOLEAN if v.dtype == torch.bool else INTEGER)).format(v.name), v.exact

    def binary(self):
        v = self.pick()
        kind = lambda d: 2 if d.is_floating_point else 0 if d == torch.bool else 1
        w = self.pick(lambda w: kind(w.dtype) == kind(v.dtype) or self.random.random() < 0.3)
        if w is None:
            return None
        most = max(kind(v.dtype), kind(w.dtype))
        if v.exact and w.exact and most and v.dtype == w.dtype and self.random.random() < 0.25:
            return self.choose(*EXACT_PAIRS).format(v.name, w.name), True
        pairs = (BOOL_PAIRS, INT_PAIRS, FLOAT_PAIRS)[most]
        return self.choose(*pairs).format(v.name, w.name), most < 2 and v.exact and w.exact

    def where(self):
        c, v, w = self.pick(lambda v: v.dtype == torch.bool), self.pick(), self.pick()
        if c is None:
            return None
        other = w.name if self.random.random() < 0.6 else "0.5" if v.dtype.is_floating_point else "2"
        if self.random.random() < 0.3 and v.dtype.is_floating_point:
            return f"{v.name}.masked_fill({c.name}, -1.25)", v.exact
        return f"torch.where({c.name}, {v.name}, {other})", v.exact and w.exact and v.dtype == w.dtype

    def reduce(self):
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        dims = sorted(self.random.sample(range(v.rank), self.random.randint(1, min(2, v.rank))))
        dims = [d - v.rank if self.random.random() < 0.4 else d for d in dims]
        keep = self.choose(True, False)
        if v.dtype == torch.bool:
            return f"{v.name}.{self.choose('any', 'all', 'sum')}({dims[0]}, keepdim={keep})", v.exact
        if not v.dtype.is_floating_point:
            if self.random.random() < 0.3:
                return f"{v.name}.{self.choose('argmax', 'argmin', 'prod', 'all')}({dims[0]}, keepdim={keep})", v.exact
            return f"{v.name}.{self.choose('sum', 'amax', 'amin')}({dims}, keepdim={keep})", v.exact
        form = self.random.randrange(12)
        if form == 0 and v.exact and v.dtype in (torch.float32, torch.float64):
            return f"torch.{self.choose('argmax', 'argmin')}({v.name}, {dims[0]}, keepdim={keep})", True
        if form == 1:
            return f"{v.name}.var({dims}, unbiased=False, keepdim={keep}) + 0.25", False
        if form == 2:
            return f"torch.logsumexp({v.name}, {dims}, keepdim={keep})", False
        if form == 3:
            return f"{v.name}.max({dims[0]}, keepdim={keep}).values", v.exact
        if form == 4:
            return f"torch.{self.choose('cumsum', 'cumsum', 'cumprod', 'logcumsumexp')}({v.name}, {dims[0]})", False
        if form == 5:
            return f"torch.linalg.vector_norm({v.name}, {self.choose(1, 2, 2)}, {dims}, keepdim={keep})", False
        if form == 6:
            return f"{v.name}.prod({dims[0]}, keepdim={keep})", False
        if form == 7:
            # A variance near 0 is only rounding error, here and above.
            return f"({v.name}.var({dims}, keepdim={keep}) + 0.25).sqrt()", False
        op = self.choose("sum", "sum", "mean", "mean", "amax", "amin")
        return f"{v.name}.{op}({dims}, keepdim={keep})", v.exact and op[0] == "a"

    def rows(self):
        v = self.pick(lambda v: v.rank > 0 and v.dtype.is_floating_point)
        if v is None:
            return None
        form, dim = self.random.randrange(7), self.random.randrange(v.rank)
        if form < 2:
            return f"torch.{self.choose('softmax', 'log_softmax')}({v.name}, {dim - v.rank})", False
        last = v.extent(-1)
        if not last:
            return None
        if form == 2:
            return f"F.rms_norm({v.name}, ({last},), eps=1e-5)", False
        if form == 5:
            if v.rank < 2:
                return None
            keys = f"{v.name}.flip([-2])" if self.choose(0, 1) else v.name
            causal = self.choose(True, False)
            return f"F.scaled_dot_product_attention({v.name}, {keys}, {v.name}, is_causal={causal})", False
        if form == 6:
            channels = v.extent(1) if v.rank > 1 else None
            if not channels:
                return None
            if self.choose(0, 1):
                groups = self.choose(*[g for g in range(1, channels + 1) if channels % g == 0])
                if not varied(t.reshape(t.shape[0], groups, -1) for t in v.samples if t.numel()):
                    return None
                return f"F.group_norm({v.name}, {groups})", False
            mean, var = self.member(self.weight(channels)), self.member(f"({self.weight(channels)}).abs() + 0.5")
            return f"F.batch_norm({v.name}, {mean}.to({v.dtype}), {var}.to({v.dtype}))", False
        if form == 3 and not varied(v.samples):
            return None
        scale = self.member(self.weight(last) + " + 1.0", True)
        if form == 3:
            return f"F.layer_norm({v.name}, ({last},), {scale}.to({v.dtype}), None, 1e-5)", False
        return f"{v.name} * torch.rsqrt({v.name}.square().mean(-1, keepdim=True) + 1e-5) * {scale}", False

    def move(self):
        v = self.pick()
        n, r = v.name, v.rank
        if r == 0:
            return f"{n}.{self.choose('unsqueeze(0)', 'reshape(1, 1)', 'expand(3)')}", v.exact
        d = self.random.randrange(r)
        extent = v.extent(d)
        form = self.random.randrange(22)
        if form == 0:
            code = f"{n}.permute({self.random.sample(range(r), r)})"
        elif form == 1:
            code = f"{n}.unsqueeze({self.random.randint(-r - 1, r)})"
        elif form == 2:
            code = f"{n}.squeeze({d})" if extent == 1 else f"{n}.flatten()"
        elif form == 3 and extent == 1:
            sizes = [str(self.choose(2, 3, 5)) if i == d else "-1" for i in range(r)]
            code = f"{n}.expand({self.choose('', '4, ', '1, ')}{', '.join(sizes)})"
        elif form in (4, 5) and r > 1:
            d = self.random.randrange(r - 1)
            code = f"{n}.flatten({d}, {d + 1})"
            if form == 5:
                sizes = [v.code(i) for i in range(d)] + ["-1"] + [v.code(i) for i in range(d + 2, r)]
                code = f"{n}.reshape({', '.join(sizes)})"
        elif form == 6 and extent and extent > 1:
            factor = self.choose(*[f for f in range(1, extent + 1) if extent % f == 0])
            code = f"{n}.unflatten({d}, ({factor}, {extent // factor}))"
        elif form in (7, 8):
            start, stop, step = self.choose("", "1", "-3"), self.choose("", "-1", "4", "100"), self.choose("", ":2", ":3")
            if extent is None and (start or stop):
                start, stop = "", ""
            code = f"{n}[{':, ' * d}{start}:{stop}{step}]"
        elif form == 9 and extent:
            code = f"{n}.select({d}, {self.random.randrange(-extent, extent)})"
        elif form == 10 and extent is not None:
            code = f"torch.flip({n}, [{d}])"
        elif form == 11 and r > 1:
            code = f"{n}.transpose({d}, {self.random.randrange(r)})"
        elif form == 12:
            pads = ", ".join(str(self.random.randint(0, 2)) for _ in range(2 * min(r, self.random.randint(1, 2))))
            code = f"F.pad({n}, ({pads}){', value=0.5' if v.dtype.is_floating_point and self.choose(0, 1) else ''})"
        elif form == 13:
            code = f"{n}.repeat({', '.join(str(self.choose(1, 1, 2)) for _ in range(r))})"
        elif form == 14 and r > 1:
            code = f"torch.{self.choose('tril', 'triu')}({n}, {self.random.randint(-1, 1)})"
        elif form == 15 and extent and extent > 1:
            part = self.random.randint(1, extent)
            code = f"torch.split({n}, {part}, {d})[{self.random.randrange(-(-extent // part))}]"
        elif form == 16:
            code = f"torch.roll({n}, {self.random.randint(-3, 3)}, {d})"
        elif form == 17 and r > 1:
            a, b = self.random.sample(range(r), 2)
            code = f"torch.diagonal({n}, {self.random.randint(-1, 1)}, {a}, {b})"
        elif form == 18 and extent and extent > 1:
            code = f"{n}.unfold({d}, {self.random.randint(1, extent)}, {self.choose(1, 2, 3)})"
        elif form == 19:
            code = f"torch.repeat_interleave({n}, {self.choose(1, 2, 3)}, {d})"
        elif form == 20 and extent:
            start = self.random.randrange(extent)
            code = f"{n}.narrow({d}, {start}, {self.random.randint(0, extent - start)})"
        elif form == 21 and r > 1:
            code = f"torch.movedim({n}, {d}, {self.random.randrange(r)})"
        else:
            return None
        return code, v.exact

    def join(self):
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        w = self.pick(lambda w: w.rank == v.rank and w.dtype == v.dtype)
        d = self.random.randrange(v.rank)
        if self.random.random() < 0.3:
            return f"torch.stack([{v.name}, {w.name}], {d})", v.exact and w.exact
        return f"torch.cat([{v.name}, {w.name}], {d})", v.exact and w.exact

    def index(self):
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        d = self.random.randrange(v.rank)
        extent = v.extent(d)
        form = self.random.randrange(5)
        if form == 0:
            rows = self.choose(4, 9)
            i = self.pick(lambda i: i.dtype in INTS and i.exact and i.rank < 4)
            if i is None:
                return None
            table = self.member(self.weight(rows, self.choose(3, 8)), True)
            return f"F.embedding({i.name}.clamp(0, {rows - 1}), {table})", False
        if not extent:
            return None
        if form == 4:
            i = self.pick(lambda i: i.dtype == torch.int64 and i.exact and i.rank == 1)
            if i is None:
                return None
            return f"{v.name}[{':, ' * d}{i.name}.clamp(0, {extent - 1})]", v.exact
        count = self.choose(1, 2, 5)
        lowest = 0 if form == 1 else -extent
        picked = self.member(f"torch.randint({lowest}, {extent}, ({count},), generator=g)")
        if form == 1:
            return f"torch.index_select({v.name}, {d}, {picked})", v.exact
        if form == 2:
            return f"{v.name}[{':, ' * d}{picked}]", v.exact
        shape = [v.extent(i) if i != d else count for i in range(v.rank)]
        if None in shape:
            return None
        everywhere = self.member(f"torch.randint(0, {extent}, {tuple(shape)!r}, generator=g)")
        return f"torch.gather({v.name}, {d}, {everywhere})", v.exact

    def order(self):
        """Sorting ops: values, and indices where rounding cannot change the order."""
        v = self.pick(lambda v: v.rank > 0 and v.dtype != torch.bool)
        if v is None:
            return None
        d, most = self.random.randrange(v.rank), self.choose(True, False)
        extent, form = v.extent(d), self.random.randrange(4)
        if form == 0:
            return f"torch.sort({v.name}, {d}, descending={most}).values", v.exact
        if form == 1 and v.exact:
            return f"torch.argsort({v.name}, dim={d}, descending={most}, stable=True)", True
        if form == 2 and extent:
            return f"torch.topk({v.name}, {self.random.randint(1, extent)}, {d}, largest={most}).values", v.exact
        return f"torch.{self.choose('cummax', 'cummin')}({v.name}, {d}).values", v.exact

    def write(self):
        """Ops that replace a part of a tensor, or add to it."""
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        n, d = v.name, self.random.randrange(v.rank)
        extent, form = v.extent(d), self.random.randrange(8)
        if not extent:
            return None
        count = self.random.randint(1, extent)
        part = f"torch.flip({n}.narrow({d}, 0, {count}), [{d}])"
        if form == 0:
            start = self.random.randint(0, extent - count)
            return f"torch.slice_scatter({n}, {part}, {d}, {start}, {start + count})", v.exact
        if form == 1:
            at = self.random.randrange(-extent, extent)
            return f"torch.select_scatter({n}, {n}.select({d}, {self.random.randrange(extent)}), {d}, {at})", v.exact
        if form == 2:
            rows = self.member(f"torch.randperm({extent}, generator=g)[:{count}]")
            return f"torch.index_copy({n}, {d}, {rows}, {part})", v.exact
        if form == 3:
            rows = self.member(f"torch.randint(0, {extent}, ({count},), generator=g)")
            return f"torch.index_fill({n}, {d}, {rows}, {self.choose(0, 1)})", v.exact
        if v.dtype == torch.bool:
            return None
        exact = v.exact and not v.dtype.is_floating_point
        if form == 4:
            rows = self.member(f"torch.randint(0, {extent}, ({count},), generator=g)")
            return f"torch.index_add({n}, {d}, {rows}, {part})", exact
        shape = [v.extent(i) for i in range(v.rank)]
        if None in shape:
            return None
        if form == 5:
            order = self.member(f"torch.rand({tuple(shape)!r}, generator=g).argsort({d})")
            return f"torch.scatter({n}, {d}, {order}, {n}.flip([{d}]))", v.exact
        cells = self.member(f"torch.randint(0, {extent}, {tuple(shape)!r}, generator=g)")
        if form == 6:
            return f"torch.scatter_add({n}, {d}, {cells}, {n})", exact
        return f"torch.scatter_reduce({n}, {d}, {cells}, {n}, 'amax')", v.exact

    def create(self):
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        d, kind = self.random.randrange(v.rank), self.choose("float32", "float32", "float64", "int64", "int32")
        sizes = ", ".join(v.code(i) for i in range(v.rank))
        return self.choose(
            f"torch.arange({v.code(d)}, dtype=torch.{kind})", f"torch.ones({sizes}, dtype=torch.{kind})",
            f"torch.full(({sizes},), 3, dtype=torch.{kind})", f"torch.zeros_like({v.name})",
            f"torch.eye({v.code(d)}, dtype=torch.{kind})", f"torch.arange(2, 9, {self.choose(1, 2, 3)})"), True

    def window(self):
        """Convolutions, pools and upsampling."""
        v = self.pick(lambda v: 2 <= v.rank <= 4 and v.dtype.is_floating_point)
        if v is None:
            return None
        space = v.rank - 1 if v.rank < 3 else self.choose(v.rank - 2, min(2, v.rank - 1))
        channels = v.extent(v.rank - 1 - space)
        if not channels:
            return None
        n, form, size = v.name, self.random.randrange(8), self.choose(1, 2, 3)
        stride, padding = self.choose(1, 1, 2), self.choose(0, 0, size // 2)
        where = f"stride={stride}, padding={padding}"
        if form < 4:
            groups = self.choose(1, 1, *[g for g in range(1, channels + 1) if channels % g == 0])
            out = groups * self.choose(1, 2, 3)
            transposed = form == 3
            shape = (channels, out // groups) if transposed else (out, channels // groups)
            weight = self.member(self.weight(*shape, *[size] * space), True) + f".to({v.dtype})"
            bias = self.member(self.weight(out), True) + f".to({v.dtype})" if self.choose(0, 1) else "None"
            call = f"F.conv{'_transpose' if transposed else ''}{space}d({n}, {weight}, {bias}, {where}"
            return f"{call}, dilation={self.choose(1, 1, 2)}, groups={groups})", False
        if form == 4:
            return f"F.max_pool{space}d({n}, {size}, {where})", v.exact
        if form == 5:
            return f"F.avg_pool{space}d({n}, {size}, {where}, count_include_pad={self.choose(True, False)})", False
        if form == 6 and v.rank == space + 2:
            return f"F.interpolate({n}, scale_factor=2, mode='{self.choose('nearest', ('linear', 'bilinear')[space - 1])}')", False
        if form == 7:
            return f"F.adaptive_avg_pool{space}d({n}, {self.choose(1, 2)})", False
        return None

    def product(self):
        v = self.pick(lambda v: v.rank > 0 and v.dtype.is_floating_point)
        if v is None:
            return None
        k, form = v.extent(-1), self.random.randrange(7)
        if form == 0 and v.rank > 1:
            return f"{v.name} @ {v.name}.mT * 0.25", False
        if form == 1:
            w = self.pick(lambda w: w.dtype == v.dtype and w.rank > 0)
            return f"torch.matmul({v.name}, {w.name}) * 0.25", False
        if form == 5 and v.rank == 3:
            return f"torch.baddbmm({v.name}.mean(-1, keepdim=True), {v.name}, {v.name}.mT, alpha=0.25)", False
        if form == 6 and v.rank == 1:
            return self.choose(f"torch.outer({v.name}, {v.name})", f"torch.dot({v.name}, {v.name}) * 0.25"), False
        if not k:
            return None
        n = self.choose(1, 4, 5, 16, 19)
        if form == 2:
            w = self.member(self.weight(n, k), True)
            bias = self.member(self.weight(n), True) + f".to({v.dtype})" if self.choose(0, 1) else "None"
            return f"F.linear({v.name}, {w}.to({v.dtype}), {bias})", False
        if form == 3 and v.rank > 1:
            lead = self.choose((), (1,), (2, 1))
            return f"torch.matmul({v.name}, {self.member(self.weight(*lead, k, n), True)}.to({v.dtype}))", False
        if form > 4 and v.rank > 1:
            w = self.member(self.weight(k), True)
            return f"torch.mv({v.name}.flatten(0, -2), {w}.to({v.dtype}))", False
        return f"torch.einsum('...k,kn->...n', {v.name}, {self.member(self.weight(k, n), True)}.to({v.dtype}))", False

    # --- Growing a program --------------------------------------------------------------------------------------------

    def grow(self):
        """Adds one op; False where the draw is refused."""
        ops = {self.unary: 6, self.binary: 6, self.where: 1.5, self.reduce: 2.5, self.rows: 1.5, self.move: 6,
               self.join: 1.5, self.index: 1.5, self.product: 2.5, self.order: 1, self.write: 1.5, self.create: 0.75,
               self.window: 1.5}
        self.pending = []
        drawn = self.random.choices(list(ops), ops.values())[0]()
        if drawn is None:
            return False
        code, exact = drawn
        samples = []
        for k in range(len(self.batches)):
            env = {v.name: v.samples[k] for v in self.pool} | {"torch": torch, "F": F, "self": self.owner}
            try:
                with torch.no_grad():
                    result = eval(code, env)
            except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
                return False
            if result.numel() > 20000 or result.dim() > 6:
                return False
            if result.is_floating_point() and result.numel():
                largest = result.double().abs().max().item()
                if not largest <= LARGEST.get(result.dtype, 1e4):
                    return False
            elif result.numel() and result.dtype != torch.bool and result.abs().max() > 10000:
                return False
            samples.append(result)
        if len({s.dim() for s in samples}) > 1:
            return False
        self.members += self.pending
        value = Value(f"v{len(self.lines)}", samples, exact)
        read = set(re.findall(r"\w+", code))
        for other in self.pool:
            other.used |= other.name in read
        self.lines.append(f"{value.name} = {code}")
        self.pool.append(value)
        return True

    def source(self):
        count = self.random.randint(3, 14)
        for _ in range(count * 60):
            if len(self.lines) == count:
                break
            self.grow()
        results = [v for v in self.pool if v.name[0] == "v" and not v.used][-4:]
        names = [name for name, _, _ in self.inputs]
        text = ["import torch", "import torch.nn.functional as F", "from torch import nn", "", "",
                "class Program(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        for seed, line in self.members:
            text += [f"        g = torch.Generator().manual_seed({seed})", f"        {line}"]
        text += ["", f"    def forward(self, {', '.join(names)}):"]
        text += [f"        {line}" for line in self.lines]
        text += [f"        return {', '.join(v.name for v in results)},", "", "",
                 f"INPUTS = {[code for _, code, _ in self.inputs]!r}",
                 f"BATCHES = {self.batches!r}",
                 f"DYNAMIC = {[name for name, _, dynamic in self.inputs if dynamic]!r}"]
        return "\n".join(text) + "\n"


def make_inputs(codes, batch, draw):
    """The inputs of one sample."""
    return tuple(eval(code, {"torch": torch, "batch": batch, "g": torch.Generator().manual_seed(1000 * draw + i)})
                 for i, code in enumerate(codes))
