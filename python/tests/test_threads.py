# ===- test_threads.py - Many threads, many calls --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import random
import resource
import subprocess
import sys
import threading

import conftest
import helpers
import luminal
import pytest
import torch
from torch import nn


def run_threads(work, count=8):
    errors = []

    def run(index):
        try:
            work(index)
        except BaseException as error:  # a thread has nobody to raise to
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def test_one_model_of_torch_compile():
    module = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16))
    compiled = helpers.compile(module, dynamic=True)
    inputs = [torch.randn(n, 16) for n in (2, 3, 5, 8)]
    with torch.no_grad():
        expected = [compiled(x) for x in inputs]

    def work(index):
        with torch.no_grad():
            for i in range(300):
                k = (i + index) % len(inputs)
                assert torch.equal(compiled(inputs[k].clone()), expected[k])

    run_threads(work)


def test_one_artifact():
    batch = torch.export.Dim("batch", max=64)
    compiled = luminal.compile(nn.Linear(16, 8), (torch.randn(4, 16),), dynamic_shapes=({0: batch},))
    inputs = [torch.randn(n, 16) for n in (1, 2, 30, 64)]
    with torch.no_grad():
        expected = [compiled(x) for x in inputs]

    def work(index):
        with torch.no_grad():
            for i in range(1250):
                k = (i + index) % len(inputs)
                assert torch.equal(compiled(inputs[k]), expected[k])

    run_threads(work)


def test_states_of_one_artifact(tmp_path):
    """Calls that share states wait for each other, so no update is lost."""
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            return x + self.calls

    path = tmp_path / "counter.lum"
    luminal.compile(Counter(), (torch.zeros(3),)).save(path)
    loaded, seen, x = luminal.load(path), [], torch.zeros(3)
    run_threads(lambda _: seen.extend(float(loaded(x)[0][0]) for _ in range(100)))
    assert sorted(seen) == list(range(1, 801))


def test_no_growth():
    compiled = helpers.compile(nn.Linear(64, 64), dynamic=True)
    with torch.no_grad():
        def calls(count):
            for i in range(count):
                compiled(torch.randn(1 + i % 100, 64))

        calls(1000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        calls(10000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024  # KiB


def memory_in_use(device):
    """Peak memory of this process and memory in use on the device, in KiB."""
    of_device = 0
    if device == "cuda":
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        of_device = (total - free) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, of_device


@pytest.mark.parametrize("form", ["torch", "luminal"])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))])
def test_sizes_at_random_in_eight_threads(form, device):
    """10,000 calls, each with another size than the one before, on tensors that are freed at once; memory does not grow.
    """
    module = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16)).eval().to(device)
    samples = torch.randn(200, 16, device=device)
    # Each thread has its own stream: memory of one stream's tensors is reused on another only after the calls that read
    # it.
    streams = [torch.cuda.Stream() if device == "cuda" else None for _ in range(8)]
    if form == "torch":
        compiled = helpers.compile(module, dynamic=True)
    else:
        batch = torch.export.Dim("batch", max=200)
        compiled = luminal.compile(module, (samples[:4],), dynamic_shapes=({0: batch},))
    with torch.no_grad():
        expected = module(samples)

        def work(index, count):
            chosen = random.Random(1250 * index + count)
            with torch.no_grad(), torch.cuda.stream(streams[index]):
                for i in range(count):
                    first = chosen.randrange(0, 196)
                    last = chosen.randrange(first + 2, 200)
                    result = compiled(samples[first:last].clone())
                    if i % 10 == 0:
                        torch.testing.assert_close(result, expected[first:last], rtol=1e-4, atol=1e-5)

        compiled(samples[:3].clone())
        memory_in_use(device)
        run_threads(lambda index: work(index, 250))
        before = memory_in_use(device)
        run_threads(lambda index: work(index, 1250))
    grown = [now - then for now, then in zip(memory_in_use(device), before)]
    assert max(grown) < 16 * 1024, grown


OWN_THREADS = """
import os, torch, luminal
torch.set_num_threads(2)
x, w = torch.randn(512, 512), torch.randn(512, 512)
model = luminal.compile(lambda x: (x @ w).relu(), (x,))
torch.relu(torch.randn(1 << 22))  # starts PyTorch's threads
before = len(os.listdir("/proc/self/task"))
for _ in range(3):
    torch.testing.assert_close(model(x), (x @ w).relu(), rtol=1e-3, atol=1e-3)
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not torch.backends.openmp.is_available(), reason="PyTorch has no OpenMP")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
@pytest.mark.parametrize("openmp, own", [("", 0), ("0", 1)])
def test_whose_threads(openmp, own):
    """Calls use PyTorch's OpenMP threads, or start their own."""
    environment = {**conftest.environment(), "LUMINAL_OPENMP": openmp}
    environment.pop("OMP_NUM_THREADS", None)
    done = subprocess.run([sys.executable, "-c", OWN_THREADS], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(own), done.stderr
