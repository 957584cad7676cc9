# ===- test_modules.py - Modules beside eager, at several sizes ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy

import helpers
import luminal._versions
import pytest
import torch
from torch import nn


def image(n, size=16, channels=3):
    return (torch.randn(n, channels, size, size),)


def rows(n, width=8):
    return (torch.randn(n, width),)


MODULES = {
    "mlp": (lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)), rows),
    "cnn": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Flatten(), nn.Linear(512, 10)), image),
    "channels_last": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU()).to(
        memory_format=torch.channels_last), lambda n: (image(n)[0].to(memory_format=torch.channels_last),)),
    "attention": (lambda: nn.MultiheadAttention(16, 4, batch_first=True), lambda n: (torch.randn(n, 5, 16),) * 3),
    "decoder": (lambda: nn.TransformerDecoderLayer(16, 4, 32, batch_first=True),
                lambda n: (torch.randn(n, 5, 16), torch.randn(n, 3, 16))),
    "embedding": (lambda: nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 8)), lambda n: (torch.randint(0, 20, (n, 3)),)),
    "bag": (lambda: nn.EmbeddingBag(20, 8), lambda n: (torch.randint(0, 20, (n, 3)),)),
    "group_norm": (lambda: nn.GroupNorm(2, 8), lambda n: (torch.randn(n, 8, 5),)),
    "rms_norm": (lambda: nn.RMSNorm(8), rows),
    "transposed": (lambda: nn.ConvTranspose2d(3, 4, 3, stride=2), lambda n: image(n, 5)),
    "pooling": (lambda: nn.AdaptiveAvgPool2d(2), lambda n: image(n, 6)),
    "shuffle": (lambda: nn.PixelShuffle(2), lambda n: image(n, 5, 4)),
    "loss": (lambda: nn.CrossEntropyLoss(), lambda n: (torch.randn(n, 4), torch.randint(0, 4, (n,)))),
    "unfold": (lambda: nn.Unfold(3), lambda n: image(n, 6, 4)),
}


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    if name == "attention" and not luminal._versions.GUARDS_WEIGHTS:
        pytest.skip("before torch 2.13 its compiled form has other strides than eager, whatever the backend")
    make, inputs = MODULES[name]
    module = make().eval()
    compiled = helpers.compile(copy.deepcopy(module))
    with torch.no_grad():
        for n in (2, 5, 3, 1):
            given = inputs(n)
            helpers.same(compiled(*given), module(*given))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_float_type(dtype):
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(dtype)
    x = torch.randn(3, 8, dtype=dtype)
    with torch.no_grad():
        helpers.same(helpers.compile(copy.deepcopy(module))(x), module(x))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8, torch.bool])
def test_integer_type(dtype):
    def function(a, b):
        return a + b, a * b, a == b, torch.where(a > b, a, b), (a.to(torch.float32) / 3).to(dtype)

    a, b = (torch.randint(0, 2 if dtype == torch.bool else 7, (4, 5)).to(dtype) for _ in range(2))
    helpers.same(helpers.compile(function)(a, b), function(a, b))


def test_one_compile_for_all_batches(compiles):
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    compiled = helpers.compile(module, dynamic=True)
    with torch.no_grad():
        for n in (2, 3, 17, 64):
            x = torch.randn(n, 8)
            helpers.same(compiled(x), module(x))
    assert len(compiles) == 1


def test_marked_range(compiles):
    compiled = helpers.compile(lambda x: x.softmax(-1))
    for n in (2, 9, 64):
        x = torch.randn(3, n)
        torch._dynamo.mark_dynamic(x, 1, min=2, max=64)
        helpers.same(compiled(x), x.softmax(-1))
    assert len(compiles) == 1


def test_autocast_and_inference_mode():
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    compiled, x = helpers.compile(copy.deepcopy(module)), torch.randn(3, 8)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        helpers.same(compiled(x), module(x))
    with torch.inference_mode():
        helpers.same(compiled(x), module(x))


def test_training_mode_statistics():
    module = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8)).train()
    compiled = copy.deepcopy(module)
    run = helpers.compile(compiled)
    with torch.no_grad():
        x = torch.randn(4, 6)
        for _ in range(3):
            helpers.same(run(x), module(x))
    helpers.same(dict(compiled.state_dict()), dict(module.state_dict()))


def test_training_mode_statistics_in_half_precision(compiles):
    """PyTorch declares the new running statistics of this op as f32, but returns them in their own type when it runs the
    op itself."""
    def function(x, weight, bias, mean, variance):
        return torch.ops.aten._batch_norm_with_update(x, weight, bias, mean, variance, 0.1, 1e-5)[0]

    x, affine = torch.randn(6, 3, 5).bfloat16(), [torch.randn(3).bfloat16(), torch.randn(3).bfloat16()]
    running = [torch.randn(3).bfloat16(), torch.rand(3).bfloat16()]
    expected = [t.clone() for t in running]
    with torch.no_grad():
        helpers.same(helpers.compile(function)(x, *affine, *running), function(x, *affine, *expected))
    helpers.same(running, expected)
    assert compiles


def test_copies_of_a_compiled_module():
    module = nn.Linear(4, 4).eval()
    compiled, x = helpers.compile(module), torch.randn(2, 4)
    with torch.no_grad():
        compiled(x)
        twin = copy.deepcopy(compiled)
        module.weight.zero_()
        helpers.same(compiled(x), module(x))
        assert not torch.equal(twin(x), compiled(x))


def test_sums_of_sizes(compiles):
    """torch.export represents a sum of more than two sizes by an op that archives do not support."""
    def function(x):
        return x[:, : sum(x.shape) - 5] * 2

    compiled = helpers.compile(function, dynamic=True)
    for n, m in ((3, 17), (7, 22)):
        x = torch.randn(n, m, 4)
        helpers.same(compiled(x), function(x))
    assert len(compiles) == 1


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("strided", [False, True])
def test_views_of_inputs(dynamic, strided):
    """Results that are views of an argument have its memory and strides, beside a computed result."""
    def function(x):
        return *torch.hsplit(x, [1, 2, 3]), x.transpose(0, 2)[1:], x.view_as(x), x[:, x.shape[0] - 2], x.flatten() * 2

    compiled = helpers.compile(function, dynamic=dynamic)
    with torch.no_grad():
        for n in (5, 6):
            x = torch.randn(n, n + 1, n).transpose(0, 2) if strided else torch.randn(n, n + 1, n)
            for got, expected in zip(compiled(x), function(x), strict=True):
                helpers.same(got, expected)
                assert got.stride() == expected.stride()
                assert (got.data_ptr() == expected.data_ptr()) == (expected._base is not None)
