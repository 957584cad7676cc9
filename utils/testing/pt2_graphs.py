# ===- pt2_graphs.py - Hand-made archives with graphs inside and assertions ----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More cases of make_pt2_inputs.py: tensors without elements, wrapper nodes, and chains that feed assertions.

GOOD[name] changes the good archive into another good one; BAD[name] = (part of the message, what damages it).
"""
from pt2_archive import entry, meta, node, tensor

GOOD, BAD = {}, {}
BF16, LONG, BOOL = 13, 5, 12
GRAD = "torch.ops.higher_order.wrap_with_set_grad_enabled"
AUTOCAST = "torch.ops.higher_order.wrap_with_autocast"


def good(f):
    GOOD[f.__name__.replace("_", "-")] = f
    return f


def bad(message):
    def register(f):
        BAD[f.__name__.replace("_", "-")] = (message, f)
        return f
    return register


@good
def empty_tensors(a):
    """A constant, a parameter and a buffer without elements, put before the result: they need no weights."""
    for kind, folder, member, name in (("tensor_constant", "constants", "tensor_1", "none"),
                                       ("parameter", "weights", "weight_2", "nil")):
        a.members[f"model/data/{folder}/{member}"] = b""
        a.members[f"model/data/{folder}/model_{folder}_config.json"]["config"][name] = entry(member, [0, 4])
        a.values[name] = meta([0, 4])
        a.signature["input_specs"].insert(0, {kind: {"arg": {"name": name}, f"{kind}_name": name}})
    # And one about which the archive states nothing else.
    a.values["nought"] = meta([0, 4])
    a.signature["input_specs"].append({"buffer": {"arg": {"name": "nought"}, "buffer_name": "nought"}})
    tensors = {"as_tensors": [{"name": n} for n in ("none", "nil", "nought", "mul")]}
    a.add("torch.ops.aten.cat.default", [("tensors", tensors)], "cat")


# --- Wrapper nodes ----------------------------------------------------------------------------------------------------


def graph(inputs, outputs, nodes, values):
    """An argument that is a graph."""
    return {"as_graph": {"name": "submod_1", "graph": {
        "inputs": [tensor(n) for n in inputs], "outputs": [tensor(n) for n in outputs], "nodes": nodes,
        "tensor_values": values, "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {},
        "custom_obj_values": {}, "is_single_tensor_return": False}}}


def wrapper(target, settings, subgraph, operands, results):
    arguments = [*settings, subgraph, *map(tensor, operands)]
    wrapped = node(target, [("", a) for a in arguments], "")
    wrapped["outputs"] = [tensor(n) for n in results]
    return wrapped


def set_grad(*args):
    return wrapper(GRAD, [{"as_bool": False}], *args)


def autocast(enabled, *args):
    settings = [{"as_string": "cpu"}, {"as_scalar_type": BF16}, {"as_bool": enabled}, {"as_bool": True}]
    return wrapper(AUTOCAST, settings, *args)


def linear(x, w, b, out):
    return node("torch.ops.aten.linear.default", [("input", tensor(x)), ("weight", tensor(w)), ("bias", tensor(b))], out)


def relu(x, out):
    return node("torch.ops.aten.relu.default", [("self", tensor(x))], out)


@good
def wrapped(a):
    """The good program. Names inside are those of other values outside; a graph is nested in a graph; a result is an
    operand, and a value is two results."""
    inner = graph(["x"], ["mul"], [relu("x", "mul")], {"x": meta([2, 4]), "mul": meta([2, 4])})
    values = {n: meta([2, 4]) for n in ("relu", "linear")} | {"p_b": meta([2, 3]), "x": meta([4, 3]), "p_w": meta([4])}
    body = [linear("p_b", "x", "p_w", "relu"), set_grad(inner, ["relu"], ["linear"])]
    outer = graph(["p_b", "x", "p_w"], ["linear", "relu", "p_b", "linear"], body, values)
    a.nodes[:2] = [set_grad(outer, ["x", "p_w", "p_b"], ["relu", "linear", "same", "again"])]
    a.values |= {"same": meta([2, 3]), "again": meta([2, 4])}


@good
def in_place(a):
    """Writes to the user's input."""
    a.nodes.insert(0, node("torch.ops.aten.relu_.default", [("self", tensor("x"))], "relu_"))
    a.values["relu_"] = meta([2, 3])


