# ===- cuda_program.py - Kernels of an artifact, launched beside PyTorch -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches the kernels of a `--target=cuda` artifact on PyTorch's stream and PyTorch's memory, through the driver.

Only for scripts that time kernels or look at each of their results: programs of fixed sizes, without library calls. They
can be captured into a graph (`torch.cuda.graph`) beside PyTorch's own kernels.
"""
import ctypes
import json
import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def compile(module, args, path, tools=ROOT / "build/release/bin", arch="sm_90a", options=()):
    """Writes the artifact of a module for examples of its arguments."""
    import torch

    program = torch.export.export(module, args)
    program._example_inputs = None  # They would be stored.
    archive = pathlib.Path(path).with_suffix(".pt2")
    torch.export.save(program, archive)
    done = subprocess.run([tools / "luminal-compile", archive, "-o", path, "--target=cuda", f"--arch={arch}", "--quiet",
                           *options], capture_output=True, text=True)
    archive.unlink()
    if done.returncode:
        sys.exit(f"{path}: {done.stderr.strip()}")


class Driver:
    """libcuda on the context that PyTorch has made current."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")

    def __call__(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(status, ctypes.byref(text))
            sys.exit(f"{name}: {text.value.decode() if text.value else status}")


DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class Program:
    def __init__(self, path):
        import torch

        self.torch = torch
        torch.cuda.current_stream()
        self.driver = Driver()
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            code = archive.read("device.cubin" if "device.cubin" in archive.namelist() else "device.ptx")
            self.constants = archive.read("constants.bin") if "constants.bin" in archive.namelist() else b""
        if manifest["symbols"] or any("kernel" not in s for s in manifest["steps"]):
            sys.exit(f"{path}: only fixed sizes and no library calls")
        self.manifest = manifest
        module = ctypes.c_void_p()
        self.driver("cuModuleLoadData", ctypes.byref(module), code)
        self.status = torch.zeros(1, dtype=torch.int32, device="cuda")
        self.steps = []
        for step in manifest["steps"]:
            launch = step["launch"]
            if not int(launch["work"]):
                continue
            function = ctypes.c_void_p()
            self.driver("cuModuleGetFunction", ctypes.byref(function), module, step["kernel"].encode())
            shared = int(launch["shared"])
            if shared:
                self.driver("cuFuncSetAttribute", function, DYNAMIC_SHARED, shared)
            self.steps.append((function, int(launch["grid"]), launch["block"], shared, step["buffers"]))

    def bind(self, inputs):
        """A call without arguments that computes the outputs, which are its attribute, from these tensors."""
        torch, manifest = self.torch, self.manifest
        device = lambda shape, dtype: torch.empty([int(e) for e in shape], dtype=dtype, device="cuda")
        dtypes = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
                  "i32": torch.int32, "i64": torch.int64, "i1": torch.bool}
        arena = device([manifest["arena_bytes"]], torch.uint8)
        constants = torch.frombuffer(bytearray(self.constants or b"\0"), dtype=torch.uint8).cuda()
        addresses, keep, outputs = [0] * len(manifest["buffers"]), [arena, constants, *inputs], []
        for info, tensor in zip(manifest["inputs"], inputs, strict=True):
            addresses[info["buffer"]] = tensor.data_ptr()
        for info in manifest["outputs"]:
            if manifest["buffers"][info["buffer"]]["kind"] == "output":
                outputs.append(device(info["shape"], dtypes[info["dtype"]]))
                addresses[info["buffer"]] = outputs[-1].data_ptr()
            else:  # State in place.
                outputs.append(next(t for i, t in zip(manifest["inputs"], inputs) if i["buffer"] == info["buffer"]))
        for at, buffer in enumerate(manifest["buffers"]):
            offset = int(buffer.get("offset", 0))
            if buffer["kind"] == "arena":
                addresses[at] = arena.data_ptr() + offset
            elif buffer["kind"] == "constant":
                addresses[at] = constants.data_ptr() + offset
            elif buffer["kind"] == "alias":
                addresses[at] = addresses[buffer["of"]] + offset
            elif buffer["kind"] == "counters":
                keep.append(torch.zeros(int(buffer["bytes"]), dtype=torch.uint8, device="cuda"))
                addresses[at] = keep[-1].data_ptr()
        launches = []
        for function, grid, block, shared, buffers in self.steps:
            table = torch.tensor([addresses[b] for b in buffers], dtype=torch.int64, device="cuda")
            values = [ctypes.c_void_p(t.data_ptr()) for t in (table, table, self.status)]
            pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(v) for v in values))
            launches.append((function, grid, block, shared, pointers))
            keep += [table, values]

        def call():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            for function, grid, block, shared, pointers in launches:
                self.driver("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, shared, stream, pointers, None)

        call.outputs, call.keep = outputs, keep
        return call
