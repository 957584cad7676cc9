# ===- test_profile.py - The time of each step --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import subprocess
import sys

import conftest
import helpers
import luminal
import numpy
import pytest
import torch
from torch import nn


def events(path):
    return [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 8), nn.Softmax(-1)).eval()


def test_profile(model, tmp_path):
    x = torch.randn(16, 64)
    compiled = luminal.compile(model, (x,))
    expected = compiled(x)
    profile = compiled.profile(tmp_path / "trace.json")
    assert len(profile.steps) == compiled.report.steps and profile.calls == 1
    called, once = ({step.kernel for step in steps} for steps in (compiled.report.program, compiled.report.prepare))
    assert {step.kernel for step in profile.steps} == called
    assert called | once == {kernel.name for kernel in compiled.report.kernels}
    assert sum(step.share for step in profile.steps) == pytest.approx(1)
    assert profile.ms == pytest.approx(sum(step.ms for step in profile.steps)) and min(s.ms for s in profile.steps) > 0
    # Both products; weights, input and output are moved at least once.
    assert sum(step.flops for step in profile.steps) >= 16 * (64 * 128 + 128 * 8)
    assert sum(step.bytes for step in profile.steps) >= 4 * (16 * 64 + 64 * 128 + 128 + 128 * 8 + 8 + 16 * 8)
    trace = events(tmp_path / "trace.json")
    assert [event["name"] for event in trace] == [step.name for step in profile.steps]
    assert [event["dur"] / 1e3 for event in trace] == pytest.approx([step.ms for step in profile.steps], abs=1e-6)
    # The next call is not profiled, and is correct.
    assert torch.equal(compiled(x), expected)
    assert len(events(tmp_path / "trace.json")) == len(profile.steps)


def test_several_calls_on_other_inputs(model, tmp_path):
    rows = torch.export.Dim("rows", max=64)
    compiled = luminal.compile(model, (torch.randn(4, 64),), dynamic_shapes=({0: rows},))
    once, more = compiled.profile(), compiled.profile(tmp_path / "trace.json", (torch.randn(40, 64),), calls=3)
    assert more.calls == 3 and len(events(tmp_path / "trace.json")) == 3 * len(more.steps)
    assert sum(s.flops for s in more.steps) == pytest.approx(10 * sum(s.flops for s in once.steps), rel=0.1)
    with pytest.raises(luminal.ArgumentError, match="calls is 0"):
        compiled.profile(calls=0)
    with pytest.raises(luminal.ShapeError):
        compiled.profile(None, (torch.randn(100, 64),))
    with pytest.raises(OSError):
        compiled.profile(tmp_path / "no folder" / "trace.json")


def test_variants(model):
    rows = torch.export.Dim("rows", max=64)
    compiled = luminal.compile(model, (torch.randn(4, 64),), dynamic_shapes=({0: rows},), variants=("rows=1",))
    one, many = compiled.profile(None, (torch.randn(1, 64),)), compiled.profile(None, (torch.randn(8, 64),))
    for profile in one, many:
        assert profile.steps and profile.ms > 0 and sum(step.share for step in profile.steps) == pytest.approx(1)
    assert {step.kernel for step in one.steps} != {step.kernel for step in many.steps}


def test_sample_inputs_stay_as_they_were():
    given = torch.ones(4)
    compiled = luminal.compile(lambda x: x.add_(1) * 2, (given,))
    compiled.profile()
    compiled.profile()
    assert torch.equal(given, torch.ones(4))


def test_tables(model):
    profile = luminal.compile(model, (torch.randn(16, 64),)).profile()
    for text in (str(profile), repr(profile)):
        assert all(step.name in text and step.kernel in text for step in profile.steps)
        assert text.splitlines()[0].startswith(f"{len(profile.steps)} step{'s' if len(profile.steps) > 1 else ''}, {profile.ms:.4f} ms")
    table = helpers.Page(profile._repr_html_())
    assert len(table.all("tr")) == len(profile.steps) + 1 == len(table.all("div")) + 1