@good
def wrapped_in_place(a):
    """The same, the write in a graph without results."""
    body = graph(["mul"], [], [node("torch.ops.aten.relu_.default", [("self", tensor("mul"))], "x")],
                 {n: meta([2, 3]) for n in ("mul", "x")})
    a.nodes.insert(0, set_grad(body, ["x"], []))


@good
def under_autocast(a):
    """A product in bf16, and one outside autocast."""
    names = ["x", "p_w", "p_b"]
    values = {n: a.values[n] for n in names}
    plain = graph(names, ["linear"], [linear(*names, "linear")], values | {"linear": meta([2, 4])})
    body = [linear(*names, "linear"), relu("linear", "relu"), autocast(False, plain, names, ["plain"])]
    cast = graph(names, ["relu", "plain"], body,
                 values | {n: meta([2, 4], BF16) for n in ("linear", "relu")} | {"plain": meta([2, 4])})
    a.nodes[:2] = [autocast(True, cast, names, ["relu", "plain"])]
    a.values |= {"relu": meta([2, 4], BF16), "plain": meta([2, 4])}
    a.add("torch.ops.aten.add.Tensor", [("self", tensor("mul")), ("other", tensor("plain"))], "add")


def wrap_relu(a, inputs=("y",), outputs=("z",), nodes=None, operands=("linear",), results=("relu",)):
    body = graph(inputs, outputs, nodes or [relu("y", "z")], {"y": meta([2, 4]), "z": meta([2, 4])})
    a.nodes[1] = set_grad(body, operands, results)
    return a.nodes[1]["inputs"]


@bad("graph.nodes[1]: has no graph among its arguments")
def wrapper_without_graph(a):
    del wrap_relu(a)[1]


@bad("nodes[1].inputs[1].arg.as_graph: has no 'graph'")
def wrapper_without_body(a):
    del wrap_relu(a)[1]["arg"]["as_graph"]["graph"]


@bad("graph.nodes[1]: has 2 arguments before its graph, expected 1")
def wrapper_with_more_settings(a):
    wrap_relu(a).insert(0, {"name": "", "arg": {"as_bool": True}, "kind": 1})


@bad("graph.nodes[1]: has 2 operands, but its graph has 1")
def wrapper_with_more_operands(a):
    wrap_relu(a, operands=("linear", "x"))


@bad("graph.nodes[1]: has 1 results, but its graph has 2")
def wrapper_with_fewer_results(a):
    wrap_relu(a, outputs=("z", "z"))


@bad("graph.nodes[1]: operand 0 does not match its graph")
def wrapper_of_another_kind(a):
    wrap_relu(a)[2]["arg"] = {"as_int": 3}


@bad("nodes[1].inputs[1].arg.as_graph.graph.nodes[0]: names 'linear', which its graph does not define before")
def graph_that_reads_outside(a):
    wrap_relu(a, nodes=[relu("linear", "z")])


@bad("graph.nodes[1]: its graph returns 'nowhere', which it does not define")
def graph_without_result(a):
    wrap_relu(a, outputs=("nowhere",))


@bad("graph.nodes[0]: defines 'y' a second time")
def graph_that_defines_twice(a):
    wrap_relu(a, nodes=[relu("y", "y"), relu("y", "z")])


@bad("is nested deeper than 512")
def deep_graphs(a):
    body = [relu("y", "z")]
    for _ in range(100):
        body = [set_grad(graph(["y"], ["z"], body, {}), ["y"], ["z"])]
    wrap_relu(a, nodes=body)


