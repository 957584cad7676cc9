#!/usr/bin/env python3
# ===- benchmark.py - Luminal beside its peers on the CPU -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times workloads through PyTorch eager, Inductor, ONNX Runtime, OpenVINO and Luminal, in one process.

    build/venv/bin/python -m pip install -r utils/requirements-benchmark.txt
    build/venv/bin/python utils/bench/benchmark.py [NAME...]

The forms of a workload take turns, round by round; the number printed is the median over the rounds of each round's
fastest call, in milliseconds. There is a row for every workload: a peer that refuses one shows its error below it.
Luminal is called through its C interface, with the caller's memory bound. Every form's outputs are compared with
PyTorch eager's. Then: seconds to compile llama beside torch.compile's first call, the compiler's peak memory, and
milliseconds to load, bind and run the artifact once.

A machine that has PyTorch but no compiler measures artifacts that were made elsewhere:

    build/venv/bin/python utils/bench/benchmark.py --prepare=DIR --arch=sapphirerapids gemm_1024         (here)
    python utils/bench/benchmark.py --artifacts=DIR --forms=eager --threads=1,2 gemm_1024                (there: utils/, python/ and DIR)

Exit code 1 where Luminal fails, is wrong, or is slower than --ratio times the best peer.
"""
import argparse
import ctypes
import importlib.metadata
import importlib.util
import json
import logging
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "utils/testing"))

import luminal_c
import models
import timing  # Lies beside this file.

PEERS = ("eager", "inductor", "onnxruntime", "openvino")


class Refused(Exception):
    pass


# --- The forms: each takes a workload and returns a call without arguments that gives a list of tensors -----------------


class Workload:
    def __init__(self, name, args):
        self.name, self.case = name, models.make(name)
        self.folder = args.models / name
        self.bin = args.bin
        self.arch = args.arch
        self.artifacts = args.artifacts
        self._onnx = None

    def archive(self):
        subprocess.run([sys.executable, ROOT / "utils/testing/export_models.py", self.folder.parent, self.name], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self.folder / "model.pt2"

    def artifact(self):
        """An artifact, and the path of its weights: None for one from another machine, which embeds them."""
        if self.artifacts:
            return self.artifacts / f"{self.name}.lum", None
        archive, artifact = self.archive(), self.folder / "model.lum"
        self.compile(archive, artifact)
        return artifact, archive

    def compile(self, archive, artifact, *options):
        subprocess.run([self.bin / "luminal-compile", archive, "-o", artifact, "--target=cpu", f"--arch={self.arch}",
                        "--quiet", *options], check=True, capture_output=True, text=True)

    def onnx(self):
        if self._onnx is None:
            self._onnx = tempfile.TemporaryDirectory()
            path = os.path.join(self._onnx.name, "model.onnx")
            torch.onnx.export(self.case.model, self.case.args, path, dynamo=True, verbose=False)
        return os.path.join(self._onnx.name, "model.onnx")


def eager(work):
    return lambda: work.case.model(*work.case.args)


def inductor(work):
    torch._dynamo.reset()
    compiled = torch.compile(work.case.model)
    return lambda: compiled(*work.case.args)


def onnxruntime(work):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 4
    session = ort.InferenceSession(work.onnx(), options, providers=["CPUExecutionProvider"])
    feed = {i.name: a.numpy() for i, a in zip(session.get_inputs(), work.case.args)}
    return lambda: [torch.from_numpy(o) for o in session.run(None, feed)]


def openvino(work):
    import openvino as ov

    core = ov.Core()
    compiled = core.compile_model(core.read_model(work.onnx()), "CPU", {
        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": torch.get_num_threads()})
    request = compiled.create_infer_request()
    for i, a in enumerate(work.case.args):
        request.set_input_tensor(i, ov.Tensor(a.numpy(), shared_memory=True))

    def call():
        request.infer()
        return request

    call.outputs = lambda: [torch.from_numpy(request.get_output_tensor(i).data) for i in range(len(compiled.outputs))]
    return call


def luminal(work):
    artifact, weights = work.artifact()
    program = luminal_c.Program(artifact, weights=weights, threads=torch.get_num_threads())
    program.bind(work.case.args)
    call = lambda: program.run()
    call.outputs = lambda: program.outputs
    return call


FORMS = {"eager": eager, "inductor": inductor, "onnxruntime": onnxruntime, "openvino": openvino, "luminal": luminal}


def outputs_of(call):
    result = call()
    if hasattr(call, "outputs"):
        result = call.outputs()
    return [result] if isinstance(result, torch.Tensor) else list(result)


def reason(error):
    text = getattr(error, "stderr", None) or str(error)
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1].strip()[:160]}" if lines else type(error).__name__


def prepare(work, names):
    """Calls that work, and for the others the reasons. Every call has run once, so that it is compiled and warm."""
    calls, errors = {}, {}
    expected = outputs_of(eager(work))
    for name in names:
        try:
            call = FORMS[name](work)
            for got, want in zip(outputs_of(call), expected, strict=True):
                torch.testing.assert_close(got.reshape(want.shape), want, rtol=1e-3, atol=1e-3)
            calls[name] = call
        except Exception as e:  # A peer's own refusal may be of any type.
            errors[name] = reason(e)
    return calls, errors


def cell(row, name):
    return f"{row['ms'][name]:11.4f}" if name in row["ms"] else f"{'refuses':>11s}"


def time_workload(work, peers, args):
    """One row: medians over the rounds of each round's fastest call, and the ratio of the fastest calls of all rounds."""
    calls, errors = prepare(work, [*peers, "luminal"])
    minima = {name: [1e3 * t for t in times]
              for name, times in timing.fastest_by_round(calls, args.rounds, args.seconds).items()}
    row = {"workload": work.name, "threads": torch.get_num_threads(), "errors": errors, "ratio": None, "fastest": None,
           "ms": {name: statistics.median(values) for name, values in minima.items()}, "rounds": minima}
    others = [p for p in peers if p in minima]
    if "luminal" in minima and others:
        row["ratio"] = row["ms"]["luminal"] / min(row["ms"][p] for p in others)
        row["fastest"] = min(minima["luminal"]) / min(min(minima[p]) for p in others)
    return row


