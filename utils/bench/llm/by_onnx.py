# ===- by_onnx.py - ONNX Runtime and OpenVINO --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same step as an ONNX program, on the CPU. ONNX has no memory that a program writes to, so caches go in and come out, in two
sets of buffers that change places at each step."""
import pathlib
import tempfile
import time

import torch
from torch import nn

from backends import WARM_ROUNDS, WARM_STEPS


class _Pure(nn.Module):
    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, ids, positions, *caches):
        caches = [cache.clone() for cache in caches]
        return (*self.step.with_caches(ids, positions, caches), *caches)


class _OnnxRuntime:
    def __init__(self, path, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, 4
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.inputs, self.outputs = ([node.name for node in nodes] for nodes in (self.session.get_inputs(), self.session.get_outputs()))
        self.value = onnxruntime.OrtValue.ortvalue_from_numpy

    def wrap(self, tensor):
        return self.value(tensor.numpy())

    def run(self, inputs, logits, caches):
        for name, value in zip(self.inputs, inputs):
            self.binding.bind_ortvalue_input(name, value)
        self.binding.bind_ortvalue_output(self.outputs[0], logits)
        self.binding.bind_output(self.outputs[1])
        for name, value in zip(self.outputs[2:], caches):
            self.binding.bind_ortvalue_output(name, value)
        self.session.run_with_iobinding(self.binding)


class _OpenVINO:
    def __init__(self, path, threads):
        import openvino
        core = openvino.Core()
        compiled = core.compile_model(core.read_model(path), "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads})
        self.request, self.tensor = compiled.create_infer_request(), openvino.Tensor

    def wrap(self, tensor):
        return self.tensor(tensor.numpy(), shared_memory=True)

    def run(self, inputs, logits, caches):
        for i, value in enumerate(inputs):
            self.request.set_input_tensor(i, value)
        for i, value in enumerate([logits, *caches]):
            self.request.set_output_tensor(i + (i > 0), value)
        self.request.infer()


class Onnx:
    """One program for prompts and tokens: the number of tokens is a symbol."""

    def __init__(self, row, step, work):
        if row["device"] != "cpu":
            raise ValueError("this backend runs on the CPU only")
        self.row, self.step, self.work, self.batch, self.compiles = row, step, work, row["batch"], True

    def start(self, meter):
        began = time.perf_counter()
        caches = self.step.caches()
        tokens = torch.export.Dim("tokens", min=1, max=self.row["cache"])
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "step.onnx")
            torch.onnx.export(_Pure(self.step), (*self.work.first, *caches), path, dynamo=True, verbose=False,
                              dynamic_shapes=({1: tokens}, {0: tokens}, tuple({} for _ in caches)))
            kind = _OnnxRuntime if self.row["backend"] == "onnxruntime" else _OpenVINO
            self.program = kind(path, torch.get_num_threads())
        # They are the program's own: in turns others have the module's.
        self.kept = [[cache.clone() for cache in caches] for _ in range(2)]
        self.caches = [[self.program.wrap(cache) for cache in kept] for kept in self.kept]
        self.found = torch.empty(self.batch, self.step.model.config.get_text_config().vocab_size)
        self.out = self.program.wrap(self.found)
        wrap = self.program.wrap
        self.first = [wrap(tensor) for tensor in self.work.first]
        self.later = [[wrap(tensor) for tensor in later] for later in self.work.later]
        self._call(self.first)
        self._call(self.later[0])
        return time.perf_counter() - began

    def _call(self, inputs):
        self.program.run([*inputs, *self.caches[0]], self.out, self.caches[1])
        self.caches.reverse()

    def warm(self):
        for _ in range(WARM_ROUNDS):
            for inputs in [self.first, *self.later[:WARM_STEPS]]:
                self._call(inputs)

    def logits(self, count):
        found = []
        for inputs in [self.first, *self.later[:count]]:
            self._call(inputs)
            found.append(self._logits())
        return found

    def _logits(self):
        return (torch.from_numpy(self.out.numpy()) if hasattr(self.out, "numpy") else self.found).clone()

    def round(self, meter):
        first = meter.times([lambda: self._call(self.first)])
        return first, meter.times([lambda inputs=inputs: self._call(inputs) for inputs in self.later])

    def launches(self):
        return None

    profile = launches