@bad("graph.nodes[1]: does not say whether autocast is enabled")
def autocast_that_may_be(a):
    body = graph(["y"], ["z"], [relu("y", "z")], {})
    a.nodes[1] = autocast(True, body, ["linear"], ["relu"])
    a.nodes[1]["inputs"][2]["arg"] = {"as_none": True}


@bad("unsupported op higher_order.cond")
def graph_of_a_branch(a):
    wrap_relu(a)
    a.nodes[1]["target"] = "torch.ops.higher_order.cond"


@bad("unsupported op aten.lerp.Tensor: 'hlir.add' op expected element type f16, bf16, f32, f64, i32 or i64, found 'i1'")
def arithmetic_of_bools(a):
    """PyTorch refuses it too: a trace cannot contain it."""
    a.add("torch.ops.aten.gt.Tensor", [("self", tensor("mul")), ("other", tensor("mul"))], "gt", dtype=BOOL)
    a.add("torch.ops.aten.lerp.Tensor", [(name, tensor("gt")) for name in ("self", "end", "weight")], "lerp",
          dtype=BOOL)


# --- Assertions -------------------------------------------------------------------------------------------------------


def symbol(name):
    return f"Symbol('{name}', integer=True)"


def integer(a, name, text):
    a.graph["sym_int_values"][name] = {"as_expr": {"expr_str": text, "hint": None}}
    return {"as_sym_int": {"as_name": name}}


def condition(a, name, text):
    """A symbolic bool; its text may be a plain one."""
    a.graph["sym_bool_values"][name] = (
        {"as_bool": text} if isinstance(text, bool) else {"as_expr": {"expr_str": text, "hint": None}})
    return {"as_sym_bool": {"as_name": name}}


def compute(a, target, inputs, result, at=None):
    made = node(target, inputs, "", name="check")
    made["outputs"] = [result] if result else []
    a.nodes.insert(len(a.nodes) if at is None else at, made)


def assert_scalar(a, value, text):
    compute(a, "torch.ops.aten._assert_scalar.default", [("self", value), ("assert_msg", {"as_string": text})], None)


def dynamic(a):
    """The rows of x become s0."""
    rows = {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)"}}
    for name in ("x", "linear", "relu", "mul"):
        a.values[name]["sizes"][0] = rows
    a.program["range_constraints"] = {"s0": {"min_val": 2, "max_val": 64}}


def add_tensor(a, target, inputs, name, dtype=BOOL, at=None):
    """A node whose result has one element, or the extents of x."""
    a.nodes.insert(len(a.nodes) if at is None else at, node(target, inputs, name))
    a.values[name] = meta([], dtype) if at is None else a.values["x"] | {"dtype": dtype}


