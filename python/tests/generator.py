# ===- generator.py - Random functions of torch tensors --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates Python functions as users write them: loops, conditions on shapes, closures, in-place updates, lists and
dicts.

Each statement ends in a bounded value, so that errors remain comparable.
"""
import random

HEADER = "import torch\nimport torch.nn.functional as F\n"
UNARY = ["torch.sin({})", "torch.tanh({})", "F.gelu({})", "torch.sigmoid({})", "{}.abs().sqrt()", "F.relu({}) - 0.5",
         "{}.clamp(-0.5, 0.5)", "torch.exp(-{}.abs())", "F.silu({})", "{}.square() * 0.5", "-{}", "{}.cos()"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})", "torch.where({} > 0, {}, 0.25)",
          "{} / ({}.abs() + 1)", "torch.lerp({}, {}, 0.25)"]


class Generator:
    """Generates a function of tensors ``x`` (rows by columns), ``y`` (same shape) and an int ``n``, from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.values, self.count = [], ["x", "y"], 0

    def pick(self):
        return self.random.choice(self.values[-4:])

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def expression(self):
        if self.random.random() < 0.5:
            return self.random.choice(UNARY).format(self.pick())
        return self.random.choice(BINARY).format(self.pick(), self.pick())

    def define(self, text, indent="    "):
        """Adds a statement that defines a new value of x's shape."""
        name = self.name()
        self.lines.append(f"{indent}{name} = torch.tanh({text})")
        self.values.append(name)

    def statement(self):
        r = self.random
        name, other = self.pick(), self.pick()
        kind = r.choice(["expression"] * 4 + ["matmul", "softmax", "norm", "reduce", "loop", "if", "inplace", "slice",
                                              "list", "dict", "half", "int", "cat", "views", "index", "closure", "break",
                                              "optional", "size", "scan", "mask", "strided"])
        if kind == "expression":
            self.define(self.expression())
        elif kind == "matmul":
            self.define(f"({name} @ {other}.t()) @ {name} / {name}.numel()")
        elif kind == "softmax":
            self.define(f"torch.softmax({name}, dim={r.choice([0, -1])})")
        elif kind == "norm":
            self.define(f"F.layer_norm({name}, {name}.shape[-1:])")
        elif kind == "reduce":
            op = r.choice(["sum", "mean", "amax", "amin"])
            self.define(f"{other} + {name}.{op}({r.choice([0, 1])}, keepdim=True)" if r.random() < 0.5
                        else f"{other} * {name}.{op}()")
        elif kind == "loop":
            acc = self.name()
            self.lines += [f"    {acc} = {name}", f"    for i in range({r.randint(2, 4)}):",
                           f"        {acc} = torch.tanh({acc} * (i + 1) + {other})"]
            self.values.append(acc)
        elif kind == "if":
            new = self.name()
            self.lines += [f"    if x.shape[{r.choice([0, 1])}] > {r.randint(2, 6)}:", f"        {new} = torch.tanh({self.expression()})",
                           "    else:", f"        {new} = torch.tanh({self.expression()})"]
            self.values.append(new)
        elif kind == "inplace":
            new = self.name()
            update = r.choice(["{0}.mul_(0.5)", "{0}.add_({1})", "{0}[0] = {1}[-1]", "{0}[:, 1:].copy_({1}[:, :-1])",
                               "{0}[..., ::2] += 0.125", "{0}.t()[0].zero_()", "{0}.masked_fill_({1} > 0.3, 0.1)"])
            self.lines += [f"    {new} = {name}.clone()", "    " + update.format(new, other)]
            self.define(f"{new} + 0")
        elif kind == "slice":
            self.define(f"{name} + {other}[{r.choice(['0', '-1', '1:2', ':1'])}]")
        elif kind == "list":
            items = self.name()
            self.lines += [f"    {items} = [{name}, {other}]", f"    {items}.append({items}[0] * 2)"]
            self.define(f"sum({items})")
        elif kind == "dict":
            table = self.name()
            self.lines.append(f"    {table} = {{'a': {name}, 'b': ({other}, 1)}}")
            self.define(f"{table}['a'] - {table}['b'][0] * {table}['b'][1]")
        elif kind == "half":
            self.define(f"{name}.to(torch.float64).sin().to(torch.float32) + {other}")
        elif kind == "int":
            self.define(f"({name} * 8).to(torch.int32).remainder(5).to(torch.float32) / 4 * ({other} > 0)")
        elif kind == "cat":
            self.define(f"torch.cat([{name}, {other}], dim={r.choice([0, 1])})[:x.shape[0], -x.shape[1]:]")
        elif kind == "views":
            self.define(r.choice(["{0}.reshape(-1).flip(0).view(x.shape)", "{0}.t().contiguous().t()",
                                  "{0}.unsqueeze(1).expand(-1, 2, -1).sum(1)", "torch.stack([{0}, {1}]).transpose(0, 1)[:, 1]",
                                  "{0}.roll(1, 0)", "torch.flip({0}, [1])"]).format(name, other))
        elif kind == "index":
            self.define(f"{name}[torch.arange(x.shape[0]) // 2] + {other}.gather(1, ({name} > 0).to(torch.int64))")
        elif kind == "closure":
            function = self.name()
            self.lines += [f"    def {function}(a, k=n):", f"        return a * k / (k + 1) + {other}"]
            self.define(f"{function}({name})")
        elif kind == "break":
            self.lines += [f"    if {name}.sum().item() > 1e6:", "        raise ValueError"]
        elif kind == "optional":
            self.define(f"{name} if flag is None else {name} + flag")
        elif kind == "size":
            self.define(f"{name} * (x.shape[0] + n) / (x.shape[1] * 2 + n)")
        elif kind == "scan":
            self.define(f"torch.cumsum({name}, dim={r.choice([0, 1])}) / 4")
        elif kind == "mask":
            self.define(f"{name}.masked_fill(torch.ones_like({name}).triu(1) > 0, 0.0) + {other}")
        else:
            self.define(f"torch.as_strided({name}.contiguous(), (x.shape[0], 1), (x.shape[1], 1)) + {other}")

    def source(self):
        for _ in range(self.random.randint(3, 9)):
            self.statement()
        if self.random.random() < 0.3:
            self.lines.append(f"    x.{self.random.choice(['add_(1)', 'mul_(0.5)', 'copy_(y)'])}")
        last = self.values[-1]
        result = self.random.choice([last, f"({last}, {self.pick()})", f"{{'y': {last}, 'n': x.shape[0] + n}}",
                                     f"[{last}.sum(0), {last}.t(), {self.pick()}[0]]", f"({last}, x)",
                                     f"({last}.view(-1), None, n)"])
        return HEADER + "def function(x, y, n, flag=None):\n" + "\n".join(self.lines) + f"\n    return {result}\n"


