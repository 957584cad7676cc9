# ===- test_cuda.py - Tensors on a GPU ------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Without a GPU, graphs of fake tensors are compiled as far as machine code."""
import gc
import io
import os
import threading
import zipfile

import helpers
import luminal
import luminal._cache
import luminal._devices
import luminal._graph
import numpy
import pytest
import torch
from luminal._backend import backend
from luminal._options import Options
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

has_gpu = torch.cuda.is_available()
gpu = pytest.mark.skipif(not has_gpu, reason="no GPU")


def test_a_gpu_is_used_where_there_is_one():
    """The tests below may be skipped only if there is no GPU."""
    assert has_gpu or not os.path.exists("/dev/nvidia0")


def program_of(function, *shapes, devices=()):
    with FakeTensorMode():
        devices = devices or ["cuda"] * len(shapes)
        graph = make_fx(function)(*(torch.empty(shape, device=d) for shape, d in zip(shapes, devices)))
    return luminal._graph.make_program(graph)


def test_graph_on_a_gpu_is_compiled_for_it():
    def function(x, w, b):
        y = nn.functional.linear(x, w, b).relu()
        return y.softmax(-1), y.sum().cpu(), torch.arange(4, device=x.device) + 1

    program = program_of(function, (8, 16), (4, 16), (4,))
    cuda = torch.device("cuda", 0)
    assert program.place.at == cuda and program.devices == [cuda, torch.device("cpu"), cuda]
    data = luminal._cache.compile_archive(program.archive, Options(cache=False), Options(arch="sm_90a").texts("cuda"))
    with zipfile.ZipFile(io.BytesIO(data)) as artifact:
        assert b".target sm_90a" in artifact.read("device.ptx")


def batch_norm(x, mean, variance):
    """Batch normalisation in an inference graph: the saved statistics are empty on the CPU and the statistics used on a
    GPU."""
    return torch.ops.aten._native_batch_norm_legit_no_training(x, None, None, mean, variance, 0.1, 1e-5)


def test_batch_norm_of_inference_is_compiled_for_a_gpu():
    program = program_of(batch_norm, (2, 3, 4), (3,), (3,))
    assert luminal._cache.compile_archive(program.archive, Options(cache=False), Options(arch="sm_90a").texts("cuda"))


@gpu
def test_batch_norm_of_inference_gives_its_statistics():
    inputs = torch.randn(2, 3, 4, device="cuda"), torch.randn(3, device="cuda"), torch.rand(3, device="cuda") + 0.5
    torch.testing.assert_close(torch.compile(batch_norm, backend=backend)(*inputs), batch_norm(*inputs))


def test_one_gpu_and_the_host_make_one_program():
    program = program_of(lambda x, scale: x * scale, (8, 16), (), devices=("cuda", "cpu"))
    assert program.place.at.type == "cuda"
    assert program_of(lambda x: x + 1, (3,), devices=("cpu",)).place.at.type == "cpu"
    with pytest.raises(luminal.DeviceError, match="runs on one of them"):
        luminal._devices.find([torch.device("cuda", 0), torch.device("cpu"), torch.device("cuda", 1)])
    with pytest.raises(luminal.DeviceError, match="meta"):
        luminal._devices.find([torch.device("meta")])


def test_target_of_an_artifact(tmp_path):
    compiled = luminal.compile(torch.sin, (torch.randn(3),))
    assert compiled.artifact.target == "cpu"


class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.out, self.mlp = nn.Linear(width, width), nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, s, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, s, w))
        return x + self.mlp(x)