@good
def assertions(a):
    """The nodes that torch writes for checks of elements, and checks of sizes that the range of s0 proves."""
    dynamic(a)
    zero = ("other", {"as_int": 0})
    add_tensor(a, "torch.ops.aten.ge.Scalar", [("self", tensor("x")), zero], "ge_0", at=0)
    add_tensor(a, "torch.ops.aten.all.default", [("self", tensor("ge_0"))], "all")
    compute(a, "torch.ops.aten._assert_async.msg", [("self", tensor("all")), ("assert_msg", {"as_string": "not negative"})],
            None)
    # An int, by way of a condition that the archive takes for true.
    one = "Piecewise(ExprCondPair(Integer(1), Equality(%s, Integer(1))), ExprCondPair(Integer(0), true))" % symbol("u2")
    add_tensor(a, "torch.ops.aten.lt.Scalar", [("self", tensor("x")), ("other", {"as_int": 50})], "lt", at=0)
    add_tensor(a, "torch.ops.aten.all.default", [("self", tensor("lt"))], "small")
    read = condition(a, "item", f"Equality({symbol('u2')}, Integer(1))")
    compute(a, "torch.ops.aten.item.default", [("self", tensor("small"))], read)
    number = integer(a, "sym_ite", one)
    compute(a, "torch.sym_ite", [("", read), ("", {"as_int": 1}), ("", {"as_int": 0})], number)
    for name, text in (("ge", f"GreaterThan({one}, Integer(1))"), ("eq", True)):
        holds = condition(a, name, text)
        compute(a, f"_operator.{name}", [("", number), ("", {"as_int": 1})], holds)
        assert_scalar(a, holds, f"less than 50: {name}")
    # A float beside a size, and a comparison that nothing reads.
    add_tensor(a, "torch.ops.aten.sum.default", [("self", tensor("x"))], "sum", dtype=7)
    total = {"as_sym_float": {"as_name": "total"}}
    compute(a, "torch.ops.aten._local_scalar_dense.default", [("self", tensor("sum"))], total)
    rows = integer(a, "rows", symbol("s0"))
    compute(a, "torch.ops.aten.sym_size.int", [("self", tensor("x")), ("dim", {"as_int": 0})], rows)
    limit = {"as_sym_float": {"as_name": "limit"}}
    compute(a, "_operator.mul", [("", rows), ("", {"as_float": 30.5})], limit)
    for name in ("le", "unread"):
        text = f"LessThan(Symbol('zuf0'), Mul(Float('30.5', precision=53), {symbol('s0')}))"
        holds = condition(a, name, text)
        compute(a, "_operator.le", [("", total), ("", limit)], holds)
    assert_scalar(a, condition(a, "le", text), "the sum")
    s0 = symbol("s0")
    for k, text in enumerate([
            f"And(GreaterThan({s0}, Integer(1)), Not(StrictGreaterThan({s0}, Integer(64))))",
            f"Or(Equality({s0}, Integer(1)), Unequality({s0}, Integer(0)))",
            f"StrictLessThan(Mul(Rational(1, 2), {s0}), Rational(65, 2))"]):
        assert_scalar(a, condition(a, f"size_{k}", text), f"size {k}")
    compute(a, "torch.ops.aten.sym_constrain_range_for_size.default", [("size", rows), ("min", {"as_int": 2})], None)
    count = integer(a, "count", symbol("u0"))
    add_tensor(a, "torch.ops.aten.sum.default", [("self", tensor("ge_0")), ("dtype", {"as_scalar_type": LONG})], "ones", dtype=LONG)
    compute(a, "torch.ops.aten.item.default", [("self", tensor("ones"))], count)
    compute(a, "torch.ops.aten.sym_constrain_range_for_size.default", [("size", count), ("max", {"as_int": 9})], None)


@good
def assertion_at_run_time(a):
    """Only calls with an even number of rows, at most 8 of them, pass."""
    dynamic(a)
    even = f"Equality(Mod({symbol('s0')}, Integer(2)), Integer(0))"
    assert_scalar(a, condition(a, "even", f"And({even}, LessThan({symbol('s0')}, Integer(8)))"), "few and even")


@bad("aten._assert_scalar.default: asserts a condition that never holds: more than 64")
def assertion_that_fails(a):
    dynamic(a)
    assert_scalar(a, condition(a, "many", f"StrictGreaterThan({symbol('s0')}, Integer(64))"), "more than 64")


@good
def extents_that_agree(a):
    """min(s0, 8) rows meet s0: only calls with at most 8 pass."""
    dynamic(a)
    for start, name, end in ((0, "few", 8), (2, "columns", 4)):
        a.nodes.insert(2 + (name == "columns"), node("torch.ops.aten.slice.Tensor", [
            ("self", tensor("relu")), ("dim", {"as_int": int(name == "columns")}), ("start", {"as_int": start}),
            ("end", {"as_int": end})], name))
    least = {"as_expr": {"expr_str": f"Min(Integer(8), {symbol('s0')})"}}
    rows = a.values["x"]["sizes"][0]
    a.values |= {"few": meta([least, 4]), "columns": meta([rows, 2])}
    a.nodes[-1] = node("torch.ops.aten.mul.Tensor", [("self", tensor("relu")), ("other", tensor("few"))], "mul")
    a.add("torch.ops.aten.cat.default", [("tensors", {"as_tensors": [{"name": "columns"}, {"name": "few"}]}),
                                         ("dim", {"as_int": 1})], "cat")
    a.values["cat"] = meta([rows, 6])


