#!/usr/bin/env python3
# ===- make_pt2_inputs.py - Small hand-made torch.export archives -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small archives without torch: a few good programs, and copies of one with one error each.

    make_pt2_inputs.py OUT_DIR [NAME...]      writes NAME.pt2 (all of them by default)
    make_pt2_inputs.py --list                 prints "NAME<TAB>expected part of the message"
    make_pt2_inputs.py --check TOOL OUT_DIR [N/PARTS]
                                              hands each to TOOL (luminal-translate, luminal-compile or luminal-run): a bad
                                              one must exit 2 with exactly one located error that holds the expected
                                              part, and leave no output; the good ones must succeed. Of the bad ones it
                                              takes one in PARTS, from number N on
"""
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import zipfile

# Beside this file.
import npy
import pt2_graphs
import pt2_limits
from pt2_archive import LONG, Archive, meta, node, pack, parts, tensor

def saved(code):
    """A torch.save file with this pickle."""
    return pack({"archive/data.pkl": code, "archive/byteorder": b"little", "archive/data/0": bytes(48)})


class Call:
    def __reduce__(self):
        return (print, ("executed",))


BAD = {}


def bad(message):
    def register(f):
        BAD[f.__name__.replace("_", "-")] = (message, f)
        return f
    return register


# Whole files.
@bad("is not a zip archive")
def not_a_zip(a):
    return b"this is no archive" * 10


@bad("is not a zip archive")
def empty_file(a):
    return b""


for k in range(10):
    def truncated(a, k=k):
        data = pack(a.members)
        return data[:len(data) * (2 * k + 1) // 20]
    truncated.__name__ = f"truncated_{k}"
    bad("is not a zip archive")(truncated)


@bad("holds '..'")
def name_with_dots(a):
    a.members["model/data/../../etc"] = b"x"


@bad("is not a torch.export archive")
def no_program(a):
    del a.members["model/models/model.json"]


@bad("holds more than one model")
def two_programs(a):
    a.members["model/models/other.json"] = a.program


@bad("is not little-endian")
def big_endian(a):
    a.members["model/byteorder"] = b"big"


@bad("does not match its checksum")
def damaged_program(a):
    data = bytearray(pack(a.members))
    data[data.index(b"aten.relu")] ^= 1
    return bytes(data)


# JSON.
@bad("is not valid JSON at byte")
def bad_json(a):
    a.members["model/models/model.json"] = b'{"graph_module": '


@bad("is nested deeper than 512")
def deep_json(a):
    a.members["model/models/model.json"] = b"[" * 100000 + b"]" * 100000


@bad("graph.nodes[0].target: expected a string, found number")
def wrong_type(a):
    a.nodes[0]["target"] = 3


@bad("graph_module: has no 'graph'")
def missing_key(a):
    del a.program["graph_module"]["graph"]


@bad("expected an object with one member, found 2")
def two_tags(a):
    a.nodes[0]["inputs"][0]["arg"]["as_int"] = 3


@bad("unknown kind of argument 'as_frob'")
def unknown_argument(a):
    a.nodes[0]["inputs"][0]["arg"] = {"as_frob": 1}


@bad("unknown dtype code 99")
def unknown_dtype(a):
    a.values["x"]["dtype"] = 99


@bad("only the strided layout (7) is supported")
def sparse_layout(a):
    a.values["x"]["layout"] = 1


@bad("schema version 9 is not supported")
def newer_schema(a):
    a.program["schema_version"]["major"] = 9


@bad("expected a name and '('")
def bad_symbol(a):
    a.values["x"]["sizes"][0] = {"as_expr": {"expr_str": "2 * s0"}}


@bad("is nested deeper than 128")
def deep_symbol(a):
    a.values["x"]["sizes"][0] = {"as_expr": {"expr_str": "Add(" * 5000 + "Integer(1)" + ")" * 5000}}


@bad("has a negative extent")
def negative_extent(a):
    a.values["x"]["sizes"][0] = {"as_int": -2}


@bad("the range is empty")
def empty_range(a):
    a.program["range_constraints"] = {"s0": {"min_val": 4, "max_val": 3}}


# Weights.
@bad("needs 12 elements of 4 bytes")
def short_weights(a):
    a.members["model/data/weights/weight_0"] = bytes(44)


@bad("needs 15 elements of 4 bytes")
def weights_offset_outside(a):
    a.weights["w"]["tensor_meta"]["storage_offset"] = {"as_int": 3}


@bad("the storage offset is negative")
def weights_offset_negative(a):
    a.weights["w"]["tensor_meta"]["storage_offset"] = {"as_int": -1}


@bad("sizes, strides or offset are out of range")
def weights_overflow(a):
    a.weights["w"]["tensor_meta"]["strides"] = [{"as_int": 2**62}, {"as_int": 2**62}]


@bad("has no member 'model/data/weights/weight_9'")
def weights_missing_member(a):
    a.weights["w"]["path_name"] = "weight_9"


@bad("has no member 'model/data/weights/../models/model.json'")
def weights_path_escapes(a):
    a.weights["w"]["path_name"] = "../models/model.json"


@bad("'w' is not in the archive")
def weights_missing(a):
    del a.weights["w"]


@bad("stored with another dtype or shape")
def weights_other_shape(a):
    a.values["p_w"] = meta([3, 4])


@bad("is a torch.save file where raw bytes are expected")
def pickle_where_raw(a):
    a.members["model/data/weights/weight_0"] = saved(pickle.dumps({}, 2))


@bad("is not a zip archive")
def raw_where_pickle(a):
    a.weights["w"]["use_pickle"] = True


@bad("and a pickle is read as data only")
def pickle_with_code(a):
    a.weights["w"]["use_pickle"] = True
    a.members["model/data/weights/weight_0"] = saved(pickle.dumps(Call(), 2))


@bad("pickle holds neither a tensor nor a dictionary of tensors")
def pickle_without_tensor(a):
    a.weights["w"]["use_pickle"] = True
    a.members["model/data/weights/weight_0"] = saved(pickle.dumps(3, 2))


@bad("pickle ends with other than one value")
def pickle_nested(a):
    a.weights["w"]["use_pickle"] = True
    a.members["model/data/weights/weight_0"] = saved(b"\x80\x02" + b"(" * 100000 + b".")


@bad("ends in the middle of a value")
def pickle_truncated(a):
    a.weights["w"]["use_pickle"] = True
    a.members["model/data/weights/weight_0"] = saved(b"\x80\x02X\xff\xff\xff\x7fa")


# Programs.
@bad("unsupported ops aten.frob.default; aten.rand.default: draws random numbers; aten.nonzero.default: has a result")
def unsupported_ops(a):
    a.add("torch.ops.aten.frob.default", [("self", tensor("mul"))], "frob")
    a.add("torch.ops.aten.rand.default", [("size", {"as_ints": [2, 4]})], "rand", beside=True)
    a.add("torch.ops.aten.nonzero.default", [("self", tensor("mul"))], "nonzero", beside=True)
    a.add("torch.ops.aten.neg.default", [("self", tensor("frob"))], "neg", beside=True)


@bad("aten.dropout.default: draws random numbers (train is true)")
def training_dropout(a):
    a.add("torch.ops.aten.dropout.default",
          [("input", tensor("mul")), ("p", {"as_float": 0.5}), ("train", {"as_bool": True})], "dropout")


@bad("aten.relu.default: has an argument 'slope' that is not known")
def unknown_parameter(a):
    a.nodes[1]["inputs"].append({"name": "slope", "arg": {"as_float": 0.5}, "kind": 2})


@bad("aten.relu.default: lacks argument 'self'")
def missing_parameter(a):
    a.nodes[1]["inputs"] = []


@bad("aten.gelu.default: approximate 'other' is not known")
def unsupported_value(a):
    a.add("torch.ops.aten.gelu.default", [("self", tensor("mul")), ("approximate", {"as_string": "other"})], "gelu_1")


@bad("names an unknown tensor")
def unknown_tensor(a):
    a.nodes[1]["inputs"][0]["arg"] = tensor("nowhere")


@bad("argument 'self' names an unknown tensor")
def empty_tensor_name(a):
    a.nodes[1]["inputs"][0]["arg"] = tensor("")


@bad("argument 'tensors' names an unknown tensor")
def empty_tensor_name_in_list(a):
    a.add("torch.ops.aten.cat.default", [("tensors", {"as_tensors": [{"name": "mul"}, {"name": ""}]})], "cat")


@bad("argument 'weight' names an unknown tensor")
def empty_name_of_optional(a):
    a.add("torch.ops.aten.rms_norm.default",
          [("input", tensor("mul")), ("normalized_shape", {"as_ints": [4]}), ("weight", tensor(""))], "norm")


@bad("argument 'dtype' may not be None")
def none_for_dtype(a):
    a.add("torch.ops.aten.norm.ScalarOpt_dtype", [("self", tensor("mul")), ("p", {"as_int": 2}), ("dtype", {"as_none": True})],
          "norm")


@bad("argument 'dim' is symbolic (s0)")
def symbolic_where_known(a):
    a.values["x"]["sizes"][0] = {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)"}}
    a.graph["sym_int_values"]["n"] = a.values["x"]["sizes"][0]
    a.add("torch.ops.aten.softmax.int", [("self", tensor("mul")), ("dim", {"as_sym_int": {"as_name": "n"}})], "softmax")


@bad("aten.log_sigmoid_forward.default: its result 'buffer' is only used by gradients, which are not supported")
def gradients_only(a):
    a.add("torch.ops.aten.log_sigmoid_forward.default", [("self", tensor("mul"))], "sigmoid")
    a.nodes[-1]["outputs"].append(tensor("buffer"))
    a.add("torch.ops.aten.relu.default", [("self", tensor("buffer"))], "read")


@bad("aten.repeat_interleave.self_int: an extent is beyond 64 bits")
def extent_overflow(a):
    a.add("torch.ops.aten.repeat_interleave.self_int",
          [("self", tensor("mul")), ("repeats", {"as_int": 2**62}), ("dim", {"as_int": 0})], "repeat")
    del a.values["repeat"]


@bad("aten.tile.default: extent -8 cannot be")
def extent_negative(a):
    a.add("torch.ops.aten.tile.default", [("self", tensor("mul")), ("dims", {"as_ints": [-2]})], "tile")
    del a.values["tile"]


# If one step of an op cannot be built, building the op ends there.
def pool_of_nothing(n, op):
    def make_pool(a):
        a.values["x"] = meta([1] + [0] * n)
        a.nodes.clear()
        a.add(f"torch.ops.aten.{op}.default",
              [("self", tensor("x")), ("kernel_size", {"as_ints": [2] * n}), ("padding", {"as_ints": [1] * n})], "pool",
              like="x")
        del a.values["pool"]
    make_pool.__name__ = f"{op}_of_nothing"
    bad("extent 0 of a dim with windows is zero")(make_pool)


for n in (1, 2, 3):
    for op in (f"avg_pool{n}d", f"max_pool{n}d", f"max_pool{n}d_with_indices"):
        pool_of_nothing(n, op)


@bad("gives element type f32, but the archive says int64")
def other_dtype(a):
    a.values["relu"]["dtype"] = LONG


@bad("gives shape [2, 4], but the archive says [2, 5]")
def other_shape(a):
    a.values["relu"] = meta([2, 5])


@bad("dim 2 is outside a tensor of rank 2")
def bad_dim(a):
    a.add("torch.ops.aten.unbind.int", [("self", tensor("mul")), ("dim", {"as_int": 2})], "unbind")


@bad("output 'nowhere' names an unknown tensor")
def unknown_output(a):
    a.signature["output_specs"] = [{"user_output": {"arg": tensor("nowhere")}}]


@bad("appears twice")
def input_twice(a):
    a.signature["input_specs"].append(a.signature["input_specs"][0])


@bad("has dtype complex64, which is not supported")
def complex_input(a):
    a.values["x"]["dtype"] = 10


@bad("writes in place to an argument that is not a buffer or input")
def write_through_reshape(a):
    # The write goes through an op whose name is not that of a view.
    a.nodes.insert(0, node("torch.ops.aten.mT.default", [("self", tensor("p_w"))], "mt"))
    a.values["mt"] = meta([3, 4])
    a.nodes.insert(1, node("torch.ops.aten.zero_.default", [("self", tensor("mt"))], "zero_"))
    a.values["zero_"] = meta([3, 4])


BAD |= pt2_graphs.BAD | pt2_limits.BAD
GOOD = ["good", "good-deflated", *pt2_graphs.GOOD]


def make(name):
    if name in ("good", "good-deflated"):
        return pack(parts(), zipfile.ZIP_DEFLATED if name == "good-deflated" else zipfile.ZIP_STORED)
    archive = Archive()
    data = (BAD[name][1] if name in BAD else pt2_graphs.GOOD[name])(archive)
    return pack(archive.members) if data is None else data


def command(tool, file, out):
    """What hands an archive to a tool, and the file that then exists."""
    kind = pathlib.Path(tool.split()[0]).name
    if kind == "luminal-translate":
        return [tool, "--import-pt2", file, "-o", out / "result.mlir"], out / "result.mlir"
    if kind == "luminal-compile":
        return [tool, file, "-o", out / "result.lum"], out / "result.lum"
    return [*tool.split(), file, f"--input={out / 'x.npy'}", f"--output-dir={out / 'result'}"], out / "result"


def check(tool, out, part=0, parts=1):
    failures, bad = 0, list(BAD)[part::parts]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    npy.save(out / "x.npy", "f4", [2, 3], range(6))
    for name in [*GOOD, *bad]:
        file = out / f"{name}.pt2"
        file.write_bytes(make(name))
        line, result = command(tool, file, out)
        before = sorted(out.iterdir())
        # Temporary files must be removed as well.
        try:
            done = subprocess.run(line, capture_output=True, text=True, errors="replace", timeout=60,
                                  env={**os.environ, "TMPDIR": str(out)})
        except subprocess.TimeoutExpired:
            failures += 1
            print(f"{name}: took more than 60 s")
            continue
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        if name not in BAD:
            problem = None if done.returncode == 0 and result.exists() else done.stderr
            shutil.rmtree(result) if result.is_dir() else result.unlink(missing_ok=True)
            if not problem and sorted(out.iterdir()) != before:
                problem = "left temporary files"
        elif done.returncode != 2:
            problem = f"exit {done.returncode}"
        elif len(errors) != 1:
            problem = f"{len(errors)} errors"
        elif BAD[name][0] not in errors[0]:
            problem = f"expected '{BAD[name][0]}'"
        elif not re.match(r"[^ ]+:[0-9]+:[0-9]+: error: ", errors[0]):
            problem = "the error has no location"
        else:
            problem = f"wrote {done.stdout!r} and files" if done.stdout or sorted(out.iterdir()) != before else None
        if problem:
            failures += 1
            print(f"{name}: {problem}\n{done.stderr[:600]}")
    print(f"{len(bad)} bad archives, {failures} not refused as they should be")
    return 1 if failures else 0


def main():
    args = sys.argv[1:]
    if args[:1] == ["--list"]:
        for name, (message, _) in BAD.items():
            print(f"{name}\t{message}")
        return 0
    if args[:1] == ["--check"] and len(args) in (3, 4):
        return check(args[1], pathlib.Path(args[2]), *map(int, args[3].split("/") if len(args) == 4 else ()))
    if not args or args[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    out = pathlib.Path(args[0])
    out.mkdir(parents=True, exist_ok=True)
    for name in args[1:] or [*GOOD, *BAD]:
        (out / f"{name}.pt2").write_bytes(make(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