@gpu
# The last shapes have more blocks than there are multiprocessors, so some blocks handle keys that others skip; for the
# very last one, some warps copy for the others.
@pytest.mark.parametrize("shape", [(2, 3, 512, 64), (1, 2, 200, 128), (1, 2, 130, 80), (8, 8, 512, 64), (3, 16, 1300, 128)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("window", [None, 100])
@torch.no_grad()
def test_zero_times_what_a_mask_holds_back(shape, dtype, window):
    """A weight of 0 times a non-finite value is NaN in all rows, even where thread blocks skip masked keys."""
    n = shape[2]
    at = torch.arange(n, device="cuda")
    mask = at[None] <= at[:, None]
    if window:
        mask &= at[None] > at[:, None] - window

    def attention(q, k, v):
        return torch.softmax((q @ k.mT * 0.125).masked_fill(~mask, -torch.inf), -1) @ v

    compiled = helpers.compile(attention)
    q, k, v = (torch.randn(shape, device="cuda", dtype=dtype) for _ in range(3))
    expected = attention(q, k, v)
    helpers.same(compiled(q, k, v), expected)
    for where, number in ((0, torch.nan), (n // 2, -torch.inf), (n - 1, torch.inf)):
        bad = v.clone()
        bad[-1, 1, where, 5] = number
        got = compiled(q, k, bad)
        column = torch.zeros(shape, dtype=torch.bool, device="cuda")
        column[-1, 1, :, 5] = True
        assert not got[column].isfinite().any()
        assert torch.equal(got[~column], compiled(q, k, v)[~column])


@gpu
@pytest.mark.parametrize("width, rows, keys, isCausal", [(128, 640, 1300, False), (128, 1300, 1300, True), (96, 640, 1024, False),
                                                         (64, 2048, 1600, False), (64, 2700, 2700, True)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@torch.no_grad()
def test_warps_that_copy_for_others(width, rows, keys, isCausal, dtype):
    """Many rows and keys, including a partial last chunk."""
    q, k, v = (torch.randn(3, 16, n, width, device="cuda", dtype=dtype) for n in (rows, keys, keys))

    def attention(q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=isCausal)

    call = helpers.compile(attention)
    for _ in range(3):
        got = call(q, k, v)
    for text, head in ((0, 0), (1, 7), (2, 15)):
        exact = attention(*(x[text, head][None].double() for x in (q, k, v)))
        error = (got[text, head].double() - exact).abs().max()
        assert error <= 1.5 * (attention(q, k, v)[text, head].double() - exact).abs().max() + 1e-6


@gpu
@pytest.mark.parametrize("keys", [193, 256, 300])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("isFactored", [False, True])
@torch.no_grad()
def test_keys_end_within_a_chunk(keys, dtype, isFactored):
    """All scores are far below 0, the score that stands for keys beyond the end."""
    q, k, v = (torch.randn(2, 3, n, 64, device="cuda", dtype=dtype) for n in (260, keys, keys))
    q[..., 0], k[..., 0] = -16, 16

    def attention(q, k, v):
        scores = q.float() @ k.float().mT
        return torch.softmax(scores * 0.125 if isFactored else scores, -1).to(dtype) @ v

    exact = torch.softmax(q.double() @ k.double().mT * (0.125 if isFactored else 1), -1) @ v.double()
    error = (helpers.compile(attention)(q, k, v).double() - exact).abs().max()
    assert error <= 1.5 * (attention(q, k, v).double() - exact).abs().max() + 1e-6


@gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@torch.no_grad()
def test_model(dtype):
    model = Block().cuda().to(dtype).eval()
    compiled = helpers.compile(model, dynamic=True)
    for batch, length in ((2, 16), (1, 5), (3, 33)):
        x = torch.randn(batch, length, 64, device="cuda", dtype=dtype)
        # PyTorch uses TF32 only on request.
        helpers.same(compiled(x), model(x))
    for parameter in model.parameters():
        parameter.mul_(0.5)
    helpers.same(compiled(x), model(x))


@gpu
def test_inputs_and_buffers_are_written_in_place():
    def function(x, y, rows):
        x.add_(1)
        y[:, ::2] += 2
        y.index_copy_(0, rows, x[:2])
        return x * y, x[1:], y.sum().cpu()

    compiled = helpers.compile(function)
    ours = [torch.randn(4, 6, device="cuda"), torch.randn(6, 4, device="cuda").t()]
    theirs = [t.clone() for t in ours]
    rows = torch.tensor([3, 1], device="cuda")
    for _ in range(3):
        helpers.same(compiled(*ours, rows), function(*theirs, rows))
        helpers.same(ours, theirs)


@gpu
def test_calls_are_work_of_the_current_stream():
    compiled = helpers.compile(lambda x, w: (x @ w).relu())
    x, w = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")
    expected = (x * 2 @ w).relu()
    compiled(x, w)
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in range(3)]
    for number, stream in enumerate(streams * 4):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            late = torch.zeros_like(x)
            torch.cuda._sleep(20_000_000)
            late.copy_(x * 2)
            y = compiled(late, w)
            # The call returned before the work that it waits for was done. At first each stream has other memory, for
            # which library calls are captured again.
            assert number < len(streams) or not stream.query()
            z = y + 0
        torch.cuda.current_stream().wait_stream(stream)
        torch.testing.assert_close(z, expected, rtol=1e-4, atol=1e-3)
        torch.cuda.synchronize()


@gpu
def test_many_calls_in_flight():
    compiled = helpers.compile(lambda x: (x * 2 + 1).sum(-1))
    inputs = [torch.full((64, 64), float(i), device="cuda") for i in range(200)]
    results = [compiled(x) for x in inputs]
    assert [r[0].item() for r in results] == [64 * (2 * i + 1) for i in range(200)]


@gpu
def test_threads_with_streams():
    compiled = helpers.compile(lambda x: (x.softmax(-1) * x).sum(-1))
    inputs = [torch.randn(128, 512, device="cuda") for _ in range(4)]
    expected = [compiled(x) for x in inputs]
    torch.cuda.synchronize()
    wrong = []

    def call(index):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(100):
                result = compiled(inputs[index])
                torch.cuda.current_stream().synchronize()
                if not torch.equal(result, expected[index]):
                    wrong.append(index)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@gpu
def test_index_out_of_range_is_told_later():
    compiled = luminal.compile(lambda x, i: x[i], (torch.randn(4, 8, device="cuda"), torch.tensor([1], device="cuda")))
    x = torch.randn(4, 8, device="cuda")
    compiled(x, torch.tensor([9], device="cuda"))
    with pytest.raises(luminal.CallError, match="out of range"):
        compiled.artifact.synchronize()
    helpers.same(compiled(x, torch.tensor([2], device="cuda")), x[[2]])


@gpu
def test_saved_artifact(tmp_path):
    model = Block().cuda().eval()
    x = torch.randn(2, 16, 64, device="cuda")
    with torch.no_grad():
        expected = model(x)
        compiled = luminal.compile(model, (x,))
        helpers.same(compiled(x), expected)
    compiled.save(tmp_path / "model.lum")
    loaded = luminal.load(tmp_path / "model.lum")
    helpers.same(loaded(x)[0], expected)
    # With inputs and outputs on the host.
    numpy.testing.assert_allclose(loaded(x.cpu().numpy())[0], expected.cpu().numpy(), rtol=1e-4, atol=1e-4)


@gpu
def test_memory_does_not_grow():
    model = helpers.compile(Block().cuda().eval())
    x = torch.randn(2, 16, 64, device="cuda")
    with torch.no_grad():
        for _ in range(10):
            model(x)
        torch.cuda.synchronize()
        before = torch.cuda.mem_get_info()[0]
        for _ in range(2000):
            model(x)
        torch.cuda.synchronize()
    assert before - torch.cuda.mem_get_info()[0] < 4 << 20


@gpu
@pytest.mark.parametrize("name", ["llama", "mixtral", "gpt_oss", "gemma4"])
def test_a_language_model_writes_what_it_writes_on_the_host(name, tmp_path):
    import tiny_checkpoint
    from luminal import llm
    tiny_checkpoint.write(tmp_path, name)
    gc.collect()  # frees the model of the previous test
    host, device = (llm.LLM(tmp_path, chunk=8, batch=4, page=4, pages=40, cache_length=96, device=at) for at in ("cpu", "cuda"))
    assert device._engine.lag == 1 and not host._engine.lag
    assert device.device_memory() > host.device_memory() == 0
    prompts = [[4 + i] * (1 + 5 * i) for i in range(6)]
    how = [llm.Sampling(), llm.Sampling(temperature=0.5, seed=1), llm.Sampling(repetition_penalty=2.0)] * 2
    want = [host.generate(ids, max_tokens=40, sampling=s).tokens for ids, s in zip(prompts, how)]
    streams = [device.stream(ids, max_tokens=40, sampling=s) for ids, s in zip(prompts, how)]
    for _ in range(40):
        for stream in streams:
            next(stream, None)
    for stream in streams:
        for _ in stream:
            pass
    assert [stream.completion.tokens for stream in streams] == want


@gpu
@pytest.mark.parametrize("shape,size", [((1, 8, 9), 5), ((3, 8, 8), 5), ((1, 3, 10), 3)])
def test_windows_of_unequal_lengths(shape, size):
    x = torch.randn(shape, device="cuda")
    pool = nn.functional.adaptive_avg_pool1d
    torch.testing.assert_close(helpers.compile(lambda x: pool(x, size))(x), pool(x, size))


@gpu
def test_histogram_of_integers():
    x = torch.randint(-3, 12, (1000,), device="cuda")

    def function(x):
        return torch.histc(x, 8, 0, 7), torch.histc(x.int(), 5, -2, 9), torch.histc(x, 3, -1, 1)

    helpers.same(torch.compile(function, backend=backend, fullgraph=True)(x), function(x))


def test_histogram_of_integers_is_compiled_for_a_gpu():
    program = program_of(lambda x: torch.histc(x.int(), 8, 0, 7), (50,))
    assert luminal._cache.compile_archive(program.archive, Options(cache=False), Options(arch="sm_90a").texts("cuda"))


@gpu
@pytest.mark.parametrize("rows", [3, 40, 700])
def test_grouped_products(rows):
    """Groups may have any number of rows, including an empty first and last group."""
    generator = torch.Generator("cuda").manual_seed(rows)
    x, w = (torch.randn(*shape, device="cuda", generator=generator).bfloat16() for shape in ((rows, 128), (6, 256, 128)))
    function = torch.compile(lambda x, w, ends: torch._grouped_mm(x, w.mT, offs=ends), backend=backend, fullgraph=True)
    for cuts in ([0, 0.1, 0.5, 0.5, 1, 1], [1] * 6, [0] * 5 + [1], [0.2, 0.4, 0.6, 0.8, 0.9, 1]):
        ends = torch.tensor([int(rows * cut) for cut in cuts], dtype=torch.int32, device="cuda")
        torch.testing.assert_close(function(x, w, ends), torch._grouped_mm(x, w.mT, offs=ends))


def sums_of_rows(x, i):
    """Sums of adjacent columns and of rows that are looked up: each thread computes several."""
    return x.sum(0), x.amax(0), x[i].sum(1), x.view(8, -1, x.shape[1]).sum(0)


@pytest.mark.parametrize("columns", [1000, 1001, 4096])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
@gpu
def test_sums_of_many_columns(columns, dtype):
    generator = torch.Generator("cuda").manual_seed(columns)
    x = torch.randint(-8, 9, (4096, columns), device="cuda", generator=generator).to(dtype)
    i = torch.randint(0, 4096, (2000, 7), device="cuda", generator=generator)
    helpers.same(torch.compile(sums_of_rows, backend=backend, fullgraph=True)(x, i), sums_of_rows(x, i))


def test_sums_of_many_columns_are_compiled_for_a_gpu():
    program = program_of(lambda x: x.view(8, -1, 4096).sum(0), (32768, 4096))
    data = luminal._cache.compile_archive(program.archive, Options(cache=False), Options(arch="sm_90a").texts("cuda"))
    with zipfile.ZipFile(io.BytesIO(data)) as artifact:
        assert b"ld.global.nc.v4" in artifact.read("device.ptx")