def time_workloads(args):
    peers = [p for p in PEERS if p in args.forms]
    rows = []
    for threads in args.threads:
        torch.set_num_threads(threads)
        print(f"{f'threads {threads}':20s}" + "".join(f"{n:>12s}" for n in [*peers, "luminal"]) +
              f"{'luminal/best':>14s}{'of fastest':>12s}")
        for name in args.names or models.WORKLOADS:
            row = time_workload(Workload(name, args), peers, args)
            rows.append(row)
            print(f"{name:20s}" + "".join(" " + cell(row, n) for n in [*peers, "luminal"]) +
                  (f"{row['ratio']:14.3f}{row['fastest']:12.3f}" if row["ratio"] else f"{'-':>14s}{'-':>12s}"), flush=True)
            for form, error in row["errors"].items():
                print(f"    {form}: {error}", flush=True)
    return rows


# --- Measuring on a machine without a compiler ----------------------------------------------------------------------------


def libraries_of(library):
    """The shared libraries that a library depends on and that not every machine has, dependencies first."""
    common = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libstdc++.", "libgcc_s.", "ld-linux", "linux-vdso")
    lines = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout.splitlines()
    found = [line.split() for line in lines if "=>" in line]
    return [pathlib.Path(f[2]) for f in reversed(found) if not f[0].startswith(common)]


def prepare_artifacts(args):
    """Artifacts with their weights, and the runtime with its libraries, for `--artifacts` on another machine."""
    args.prepare.mkdir(parents=True, exist_ok=True)
    needed = libraries_of(args.library)
    for path in [*needed, args.library]:
        shutil.copy(path, args.prepare / path.name)
    (args.prepare / "libraries").write_text("".join(f"{path.name}\n" for path in needed))
    for name in args.names or models.WORKLOADS:
        work = Workload(name, args)
        work.compile(work.archive(), args.prepare / f"{name}.lum", "--embed-weights")


def use_artifacts(args):
    """The runtime beside the artifacts. Dependencies are loaded first, so that the loader finds them."""
    for name in (args.artifacts / "libraries").read_text().split():
        ctypes.CDLL(str(args.artifacts / name), mode=ctypes.RTLD_GLOBAL)
    args.library = args.artifacts / args.library.name


# --- Compile time -------------------------------------------------------------------------------------------------------


# Linux includes a process's memory before exec in its peak, so a small process starts the child.
MEASURE = """
import resource, subprocess, sys, time
started = time.perf_counter()
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
seconds = time.perf_counter() - started
print(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, status)
"""


def timed_child(command):
    """Seconds, peak memory in MB and exit code of a command."""
    out = subprocess.run([sys.executable, "-S", "-c", MEASURE, *map(str, command)], check=True, capture_output=True,
                         text=True).stdout.split()
    return float(out[0]), float(out[1]), int(out[2])