# In these statements k is the written input (r rows like x, plus three), v and w are values of x's shape, and i are row
# numbers.
WRITES = ["k.add_(1)", "k.mul_(0.5)", "k[m:].add_({v}.sum())", "k[:r].copy_({v})", "k[r:] = 0.25", "k.t()[m] += 1",
          "k.narrow(0, m, 1).zero_()", "k[k > 0.3] = 0.1", "k.masked_fill_(k > n, 0)", "k[:, m:].clamp_(-0.5, 0.5)",
          "k.view(-1)[::2].neg_()", "k[i] = {v}", "k.index_add_(0, i, {v})", "k.index_copy_(0, i, {v})",
          "k.diagonal().fill_(n % 5)", "k[:, [0, 2]] = 1.5", "k[k[:, 0] > 0] = {v}.sum(0)", "k[:, k[0] > 0] = 0",
          "k.copy_(k.flip(0))", "k[0], k[1] = k[1].clone(), k[0].clone()", "k[-2:] += 0.5", "k[3:].add_({v})", "x.add_(0.5)",
          "x.t().mul_(0.5)", "x[:, 1:].copy_({v}[:, :-1] * 1)", "x[x > {v}] = 0.5", "k[m:m].add_(1)", "k[:r, 0] += i",
          "k.unsqueeze(0)[0, 1:].tanh_()", "k[m] = {v}.sum(0)", "k[(i > n).sum()] = 2"]
VIEWS = ["[r:]", "[m:m + 2]", "[m:m]", "[:m]", ".t()", "[:, ::2]", ".unsqueeze(1)", ".diagonal()", ".split(2)[0]",
         ".chunk(2, 1)[1]", ".narrow(1, 1, 2)", ".transpose(0, 1)[m:]", ".unbind(1)[0]", "[..., None, :]", "[:, m % 2::2]",
         ".select(1, m)", ".movedim(0, 1)", "[:, -2:]", ".reshape(-1)", "[1:, 1:]", ".detach()", ".view(torch.int32)", "[:, m]",
         ".unflatten(1, (1, -1))", "[:-1]", ".flatten()", ".tensor_split(3)[1]", ".t()[1:, m:]"]
# Views some of whose elements share an address.
OVERLAPPING = [".expand(2, -1, -1)", ".unfold(1, 2, 1)", "[:, :1].expand(-1, 4)", ".broadcast_to((m, *{b}.shape))"]
UPDATES = ["{}.add_(1)", "{}.zero_()", "{}[...] = 3", "{}.copy_({} + 1)", "{}.mul_(2)", "{}.fill_(n % 5)", "{}[{} > 0] = 1"]
INTEGERS = ["n + 1", "-n", "n // 3", "n % 7", "abs(n)", "n & 7", "max(n, -n)", "r * m - n", "(n, m)", "n > 3", "min(n, m)",
            "i + n", "i * (n % 9)", "torch.full((2,), n)", "torch.where(i > n, i, n)", "i == n", "{v} + n % 7",
            "{v} * (n // (abs(n) + 1))", "torch.full((m,), n)", "torch.arange(n % 5)", "i.clamp(max=n)", "i // (abs(n) + 1)",
            "i.remainder(n % 3 + 1)", "torch.full_like({v}, n)", "{v} + n", "{v} / (abs(n) + 1)", "{v}[:, n % 3]", "i - n // 2",
            "torch.arange(m, n % 7 + m)", "{v}.roll(n % 4, 1)", "i.to(torch.float64) + n", "torch.where({v} > 0, n, i[:, None])",
            "i ^ n", "(i + n).to(torch.int32)", "{v}.clamp(min=n)", "i * 2 > n", "(i < n).any()", "i.float() * n", "int(n > 0) * i"]
