# ===- pt2_archive.py - Building blocks of hand-made torch.export archives -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One small valid program, and functions to change it. Needs no torch."""
import copy
import io
import json
import struct
import zipfile

FLOAT, LONG = 7, 5


def meta(sizes, dtype=FLOAT, strides=None, offset=0):
    dims = [s if isinstance(s, dict) else {"as_int": s} for s in sizes]
    if strides is None:
        strides, n = [], 1
        for s in reversed(sizes):
            strides.insert(0, n)
            n *= s if isinstance(s, int) else 1
    return {"dtype": dtype, "sizes": dims, "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": s} for s in strides], "storage_offset": {"as_int": offset}, "layout": 7}


def tensor(name):
    return {"as_tensor": {"name": name}}


def node(target, inputs, output, name=None, line=7):
    return {"target": target, "inputs": [{"name": n, "arg": a, "kind": 1} for n, a in inputs],
            "outputs": [tensor(output)], "name": name or output, "is_hop_single_tensor_return": None,
            "metadata": {"stack_trace": f'File "model.py", line {line}, in forward\n    return f(x)'}}


def program():
    """relu(x @ w^T + b) * c"""
    return {
        "graph_module": {
            "graph": {
                "inputs": [tensor(n) for n in ("p_w", "p_b", "c_c", "x")],
                "outputs": [tensor("mul")],
                "nodes": [
                    node("torch.ops.aten.linear.default",
                         [("input", tensor("x")), ("weight", tensor("p_w")), ("bias", tensor("p_b"))], "linear"),
                    node("torch.ops.aten.relu.default", [("self", tensor("linear"))], "relu"),
                    node("torch.ops.aten.mul.Tensor", [("self", tensor("relu")), ("other", tensor("c_c"))], "mul"),
                ],
                "tensor_values": {"x": meta([2, 3]), "p_w": meta([4, 3]), "p_b": meta([4]), "c_c": meta([4]),
                                  "linear": meta([2, 4]), "relu": meta([2, 4]), "mul": meta([2, 4])},
                "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {}, "custom_obj_values": {},
                "is_single_tensor_return": False},
            "signature": {
                "input_specs": [
                    {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
                    {"parameter": {"arg": {"name": "p_b"}, "parameter_name": "b"}},
                    {"tensor_constant": {"arg": {"name": "c_c"}, "tensor_constant_name": "c"}},
                    {"user_input": {"arg": tensor("x")}}],
                "output_specs": [{"user_output": {"arg": tensor("mul")}}]},
            "module_call_graph": [], "metadata": {}},
        "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 20},
        "verifiers": ["TRAINING"], "torch_version": "2.13.0"}


def entry(path, sizes, **more):
    return {"path_name": path, "is_param": True, "use_pickle": False, "tensor_meta": meta(sizes), **more}


def parts():
    """Member name to contents, of the good archive; JSON still as objects."""
    return {
        "model/models/model.json": program(),
        "model/data/weights/model_weights_config.json": {
            "config": {"w": entry("weight_0", [4, 3]), "b": entry("weight_1", [4])}},
        "model/data/weights/weight_0": struct.pack("<12f", *range(12)),
        "model/data/weights/weight_1": struct.pack("<4f", *range(4)),
        "model/data/constants/model_constants_config.json": {"config": {"c": entry("tensor_0", [4])}},
        "model/data/constants/tensor_0": struct.pack("<4f", 1, 2, 3, 4),
        "model/byteorder": b"little", "model/archive_format": b"pt2", "model/archive_version": b"0"}


def pack(members, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as z:
        for name, content in members.items():
            if not isinstance(content, bytes):
                content = json.dumps(content).encode()
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            z.writestr(info, content)
    return out.getvalue()


class Archive:
    """The good archive, to be modified."""

    def __init__(self):
        self.members = parts()
        self.program = self.members["model/models/model.json"]
        self.graph = self.program["graph_module"]["graph"]
        self.signature = self.program["graph_module"]["signature"]
        self.nodes = self.graph["nodes"]
        self.values = self.graph["tensor_values"]
        self.weights = self.members["model/data/weights/model_weights_config.json"]["config"]

    def add(self, target, inputs, name, like="mul", dtype=None, beside=False):
        """One more node, of line 100 and its number, whose result becomes the output, or one beside the others."""
        self.nodes.append(node(target, inputs, name, line=100 + len(self.nodes)))
        self.values[name] = copy.deepcopy(self.values[like])
        if dtype is not None:
            self.values[name]["dtype"] = dtype
        outputs = self.signature["output_specs"] if beside else []
        self.signature["output_specs"] = outputs + [{"user_output": {"arg": tensor(name)}}]
