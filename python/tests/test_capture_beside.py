# ===- test_capture_beside.py - Captures while other streams and threads work ===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import threading

import helpers
import luminal
import pytest
import torch
from test_capture import Block

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def test_streams_and_threads_beside_a_capture():
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    compiled, other = helpers.compile(model), Block(128).cuda()
    compiled(x)
    stream, stop, errors = torch.cuda.Stream(), threading.Event(), []
    torch.cuda.synchronize()

    def work():
        # Compiles, loads, allocates and frees.
        try:
            n = 1
            with torch.no_grad(), torch.cuda.stream(stream):
                while not stop.is_set() or n < 3:
                    n += 1
                    value = torch.ones(n, 128)
                    model_of = luminal.compile(lambda x, n=n: x * n, (value,), cache=False)
                    assert model_of(value)[0, 0] == n
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    ready = luminal.compile(other, (torch.randn(4, 128, device="cuda"),))
    z = torch.randn(4, 128, device="cuda")
    ready(z)
    thread.start()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = compiled(x)
    stop.set()
    thread.join()
    assert not errors
    graph.replay()
    helpers.same(y, model(x))
    helpers.same(ready(z), other(z))


def test_a_capture_beside_a_running_stream():
    """The same callable is called on a busy stream that is not captured, before and after its call in the graph."""
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    compiled, side = helpers.compile(model), torch.cuda.Stream()
    compiled(x)
    others, results = [torch.randn(8, 64, device="cuda") for _ in range(4)], []
    expected = [model(other) for other in others]

    def call_aside():
        with torch.cuda.stream(side):
            results.extend([compiled(other) for other in others])

    torch.cuda.synchronize()
    call_aside()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # Enqueue it here, because beginning a capture waits for the device.
        with torch.cuda.stream(side):
            torch.cuda._sleep(1_000_000_000)
        call_aside()
        y = compiled(x)
        call_aside()
    assert not side.query()  # nothing has waited for it
    x.copy_(torch.randn_like(x))
    graph.replay()
    helpers.same(y, model(x))
    side.synchronize()
    helpers.same(results, expected * 3)


def weights_of(compiled, model):
    """The addresses of the weights in the order of the artifact."""
    given = {"p_" + name.replace(".", "_"): weight.data_ptr() for name, weight in model.named_parameters()}
    return [given[t.name] for t in compiled.artifact.weights]


def test_a_capture_beside_a_thread_that_allocates():
    """Another thread makes calls with ever larger sizes, so contexts, memory between steps and tables grow on the device.
    """
    model, x = Block().cuda(), torch.randn(8, 64, device="cuda")
    batch = torch.export.Dim("batch", min=2, max=4096)
    compiled = luminal.compile(model, (x,), dynamic_shapes=({0: batch},))
    compiled(x)
    rows, stream, errors = torch.randn(4096, 64, device="cuda"), torch.cuda.Stream(), []
    # Allocate here: allocations by another thread would end a capture.
    out, expected = torch.empty_like(rows), model(rows)
    weights = weights_of(compiled, model)
    torch.cuda.synchronize()
    begun, done = threading.Event(), threading.Event()

    def work():
        try:
            begun.wait()
            artifact = compiled.artifact
            for n in range(256, 4097, 256):
                artifact.call([rows.data_ptr(), *weights], [out.data_ptr()], artifact.shapes((n, 64)), 1, stream.cuda_stream)
        except Exception as error:
            errors.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=work)
    thread.start()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        begun.set()
        first = compiled(x)
        done.wait()
        second = compiled(first)
    thread.join()
    assert not errors
    graph.replay()
    helpers.same(second, model(model(x)))
    torch.cuda.synchronize()
    helpers.same(out, expected)


def test_another_thread_calls_while_one_captures():
    """The other thread's call creates a context with its own memory and graph."""
    model = Block().cuda()
    x, z = torch.randn(8, 64, device="cuda"), torch.randn(8, 64, device="cuda")
    compiled = luminal.compile(model, (x,))
    compiled(x)
    # Allocate here: allocations by another thread would end a capture.
    out, expected, errors = torch.empty_like(z), model(z), []
    begun, done = threading.Event(), threading.Event()
    stream = torch.cuda.Stream()

    def work():
        try:
            begun.wait()
            with torch.no_grad(), torch.cuda.stream(stream):
                artifact = compiled.artifact
                artifact.call([z.data_ptr(), *weights], [out.data_ptr()], artifact.shapes((8, 64)), 1,
                              stream.cuda_stream)
        except Exception as error:
            errors.append(error)
        finally:
            done.set()

    weights = weights_of(compiled, model)
    thread = threading.Thread(target=work)
    thread.start()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        begun.set()
        done.wait()
        y = compiled(x)
    thread.join()
    assert not errors
    graph.replay()
    helpers.same(y, model(x))
    torch.cuda.synchronize()
    helpers.same(out, expected)