EMPTY = ["{v}[m:m].sum(0)", "torch.cat([{v}[:m], {v}[m:]])", "{v}[r:].sum()", "{v}[:0].mean(0)", "torch.cat([{v}, {v}[:0]])",
         "({v}[:m] @ {v}[:m].t()).sum()", "{v}[m:m] @ {v}.t()", "{v}[:, :m] @ {v}.t()[:m]", "torch.softmax({v}[m:m], 1)",
         "torch.ones(m, 3).sum(0)", "({v}[r:] > 0).any()", "({v}[r:] > 0).all(0)", "F.pad({v}[:0], (1, 1))", "{v}.new_zeros((0, m))",
         "torch.stack([{v}[:0]] * 2)", "{v}[:m].logsumexp(0)", "{v}[:m].prod(0)", "{v}[m:].cumsum(0)", "{v}[:, :m].norm(dim=1)",
         "{v}[2:].mean()", "F.layer_norm({v}[:m], {v}.shape[1:])", "{v}[i[:m] % 1]", "{v}[:m].softmax(0)", "{v}[m:].var(1)"]
MASKS = ["torch.where({v} > 0, {w}, n)", "{v}.masked_fill({v} < 0, n % 9)", "{v}[{v} > 0].sum()", "({v} > 0).sum()", "({v} > 0).any(0)",
         "{v}.masked_scatter({v} > 0, {w})", "{v}[i < 2]", "~({v} > 0) & ({w} < 0.5)", "torch.where({v} > 0)[0]", "({v} > 0) * {w}",
         "({v} > 0).nonzero()", "torch.where({v} > {w}, {v}, {w})", "{v} * (i > m)[:, None]", "F.relu({v}).masked_fill(i[:, None] == m, -1)"]
STORES = ["{}[{} > 0.2] = 0", "{}[{}[:, 0] > 0] = 0.5", "{}[:, k[0] > 0] = 0.25", "{}[i < 2] = k[m]", "{}[{} > 0] += 1",
          "{}.mul_({} > m - 1)", "{}[{} < 0] = {}[{} < 0] * 2", "{}[:, :m] = 0", "{}.t()[k[0] > 0] = 1"]
TYPES = ["float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool"]


class MemoryGenerator(Generator):
    """Generates a function of tensors ``x`` (rows by columns), ``k`` (three rows more), row numbers ``i`` of k, an
    arbitrary int ``n`` and an int ``m`` from 0 to 2. It contains writes to inputs, views of inputs and values, ints,
    masks, and extents of 0."""

    def __init__(self, seed):
        super().__init__(seed)
        self.values, self.results, self.views = ["x"], [], []

    def result(self, text):
        name = self.name()
        self.lines.append(f"    {name} = {text}")
        self.results.append(name)
        return name

    def owner(self):
        """A tensor to make views of: an input or a new value."""
        base = self.random.choice(["k", "k", "x", ""])
        if not base:
            base = self.name()
            self.lines.append(f"    {base} = {self.pick()} * 2")
        return base

    def statement(self):
        r = self.random
        v, w = self.pick(), self.pick()
        kind = r.choice(["expression", "write", "write", "view", "view", "view", "overlap", "update", "integer", "integer",
                         "empty", "mask", "store", "type"])
        if kind == "expression":
            self.define(r.choice(UNARY).format(v) if r.random() < 0.5 else r.choice(BINARY).format(v, w, w))
        elif kind == "write":
            self.lines.append("    " + r.choice(WRITES).format(v=v))
        elif kind == "view":
            self.views.append(self.result(self.owner() + r.choice(VIEWS)))
        elif kind == "overlap":
            base = self.owner()
            self.result(base + r.choice(OVERLAPPING).format(b=base))
        elif kind == "update" and self.views:
            view = r.choice(self.views)
            self.lines.append("    " + r.choice(UPDATES).format(view, view))
        elif kind == "store":
            name = self.name()
            self.lines += [f"    {name} = {v}.clone()", "    " + r.choice(STORES).format(*[name] * 4)]
            self.values.append(name)
        elif kind == "type":
            self.result(f"({v} * 50).to(torch.{r.choice(TYPES)})")
        else:
            self.result(r.choice({"integer": INTEGERS, "empty": EMPTY}.get(kind, MASKS)).format(v=v, w=w))

    def source(self):
        r = self.random
        self.lines.append("    r = x.shape[0]")
        for _ in range(r.randint(3, 9)):
            self.statement()
        results = r.sample(self.results, min(len(self.results), r.randint(1, 4))) + r.choice([[], [self.pick()], ["k"]])
        results = results or [self.pick()]
        return HEADER + "def function(x, k, i, n, m):\n" + "\n".join(self.lines) + f"\n    return [{', '.join(results)}]\n"