@good
def guards(a):
    """Guards that the range of s0 proves, that only some calls satisfy, and that cannot be parsed."""
    dynamic(a)
    rows = "L['x'].size()[0]"
    a.program["guards_code"] = [f"{rows} >= 2", f"({rows} % 2) == 0 and not {rows} > 8",
                                "L['y'].size()[0] == 3", f"frob({rows}) > 1"]


@bad("a guard of the trace never holds: L['x'].size()[0] > 64")
def guard_that_fails(a):
    dynamic(a)
    a.program["guards_code"] = ["L['x'].size()[0] > 64"]


@bad("guards_code[0]: expected a string")
def guard_that_is_no_text(a):
    a.program["guards_code"] = [1]


@bad("unsupported op aten.frob.default")
def assertion_of_what_is_unknown(a):
    add_tensor(a, "torch.ops.aten.frob.default", [("self", tensor("x"))], "frob")
    compute(a, "torch.ops.aten._assert_async.msg", [("self", tensor("frob")), ("assert_msg", {"as_string": "text"})], None)


@bad("aten._assert_async.msg: asserts a value that cannot be computed: text")
def assertion_of_several(a):
    compute(a, "torch.ops.aten._assert_async.msg", [("self", tensor("x")), ("assert_msg", {"as_string": "text"})], None)


@bad("_operator.frob: computes an assertion about elements in an unsupported way")
def assertion_of_unknown_arithmetic(a):
    add_tensor(a, "torch.ops.aten.sum.default", [("self", tensor("x"))], "sum", dtype=7)
    total = {"as_sym_float": {"as_name": "total"}}
    compute(a, "torch.ops.aten.item.default", [("self", tensor("sum"))], total)
    holds = condition(a, "holds", "StrictGreaterThan(Symbol('zuf0'), Float('3.5', precision=53))")
    compute(a, "_operator.frob", [("", total), ("", {"as_int": 1})], holds)
    assert_scalar(a, holds, "text")


@bad("expected a quoted number at character")
def float_that_is_none(a):
    condition(a, "holds", "StrictGreaterThan(Symbol('zuf0'), Float(3.5))")


@bad("names the unknown symbolic value 'nowhere'")
def assertion_of_nothing(a):
    assert_scalar(a, {"as_sym_bool": {"as_name": "nowhere"}}, "text")


@bad("uses 'Frob' of 2 operands as a condition, which is not known")
def unknown_condition(a):
    condition(a, "frob", "Frob(Integer(1), Integer(2))")


@bad("is nested deeper than 128")
def deep_condition(a):
    condition(a, "deep", "Not(" * 5000 + "true" + ")" * 5000)


@bad("has cases of which the last is not 'true'")
def piecewise_without_last_case(a):
    integer(a, "some", f"Piecewise(ExprCondPair(Integer(1), Equality({symbol('s0')}, Integer(1))))")


@bad("aten.item.default: has a result whose shape or value is known only at run time")
def item_that_is_used(a):
    number = integer(a, "item", symbol("u0"))
    compute(a, "torch.ops.aten.item.default", [("self", tensor("mul"))], number)
    assert_scalar(a, condition(a, "ge", f"GreaterThan({symbol('u0')}, Integer(1))"), "text")
    a.add("torch.ops.aten.add.Tensor", [("self", tensor("mul")), ("other", number)], "add")