def test_loaded_artifact_without_torch(model, tmp_path):
    x = torch.randn(16, 64)
    luminal.compile(model, (x,)).save(tmp_path / "m.lum")
    numpy.save(tmp_path / "x.npy", x.numpy())
    code = """
import numpy, luminal, sys
model = luminal.load("m.lum")
profile = model.profile("trace.json", (numpy.load("x.npy"),), calls=2)
print(profile)
assert "torch" not in sys.modules
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=conftest.environment(), cwd=tmp_path)
    assert out.returncode == 0, out.stderr
    assert "(mean of 2 calls)" in out.stdout and len(events(tmp_path / "trace.json")) % 2 == 0
    out = subprocess.run([sys.executable, "-m", "luminal", "run", "m.lum", "--input", "x.npy", "--profile", "again.json"],
                         capture_output=True, text=True, env=conftest.environment(), cwd=tmp_path)
    assert out.returncode == 0 and "MFLOP" in out.stdout, out.stderr
    assert len(events(tmp_path / "again.json")) * 2 == len(events(tmp_path / "trace.json"))


def ranges(profiled, steps):
    """The names of the profiler's ranges that are steps, in order."""
    names = {step.name for step in steps}
    found = sorted((event.time_range.start, event.name) for event in profiled.events() if event.is_user_annotation)
    return [name for _, name in found if name in names]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 2048), nn.Linear(2048, 1024)

    def forward(self, x):
        return self.second(self.first(x).relu()).softmax(-1)


def test_steps_are_ranges_of_torchs_profiler():
    model, x = Net().eval(), torch.randn(256, 64)
    compiled, by_dynamo = luminal.compile(model, (x,)), torch.compile(model, backend=luminal._backend.backend)
    steps = compiled.profile().steps
    assert len(steps) > 1 and any(step.name.startswith("first") for step in steps)
    with torch.no_grad():
        expected = by_dynamo(x)
        for function in compiled, by_dynamo:
            for _ in range(2):  # the second call of a size takes another path through the library
                function(x)
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
                assert torch.equal(function(x), expected)
                function(x)
            assert ranges(profiled, steps) == 2 * [step.name for step in steps]
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
            pass
        by_dynamo(x)
        assert not ranges(profiled, steps)


def test_ranges_end_where_a_step_fails():
    table = torch.randn(4, 3)
    compiled = luminal.compile(lambda i: table[i] * 2, (torch.tensor([1, 2]),))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
        with pytest.raises(luminal.CallError):
            compiled(torch.tensor([1, 9]))
        with torch.profiler.record_function("after"):
            compiled(torch.tensor([1, 2]))
    found = {event.name: event for event in profiled.events() if event.is_user_annotation}
    inner = [event for event in profiled.events() if event.is_user_annotation and event.cpu_parent is found["after"]]
    assert len(inner) == compiled.report.steps


def test_step_by_step(model, capfd):
    x = torch.randn(16, 64)
    compiled = luminal.compile(model, (x,))
    steps, bits = [], x.numpy().tobytes()

    def note(step):
        operands = [buffer.read() for buffer in step.operands]
        steps.append((step.index, step.is_done, bits in operands, step.results[-1].tensor(torch.float32)))

    expected = compiled(x)
    assert torch.equal(compiled.debug((x,), on_step=note), expected)
    assert [step[:2] for step in steps] == [(i, done) for i in range(compiled.report.steps) for done in (False, True)]
    # The first step reads the input, and the last one computes the output.
    assert any(step[2] for step in steps) and torch.equal(steps[-1][3], expected.flatten())
    compiled.debug()
    text = capfd.readouterr().out
    assert text.count("done, checksums") == compiled.report.steps and f"reads {len(bits)} bytes" in text


def test_what_looks_at_a_step_may_end_the_call():
    def model(x):
        return x.sort().values.cumsum(0)  # several steps on any machine

    x = torch.randn(64, 32)
    compiled, seen = luminal.compile(model, (x,)), []

    def look(step):
        seen.append(step)
        if step.is_done:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        compiled.debug((x,), on_step=look)
    assert [step.is_done for step in seen] == [False, True] and compiled.report.steps > 1
    helpers.same(compiled(x), model(x))