def time_compile(args):
    """Compile time and memory of llama, and the first run of its artifact, beside torch.compile's first call."""
    work = Workload("llama", args)
    archive, artifact = work.archive(), work.folder / "model.lum"
    # A child with empty caches: torch.compile's first call, as users see it.
    code = ("import sys, time; sys.path.insert(0, sys.argv[1]); import torch, models; c = models.make('llama');\n"
            "torch.set_grad_enabled(False); f = torch.compile(c.model); t = time.perf_counter(); f(*c.args);"
            "print(time.perf_counter() - t)")
    ours, theirs, memory = [], [], 0
    for _ in range(args.compile_rounds):
        seconds, peak, status = timed_child([args.bin / "luminal-compile", archive, "-o", artifact, "--target=cpu",
                                             "--search-budget=0", "--quiet"])
        if status:
            print("luminal-compile llama: failed")
            return {"failed": True}
        ours.append(seconds)
        memory = max(memory, peak)
        with tempfile.TemporaryDirectory() as cache:
            out = subprocess.run([sys.executable, "-c", code, ROOT / "utils/testing"], check=True, capture_output=True, text=True,
                                 env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": cache})
        theirs.append(float(out.stdout))
    started = time.perf_counter()
    program = luminal_c.Program(artifact, weights=archive, threads=torch.get_num_threads())
    program.bind(work.case.args)
    program.run()
    first = (time.perf_counter() - started) * 1e3
    result = {"luminal_s": min(ours), "torch_compile_s": min(theirs), "peak_mb": memory, "first_run_ms": first}
    print(f"\nllama: luminal-compile {min(ours):.2f} s (peak {memory:.0f} MB), torch.compile's first call "
          f"{min(theirs):.1f} s, a factor of {min(theirs) / min(ours):.1f}; load, bind and first run {first:.1f} ms")
    result["failed"] = min(ours) > min(theirs) / 5 or memory > 400 or first > 50
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="workloads (default: all, and the compile time)")
    parser.add_argument("--ratio", type=float, default=2.0, help="fail above this multiple of the best peer (2)")
    parser.add_argument("--forms", type=lambda t: t.split(","), default=PEERS, help="peers to run, comma separated")
    parser.add_argument("--threads", type=lambda t: [int(n) for n in t.split(",")], default=[torch.get_num_threads()],
                        help="numbers of threads, comma separated; each is measured")
    parser.add_argument("--arch", default="native", help="processor to compile for")
    parser.add_argument("--prepare", type=pathlib.Path, metavar="DIR", help="only write what --artifacts reads")
    parser.add_argument("--artifacts", type=pathlib.Path, metavar="DIR", help="measure what --prepare wrote")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each form of a workload, over all rounds")
    parser.add_argument("--compile-rounds", type=int, default=2)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the tools")
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "build/release/lib/libluminal-runtime.so")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models", help="where archives are kept")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures there")
    args = parser.parse_args()
    unknown = set(args.names) - set(models.WORKLOADS)
    if unknown:
        parser.error(f"no workload {', '.join(sorted(unknown))}; there are {', '.join(models.WORKLOADS)}")
    unknown = set(args.forms) - set(PEERS)
    if unknown:
        parser.error(f"no form {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    torch.set_grad_enabled(False)
    logging.disable(logging.WARNING)  # The ONNX exporter logs too much.
    if args.prepare:
        return prepare_artifacts(args)
    if args.artifacts:
        use_artifacts(args)
    luminal_c.use(args.library)

    # eager and inductor are PyTorch.
    packages = ["torch", *(p for p in ("onnxruntime", "openvino") if p in args.forms)]
    versions = {p: importlib.metadata.version(p) for p in packages if importlib.util.find_spec(p)}
    print(", ".join(f"{p} {v}" for p, v in versions.items()), flush=True)
    rows = time_workloads(args)
    compile_time = {} if args.names or args.artifacts else time_compile(args)
    if args.json:
        args.json.write_text(json.dumps({"rows": rows, "compile": compile_time, "versions": versions}, indent=1) + "\n")
    missed = [f"{r['workload']} ({r['threads']} threads)" for r in rows if r["ratio"] is None or r["ratio"] > args.ratio]
    print(f"{len(rows) - len(missed)} of {len(rows)} workloads within {args.ratio:g} times the best peer" +
          (f"; not: {', '.join(missed)}" if missed else ""))
    return 1 if missed or compile_time.get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
