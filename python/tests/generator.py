# ===- generator.py - Random functions of torch tensors --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes Python functions as people do: loops, conditions on shapes, closures, in-place updates, lists and dicts.

Values stay in a small range, so that errors are comparable: each statement ends in something bounded.
"""
import random

HEADER = "import torch\nimport torch.nn.functional as F\n"
UNARY = ["torch.sin({})", "torch.tanh({})", "F.gelu({})", "torch.sigmoid({})", "{}.abs().sqrt()", "F.relu({}) - 0.5",
         "{}.clamp(-0.5, 0.5)", "torch.exp(-{}.abs())", "F.silu({})", "{}.square() * 0.5", "-{}", "{}.cos()"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})", "torch.where({} > 0, {}, 0.25)",
          "{} / ({}.abs() + 1)", "torch.lerp({}, {}, 0.25)"]


class Generator:
    """A function of tensors ``x`` (rows by columns), ``y`` (the same) and an int ``n``, by a seed."""

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
        """A new value of x's shape."""
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
