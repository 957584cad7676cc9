# ===- pt2_limits.py - Archives whose arguments are too large to follow --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More bad cases of make_pt2_inputs.py: values and extents that an import which loops over them would never be done with.

Each is refused by an error that names the limit. Also numbers and shapes that do not fit their tensors.
"""
from pt2_archive import FLOAT, LONG, meta, tensor

BAD = {}
HUGE, GREATEST = 1 << 40, (1 << 63) - 1


def integer(value):
    return {"as_int": value}


def integers(*values):
    return {"as_ints": list(values)}


def bad(name, message, target, arguments, extents=()):
    """A node of `target`; extents are those of x or, by name, of further inputs."""
    def build(archive):
        for value, sizes in dict(extents).items():
            if value not in archive.values:
                argument = {"user_input": {"arg": tensor(value)}}
                archive.signature["input_specs"].append(argument)
                archive.graph["inputs"].append(tensor(value))
            archive.values[value] = meta(sizes, LONG if name.startswith("integer") else FLOAT)
        if "x" in dict(extents):
            archive.nodes.clear()
        archive.add(f"torch.ops.aten.{target}", arguments, "added")
    BAD[name] = (message, build)


x = ("self", tensor("x"))
for name, sizes in {"rows": (HUGE, 2, 0), "columns": (1, GREATEST, GREATEST), "both": (HUGE, HUGE, 0), "offset": (HUGE, HUGE, GREATEST)}.items():
    bad(f"tril-{name}", "aten.tril_indices.default: has more than 16384 elements", "tril_indices.default",
        list(zip(("row", "col", "offset"), map(integer, sizes))))
bad("triu-last-column", "aten.triu_indices.default: has more than 16384 elements", "triu_indices.default",
    [("row", integer(GREATEST)), ("col", integer(GREATEST)), ("offset", integer(-GREATEST))])
bad("tril-negative", "has a negative number of rows or columns", "tril_indices.default",
    [("row", integer(-1)), ("col", integer(2))])
bad("pdist-rows", "has more than 16384 pairs of rows", "pdist.default", [x], {"x": [HUGE, 1]})
bad("tensor-split", f"gives {HUGE} parts, but the archive has 1", "tensor_split.sections", [x, ("sections", integer(HUGE))])
bad("differences", "takes differences more than 64 times", "diff.default", [x, ("n", integer(HUGE))], {"x": [HUGE]})
bad("nearest", "gives more than 1048576 elements along a dim", "upsample_nearest1d.default",
    [x, ("output_size", integers(HUGE + 1))], {"x": [1, 1, 3]})
for name, value in {"kernel_size": HUGE, "stride": GREATEST, "padding": -GREATEST, "dilation": HUGE}.items():
    window = {"kernel_size": 2, "stride": 2, "padding": 1, "dilation": 1, name: value}
    bad(f"pool-{name.replace('_', '-')}", f"argument '{name}' holds {value}, beyond the limit of 2147483647",
        "max_pool1d.default", [x, *((n, integers(v)) for n, v in window.items())])
bad("pool-ceil", f"gives shape [1, {1 << 59}], but the archive says", "max_pool1d.default",
    [x, ("kernel_size", integers(2)), ("ceil_mode", {"as_bool": True})], {"x": [1, GREATEST // 8]})
bad("kernel-extent", "the kernel is larger than 2147483647", "conv1d.default",
    [("input", tensor("x")), ("weight", tensor("kernel")), ("dilation", integers(1 << 30)), ("padding", integers(0))],
    {"x": [1, 1, 3], "kernel": [1, 1, HUGE]})
for name, value in {"nan": "NaN", "infinity": "Infinity", "large": 1e19}.items():
    bad(f"integer-of-{name}", "does not fit into a 64-bit integer", "scatter.value",
        [("self", tensor("x")), ("dim", integer(0)), ("index", tensor("x")), ("value", {"as_float": value})],
        {"x": [2, 3]})
for name, shape in {"rank": [1, 2, 5], "length": [3]}.items():
    bad(f"convolution-bias-{name}", "an operand does not hold one element for each channel", "conv1d.default",
        [("input", tensor("x")), ("weight", tensor("kernel")), ("bias", tensor("bias"))],
        {"x": [1, 2, 9], "kernel": [2, 2, 3], "bias": shape})
    bad(f"group-norm-weight-{name}", "an operand does not hold one element for each channel", "group_norm.default",
        [("input", tensor("x")), ("num_groups", integer(2)), ("weight", tensor("weight"))],
        {"x": [1, 2, 9], "weight": shape})
bad("layer-norm-weight-rank", "an operand cannot be broadcast to the others", "layer_norm.default",
    [("input", tensor("x")), ("normalized_shape", integers(9)), ("weight", tensor("weight"))],
    {"x": [1, 9], "weight": [2, 1, 9]})
bad("layer-norm-weight-length", "an operand cannot be broadcast to the others", "layer_norm.default",
    [("input", tensor("x")), ("normalized_shape", integers(9)), ("weight", tensor("weight"))],
    {"x": [1, 9], "weight": [8]})
bad("weight-norm-shape", "the lengths do not fit the directions", "_weight_norm.default",
    [("v", tensor("x")), ("g", tensor("g"))], {"x": [2, 3, 8], "g": [2, 1, 7]})


def recurrent(name, message, length, layers):
    flags = [(n, {"as_bool": False}) for n in ("has_biases", "train", "bidirectional", "batch_first")]
    bad(name, message, "gru.input",
        [("input", tensor("x")), ("hx", tensor("h")), ("params", {"as_tensors": [{"name": "v"}, {"name": "w"}]}),
         ("num_layers", integer(layers)), ("dropout", {"as_float": 0.0}), *flags],
        {"x": [length, 1, 4], "h": [1, 1, 4], "v": [12, 4], "w": [12, 4]})


recurrent("recurrent-steps", "the sequence has more than 16384 steps", HUGE, 1)
recurrent("recurrent-layers", "has no layers, or more than 64", 2, GREATEST)
