# ===- backends.py - What runs a step ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eager PyTorch, torch.compile in its modes, and Luminal: each is started (compiled, and called once), warmed, and then does
rounds: a prompt, and tokens one after the other."""
import tempfile
import time

import torch

import names
import static_step


WARM_ROUNDS, WARM_STEPS = 2, 3
PAGE = 16  # tokens
PROFILED = 20  # calls


def make(row, model, step, work):
    if row["backend"] == "engine":
        return Engine(row, model, work)
    if row["backend"] in names.BY_ONNX:
        import by_onnx
        return by_onnx.Onnx(row, step, work)
    return Static(row, step, work)


def compile_options(row):
    # What was compiled or measured before is not taken: this is a measurement of it.
    return {"search_budget": float(row["budget"]), "seed": row["seed"], "cache": False, "plan_cache": tempfile.mkdtemp()}


def make_callable(row, module, args):
    """Of one shape."""
    if row["backend"] == "eager":
        return module
    if row["backend"] in names.MODES:
        mode = None if row["backend"] == "default" else row["backend"]
        return torch.compile(module, mode=mode, dynamic=False)
    import luminal

    return luminal.compile(module, args, **compile_options(row))


def count_launches(call):
    """Kernels of one call that ran on the GPU."""
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    on_device = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    kernels = [e for e in on_device if not getattr(e, "is_user_annotation", False) and not e.name.startswith(("Memcpy", "Memset"))]
    return len(kernels) or None


class Static:
    """With the static cache of ``static_step``."""

    def __init__(self, row, step, work):
        self.row, self.step, self.work, self.batch = row, step, work, row["batch"]
        self.compiles = row["backend"] != "eager"
        self._graphs = row["backend"] in ("reduce-overhead", "max-autotune") and row["device"] != "cpu"

    def _begin(self):
        if self._graphs:  # the outputs of the last call are not needed any more
            torch.compiler.cudagraph_mark_step_begin()

    def start(self, meter):
        """Seconds until the first call of each of both shapes is done."""
        began = time.perf_counter()
        self.prefill = make_callable(self.row, self.step, self.work.first)
        self._begin()
        self.prefill(*self.work.first)
        self.decode = make_callable(self.row, self.step, self.work.later[0])
        self._begin()
        self.decode(*self.work.later[0])
        meter.wait()
        return time.perf_counter() - began

    def warm(self):
        for _ in range(WARM_ROUNDS):
            self._first()
            for later in self.work.later[:WARM_STEPS]:
                self._next(later)

    def _first(self):
        self._begin()
        return self.prefill(*self.work.first)[0]

    def _next(self, later):
        self._begin()
        return self.decode(*later)[0]

    def logits(self, count):
        found = [self._first().clone()]
        return found + [self._next(later).clone() for later in self.work.later[:count]]

    def round(self, meter):
        first = meter.times([self._first])
        return first, meter.times([lambda later=later: self._next(later) for later in self.work.later])

    def launches(self):
        later = self.work.later[0]
        if self.row["device"] != "cpu":
            return count_launches(lambda: self._next(later))
        return len(self.profile().steps) if self.row["backend"] == "luminal" else None

    def profile(self):
        """Of our steps of a token; None for other backends."""
        return self.decode.profile(args=self.work.later[0], calls=PROFILED) if self.row["backend"] == "luminal" else None


class Engine:
    """What ``luminal generate`` runs: a cache of pages, and tokens that it chose itself."""

    def __init__(self, row, model, work):
        self.row, self.model, self.work, self.batch, self.compiles = row, model, work, row["batch"], True

    def start(self, meter):
        from luminal.llm import _engine, _pages, _scheduler
        began = time.perf_counter()
        count = self.row["cache"] // PAGE * self.batch
        chunk = min(256, self.work.prompt)
        with static_step.kept_attention(self.model):
            steps = _pages.Steps(self.model, count, PAGE, self.row["cache"], chunk, self.batch, **compile_options(self.row))
        self.engine = _engine.Engine(steps, _scheduler.Scheduler(count, PAGE, self.batch, chunk), frozenset())
        self.text = _engine.Text
        self._write(2)
        meter.wait()
        return time.perf_counter() - began

    def _write(self, count):
        """When each token was there, of each text."""
        began, prompt = time.perf_counter(), self.work.prompt
        texts = [self.text(list(row[:prompt]), prompt + count) for row in self.work.rows]
        for text in texts:
            self.engine.add(text)
        times = [[] for _ in texts]
        for _ in range(count):
            for text, at in zip(texts, times):
                at.append(1e3 * (self.engine.take(text)[1] - began))
        return times

    def warm(self):
        self._write(1 + WARM_STEPS)

    def round(self, meter):
        times = self._write(1 + self.work.count)
        first = max(at[0] for at in times)
        marks = sorted({at for of_text in times for at in of_text if at >= first})
        return [first], [after - before for before, after in zip(marks, marks[1:])]

    def logits(self, count):
        prompt, chunk = self.work.prompt, self.engine.scheduler.chunk
        own = self.row["cache"] // PAGE
        pages = [list(range(i * own, (i + 1) * own)) for i in range(self.batch)]
        firsts = []
        for row, table in zip(self.work.rows, pages):
            for begin in range(0, prompt, chunk):
                logits = self._run([row[begin:min(begin + chunk, prompt)]], [begin], [table])
            firsts.append(logits)
        return [torch.cat(firsts)] + [self._run([row[i:i + 1] for row in self.work.rows], [i] * self.batch, pages)
                                      for i in range(prompt, prompt + count)]

    def _inputs(self, ids, begins, pages):
        from luminal.llm import _transfers
        steps = self.engine.steps
        return tuple(_transfers.upload([ids, *steps.rows(begins, len(ids[0]), pages)], steps.device))

    def _run(self, ids, begins, pages):
        return self.engine.steps.run(*self._inputs(ids, begins, pages))[0].clone()

    def _token(self):
        """What a step of the token after the prompt is given, of each text."""
        own, at = self.row["cache"] // PAGE, self.work.prompt
        return self._inputs([row[at:at + 1] for row in self.work.rows], [at] * self.batch,
                            [list(range(i * own, i * own + at // PAGE + 1)) for i in range(self.batch)])

    def launches(self):
        inputs = self._token()
        if self.row["device"] != "cpu":
            return count_launches(lambda: self.engine.steps.run(*inputs))
        return len(self.profile().steps)

    def profile(self):
        return self.engine.steps.compiled.profile(args=self._token(), calls=PROFILED)


class Call:
    """A module whose call is a step."""

    def __init__(self, row, module, args):
        self.row, self.module, self.args, self.batch = row, module, args, 1
        self.compiles = row["backend"] != "eager"
        if row["backend"] in ("engine", *names.BY_ONNX):
            raise ValueError("this backend runs language models only")

    def start(self, meter):
        began = time.perf_counter()
        self.function = make_callable(self.row, self.module, self.args)
        self.call()
        meter.wait()
        return time.perf_counter() - began

    def call(self):
        return self.function(*self.args)

    def round(self, meter):
        """As many calls as fit into a fifth of a second."""
        for _ in range(WARM_STEPS):
            self.call()
        least = min(meter.times([self.call] * 3))
        return [], meter.times([self.call] * max(5, min(2000, int(200 / max(least, 0.01)))))

    def launches(self):
        if self.row["device"] != "cpu":
            return count_launches(self.call)
        return len(self.profile().steps) if self.row["backend"] == "luminal" else None

    def profile(self):
        return self.function.profile(args=self.args, calls=PROFILED) if self.row["backend"] == "luminal" else None
