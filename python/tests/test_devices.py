# ===- test_devices.py - Devices of other packages ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""device/ is a package that registers two devices. It is installed here, as a user would do."""
import importlib.metadata
import json
import subprocess
import sys
import types

import conftest
import luminal
import luminal._bench
import luminal._devices
import pytest
import torch
from luminal.devices import Device, Executable

PROGRAM = """
import json, torch, luminal, luminal._devices, luminal._graph, counting_device
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).eval()
x = torch.randn(3, 4)
told = {"names": list(luminal._devices.registered())}
counts = counting_device.device.counts

def close(got):
    torch.testing.assert_close(got, model(x))

with torch.no_grad():
    through = torch.compile(model, backend="luminal", options={"device": "counting"})
    for _ in range(3):
        close(through(x))
    told["torch.compile"] = dict(counts)
    torch.compile(model, backend="luminal")(x)
    compiled = luminal.compile(model, (x,), device="counting")
    close(compiled(x))
    compiled.save("model.lum")
    loaded = luminal.load("model.lum", device="counting")
    close(loaded(x)[0])
    close(loaded(x.numpy())[0])
    told["arch"] = compiled.report.data["arch"]
told["all"] = dict(counts)
try:
    compiled.profile()
except luminal.DeviceError as error:
    told["profile"] = str(error)
try:
    luminal.compile(model, (x,), device="count")
except luminal.DeviceError as error:
    told["unknown"] = str(error)

# Tensors of a type that torch here has no memory for choose the device that is registered for it.
with FakeTensorMode():
    graph = make_fx(lambda x: x + 1)(torch.empty(3, device="mtia"))
place = luminal._graph.make_program(graph).place
assert place.device is counting_device.elsewhere and place.at == torch.device("mtia", 0)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a process in which the package is installed."""
    site = tmp_path_factory.mktemp("device") / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index",
                    "--target", site, conftest.ROOT / "python/tests/device"], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index",
                    "--config-settings=wheel.cmake=false", "--target", site, conftest.ROOT / "python"], check=True)
    return {**conftest.environment(), "PYTHONPATH": str(site), "LUMINAL_LIBRARY": str(luminal._capi.library()._name)}


def test_a_device_of_another_package(installed, tmp_path):
    out = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=installed, cwd=tmp_path)
    assert out.returncode == 0, out.stderr
    told = json.loads(out.stdout)
    assert told["names"] == ["cpu", "cuda", "counting", "elsewhere"]
    # One input, two weights and biases, one output; every call runs on the device's stream.
    assert told["torch.compile"] == {"loads": 1, "calls": 3, "on stream": 3, "addresses": 18}
    assert told["all"]["loads"] == 3 and told["all"]["calls"] == 6
    assert told["all"]["on stream"] == told["all"]["calls"]
    assert told["arch"] == "x86-64-v3"
    assert "does not report the times of its steps" in told["profile"]
    assert told["unknown"] == "there is no device 'count': known are cpu, cuda, counting, elsewhere"


def test_own_devices_follow_the_protocol():
    for name in ("cpu", "cuda"):
        device = luminal._devices.named(name)
        assert isinstance(device, Device) and device.type == device.target == name
    compiled = luminal.compile(lambda x: x + 1, (torch.ones(2),), device="cpu")
    assert isinstance(compiled.artifact, Executable)
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))


def register(monkeypatch, *entries, waited=None):
    def entry_points(group):
        assert group == "luminal.devices"
        return [importlib.metadata.EntryPoint(name, f"registered:{value}", group) for name, value in entries]

    waited = [] if waited is None else waited
    good = types.SimpleNamespace(type="meta", target="cpu", arch=len, describe=len, locate=len, load=len, address=len,
                                 stream=len, synchronize=waited.append)
    monkeypatch.setitem(sys.modules, "registered", types.SimpleNamespace(good=good, text="", kind=type(good)))
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    luminal._devices.registered.cache_clear()


@pytest.mark.parametrize("entries, reason", [
    ([("mine", "text")], r"device 'mine' \(registered:text\) is not a luminal.devices.Device"),
    ([("mine", "kind")], "is not a luminal.devices.Device"),
    ([("mine", "none")], r"device 'mine' \(registered:none\) cannot be imported"),
    ([("cuda", "good")], "two devices are named 'cuda'"),
    ([("mine", "good"), ("mine", "good")], "two devices are named 'mine'")])
def test_what_cannot_be_registered(monkeypatch, entries, reason):
    register(monkeypatch, *entries)
    try:
        with pytest.raises(luminal.DeviceError, match=reason):
            luminal._devices.find([torch.device("meta")])
    finally:
        luminal._devices.registered.cache_clear()


def test_tensors_of_another_type_than_the_device_asked_for(monkeypatch):
    waited = []
    register(monkeypatch, ("mine", "good"), waited=waited)
    try:
        with pytest.raises(luminal.DeviceError, match="device 'mine' runs tensors on meta"):
            luminal._devices.find([torch.device("xpu", 0)], "mine")
        assert luminal._devices.of_type("meta") is sys.modules["registered"].good
        luminal._bench._wait({"y": torch.empty(2, device="meta")})
        assert waited == [torch.device("meta")]
    finally:
        luminal._devices.registered.cache_clear()
