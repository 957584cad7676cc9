# ===- measure.py - Measures rows in a process of its own ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Child of the suite: takes a job as JSON on standard input, and appends figures as JSON, one object a line, to a file as it has
them, so that what was measured before a crash is not lost.

All rows of a job are of one model and one shape of work; with more than one, their backends take turns in each round.
"""
import gc
import hashlib
import json
import pathlib
import resource
import sys
import tempfile
import time
import traceback
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "python"), str(ROOT / "utils/testing")]
warnings.filterwarnings("ignore")

import torch
import transformers

import backends
import catalog
import names
import reference
import static_step

ERROR_STEPS = 4  # whose logits are compared, after those of the prompt


class Meter:
    """What takes time and memory, on the device of a row."""

    def __init__(self, device):
        self.is_gpu, self.most, self.at_start = device != "cpu", 0, 0
        if self.is_gpu:
            torch.zeros(1, device=device)
            self.at_start = self._used()

    def _used(self):
        free, total = torch.cuda.mem_get_info()
        return total - free

    def look(self):
        """Memory of the device is looked at between the parts of a measurement."""
        if self.is_gpu:
            self.most = max(self.most, self._used() - self.at_start)

    def wait(self):
        if self.is_gpu:
            torch.cuda.synchronize()

    def times(self, calls):
        """Milliseconds of each call; on a GPU they follow each other without a wait of the host."""
        if not self.is_gpu:
            marks = [time.perf_counter()]
            for call in calls:
                call()
                marks.append(time.perf_counter())
            return [1e3 * (after - before) for before, after in zip(marks, marks[1:])]
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(calls) + 1)]
        torch.cuda.synchronize()
        events[0].record()
        for call, event in zip(calls, events[1:]):
            call()
            event.record()
        torch.cuda.synchronize()
        return [before.elapsed_time(after) for before, after in zip(events, events[1:])]

    def memory(self):
        figures = {"host_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        return {**figures, "device_bytes": self.most} if self.is_gpu else figures


class Sink:
    """Where figures go."""

    def __init__(self, path):
        self.path = path

    def put(self, index, **figures):
        with open(self.path, "a") as file:
            file.write(json.dumps({"row": index, **figures}) + "\n")

    def fail(self, index, error):
        traceback.print_exception(error)
        text = " ".join(str(getattr(error, "inner_exception", None) or error).split())
        self.put(index, failure=f"{type(error).__name__}: {text[:300]}")


class Work:
    """The tokens of all rows: a prompt and what follows it, which are the same for all backends, not what each of them finds
    likeliest, so that all do the same work."""

    def __init__(self, row, vocabulary):
        generator = torch.Generator().manual_seed(row["seed"])
        self.prompt, self.count = row["prompt"], row["tokens"]
        every = torch.randint(vocabulary, (row["batch"], self.prompt + self.count), generator=generator)
        self.rows = every.tolist()
        every, positions = every.to(row["device"]), torch.arange(self.prompt + self.count, device=row["device"])
        self.first = every[:, :self.prompt].contiguous(), positions[:self.prompt].clone()
        self.later = [(every[:, i:i + 1].contiguous(), positions[i:i + 1].clone()) for i in range(self.prompt, self.prompt + self.count)]


def time_rounds(prepared, sink, meter, rounds):
    """``prepared``: by row a backend that is warm. Each round begins with another one."""
    firsts, steps = {i: [] for i in prepared}, {i: [] for i in prepared}
    for turn in range(rounds):
        order = list(prepared)
        for index in order[turn % len(order):] + order[:turn % len(order)]:
            first, later = prepared[index].round(meter)
            firsts[index] += first
            steps[index].append(later)
    for index in prepared:
        every = [ms for later in steps[index] for ms in later]
        rates = [1e3 * len(later) / sum(later) for later in steps[index] if later]
        figures = {"ttft_ms": median(firsts[index])} if firsts[index] else {}
        sink.put(index, **figures, step_ms=median(every), step_p99_ms=quantile(every, 0.99),
                 tokens_per_second=prepared[index].batch * median(rates), samples={"ttft_ms": firsts[index], "step_ms": steps[index]})


def median(values):
    return quantile(values, 0.5)


def quantile(values, share):
    return float(torch.tensor(values, dtype=torch.float64).quantile(share))


def language(job, sink):
    rows = job["rows"]
    row = rows[0]
    meter, dtype = Meter(row["device"]), getattr(torch, row["dtype"])
    began = time.perf_counter()
    if row["checkpoint"]:
        model = catalog.read_model(row["checkpoint"], row["layers"], dtype, row["device"])
    else:
        model = catalog.make_model(row["model"], row["layers"], dtype, row["device"], row["seed"])
    meter.wait()
    loaded = time.perf_counter() - began
    config = model.config.get_text_config()
    about = {"load_seconds": loaded, "parameters": sum(p.numel() for p in model.parameters()), "all_layers": config.num_hidden_layers,
             "step_bytes": catalog.step_bytes(model)}
    work = Work(row, config.vocab_size)
    step = static_step.Step(model, row["batch"], row["cache"])
    for index in range(len(rows)):
        sink.put(index, **about)
    exact = find_reference(job, row, step, work)
    prepared = {}
    for index, each in enumerate(rows):
        try:
            prepared[index] = backends.make(each, model, step, work)
            seconds = prepared[index].start(meter)
            sink.put(index, compile_seconds=seconds if prepared[index].compiles else None)
            meter.look()
            if exact is not None:
                sink.put(index, logits_error=reference.distance(prepared[index].logits(len(exact["logits"]) - 1), exact["logits"]),
                         reference=exact["dtype"])
            prepared[index].warm()
        except Exception as error:  # whatever a backend raises is its row's answer
            sink.fail(index, error)
            prepared.pop(index, None)
    if not prepared:
        return
    gc.collect()
    gc.disable()
    time_rounds(prepared, sink, meter, job["rounds"])
    meter.look()
    for index, backend in prepared.items():
        # Memory of backends in turns is that of all.
        sink.put(index, **(meter.memory() if len(rows) == 1 else {}))
        look_inside(job, sink, index, backend)


def look_inside(job, sink, index, backend):
    try:
        sink.put(index, launches=backend.launches())
        if job["profile"] and (found := backend.profile()) is not None:
            print(f"{job['rows'][index]['backend']}, a token: {found}", flush=True)
    except Exception as error:  # the figures are there without it
        sink.put(index, note=f"launches were not counted: {type(error).__name__}: {error}"[:200])


def find_reference(job, row, step, work):
    """The logits of the model in float64, or what is left of that in memory; None where there are none."""
    if not job["references"]:
        return None
    names = ("model", "layers", "checkpoint", "dtype", "device", "seed", "batch", "prompt", "tokens", "cache")
    text = json.dumps([{name: row[name] for name in names}, torch.__version__, transformers.__version__], sort_keys=True)
    path = pathlib.Path(job["references"]) / (hashlib.sha256(text.encode()).hexdigest()[:24] + ".pt")
    if path.is_file():
        return torch.load(path)
    found = reference.compute(step, work, min(ERROR_STEPS, work.count))
    gc.collect()
    if row["device"] != "cpu":
        torch.cuda.empty_cache()  # or its memory would be that of the backend
    if found is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            torch.save(found, file)
        pathlib.Path(file.name).replace(path)
    return found


def recommendation(job, sink):
    """A call of a model over tables of embeddings; a step is a call."""
    import float64
    import models

    rows = job["rows"]
    row, meter = rows[0], Meter(rows[0]["device"])
    batch, tables = map(int, row["model"].removeprefix("dlrm-").split("x"))
    torch.manual_seed(row["seed"])
    case = models.recommendation(tables=tables, rows=100_000, batch=batch)
    model = case.model.eval().requires_grad_(False)
    exact = float64.call(float64.copy_of(model), float64.widened(case.args))
    model, args = model.to(row["device"]), tuple(arg.to(row["device"]) for arg in case.args)
    prepared = {}
    for index, each in enumerate(rows):
        try:
            prepared[index] = backends.Call(each, model, args)
            seconds = prepared[index].start(meter)
            sink.put(index, compile_seconds=seconds if prepared[index].compiles else None, reference="float64",
                     logits_error=reference.distance([prepared[index].call()], [exact]))
        except Exception as error:  # as above
            sink.fail(index, error)
            prepared.pop(index, None)
    if prepared:
        gc.disable()
        time_rounds(prepared, sink, meter, job["rounds"])
        for index, backend in prepared.items():
            sink.put(index, **(meter.memory() if len(rows) == 1 else {}))
            look_inside(job, sink, index, backend)


def main():
    job = json.load(sys.stdin)
    row = job["rows"][0]
    torch.set_grad_enabled(False)
    if row["threads"]:
        torch.set_num_threads(row["threads"])
    if row["device"] != "cpu" and not torch.cuda.is_available():
        raise SystemExit(f"device {row['device']}: PyTorch finds no GPU")
    sink = Sink(job["out"])
    (recommendation if row["model"] in names.DLRM else language)(job, sink)
    sink.put(0, done=True)


if __name__ == "__main__":
    main()
