# ===- test_names.py - Steps have the names of the user's modules -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import fnmatch
import os
import re

import helpers
import luminal
import luminal._artifact
import pytest
import torch
from torch import nn


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 16), nn.Linear(24, 20)
        self.cells = nn.ModuleList([nn.LSTMCell(16, 24), nn.LSTMCell(24, 24)])

    def forward(self, ids):
        states = [(torch.zeros(ids.shape[0], 24),) * 2 for _ in self.cells]
        for step in range(3):
            x = self.embed(ids[:, step])
            for layer, cell in enumerate(self.cells):
                states[layer] = cell(x, states[layer])
                x = states[layer][0]
        return self.head(x)


class Convolution(nn.Module):
    """A graph convolution: the mean of the neighbours."""

    def __init__(self, width, out):
        super().__init__()
        self.own, self.near = nn.Linear(width, out), nn.Linear(width, out, bias=False)

    def forward(self, x, edges):
        source, target = edges
        sums = torch.zeros_like(x).index_add(0, target, x[source])
        counts = torch.zeros(x.shape[0]).index_add(0, target, torch.ones(source.shape[0]))
        return self.own(x) + self.near(sums / counts.clamp(min=1).unsqueeze(1))


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(8, 16), Convolution(16, 4)

    def forward(self, x, edges):
        return self.second(self.first(x, edges).relu(), edges).log_softmax(-1)


def transformer(kind, inputs=None, **config):
    import transformers
    model = getattr(transformers, kind)
    return model(model.config_class(**config)).eval(), (), inputs or {"input_ids": torch.randint(3, 96, (2, 8))}


TEXT = {"vocab_size": 96, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "use_cache": False}
IMAGE = {"pixel_values": torch.randn(1, 3, 32, 32)}
DECODER = ["model", "model.embed_tokens", "model.layers.[01]", "model.layers.[01*].*layernorm", "model.layers.[01*].self_attn",
           "model.layers.[01].self_attn.?_proj", "lm_head"]
# Models, with the modules for which their steps must be named: each step is named for some of these only, and each of
# these occurs.
MODELS = {
    "llama": (lambda: transformer("LlamaForCausalLM", **TEXT), [*DECODER, "model.layers.[01].mlp", "model.layers.[01].mlp.*"]),
    "vit": (lambda: transformer("ViTForImageClassification", IMAGE, image_size=32, patch_size=8, hidden_size=32,
                                intermediate_size=64, num_hidden_layers=2, num_attention_heads=4),
            ["vit.embeddings", "vit.embeddings.patch_embeddings.projection", "vit.layers.[01]", "vit.layers.[01].layernorm_*",
             "vit.layers.[01].attention", "vit.layers.[01].attention.?_proj", "vit.layers.[01].mlp.*", "vit.layernorm", "classifier"]),
    "moe": (lambda: transformer("MixtralForCausalLM", **TEXT, num_local_experts=4, experts_implementation="batched_mm"),
            [*DECODER, "model.layers.[01].mlp.gate", "model.layers.[01].mlp.experts", "model.norm"]),
    "resnet": (lambda: transformer("ResNetForImageClassification", IMAGE, embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1],
                                   layer_type="basic", num_labels=4),
               ["resnet.embedder.embedder.*", "resnet.*pooler", "resnet.encoder.stages.[01].layers.0.layer.[01].*",
                "resnet.encoder.stages.0.layers.0.activation", "resnet.encoder.stages.1.layers.0.shortcut.*",
                "classifier.[01]"]),
    "lstm": (lambda: (LSTM(), (torch.randint(0, 20, (2, 3)),), {}), ["cells.0", "cells.1", "embed", "head"]),
    "gnn": (lambda: (GNN(), (torch.randn(6, 8), torch.randint(0, 6, (2, 12))), {}),
            ["first", "first.own", "first.near", "second", "second.own", "second.near", "GNN"]),
}
# Modules that have their own steps on some machines and are fused into others' steps on the rest, depending on caches.
MAY = ["model.layers.[01].mlp.experts.act_fn", "resnet.encoder.stages.1.layers.0.activation"]


def paths_of(name):
    """The modules for which a step is named, as patterns, and its kind."""
    found = re.fullmatch(r"(.*) \(([^()]+)\)", name)
    assert found is not None, name
    paths = []
    for group in found[1].split("; "):
        prefix, _, rests = group.partition(": ")
        paths += [f"{prefix}.{rest}" for rest in rests.split(", ")] if rests else prefix.split(", ")
    return [path for path in paths if not path.endswith("...")], found[2]


def check(names, model, expected):
    modules = [path for path, _ in model.named_modules() if path] + [type(model).__name__]
    told = []
    for name in names:
        paths, _ = paths_of(name)
        assert paths, name
        for path in paths:
            assert fnmatch.filter(modules, path), f"'{name}' names no module '{path}'"
            assert any(fnmatch.fnmatchcase(path, pattern) for pattern in [*expected, *MAY]), f"'{name}' is of '{path}'"
        told += paths
    for path in expected:
        assert fnmatch.filter(told, path), f"no step is of '{path}': {told}"


@pytest.fixture
def loaded(monkeypatch):
    """The artifacts in the order of loading."""
    artifacts = []
    from_bytes = luminal._artifact.Artifact.from_bytes

    def load(data, device=0):
        artifacts.append(from_bytes(data, device))
        return artifacts[-1]

    monkeypatch.setattr(luminal._artifact.Artifact, "from_bytes", staticmethod(load))
    return artifacts


def steps_of(artifact):
    lib, names = luminal._capi.library(), []
    with artifact.profiled() as handle:
        for index in range(lib.luminal_profile_count(handle)):
            info = luminal._capi.StepInfo(struct_size=ctypes.sizeof(luminal._capi.StepInfo))
            luminal._capi.check(lib.luminal_profile_step(handle, index, ctypes.byref(info)))
            names.append(info.name.decode())
    return names


@pytest.mark.parametrize("name", MODELS)
def test_steps_are_the_users_modules(name, loaded):
    make, expected = MODELS[name]
    model, args, kwargs = make()
    with torch.no_grad():
        exported = luminal.compile(model, args, kwargs)
        check([step.name for step in exported.profile().steps], model, expected)
        check([step["name"] for step in exported.report.data["program"]], model, expected)
        loaded.clear()
        compiled = helpers.compile(model, fullgraph=True)
        compiled(*args, **kwargs)
        assert len(loaded) == 1
        check(steps_of(loaded[0]), model, expected)


class Net(nn.Module):
    def __init__(self, *names):
        super().__init__()
        for name in names:
            setattr(self, name, nn.Linear(8, 8))
        self.names = names

    def forward(self, x):
        for name in self.names:
            x = getattr(self, name)(x)
        return x


def test_equal_graphs_share_an_artifact_and_keep_their_names(loaded, tmp_path, monkeypatch):
    monkeypatch.setenv("LUMINAL_CACHE", str(tmp_path / "cache"))
    x = torch.randn(4, 8)
    for names in (("encode", "decode"), ("first", "second")):
        model = Net(*names).eval()
        with torch.no_grad():
            compiled = helpers.compile(model)
            helpers.same(compiled(x), model(x))
            check(steps_of(loaded[-1]), model, names)
    assert len(os.listdir(tmp_path / "cache")) == 1


def test_sources_are_the_users_lines():
    """Sources are lines of the user's code, not of PyTorch's modules."""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention, self.norm = nn.MultiheadAttention(16, 2, batch_first=True), nn.LayerNorm(16)

        def forward(self, x):
            return self.norm(self.attention(x, x, x, need_weights=False)[0])

    model, x = Model().eval(), torch.randn(2, 8, 16)
    with torch.no_grad():
        reports = luminal.compile(model, (x,)).report, luminal.explain(model)(x).graphs[0].parts[0]
    line = Model.forward.__code__.co_firstlineno + 1
    for report in reports:
        assert {step.source for step in report.program} == {f"test_names.py:{line}:0"}


def test_saved_artifacts_have_the_names(tmp_path):
    model, x = Net("encode", "decode").eval(), torch.randn(4, 8)
    luminal.compile(model, (x,)).save(tmp_path / "m.lum")
    check([step.name for step in luminal.load(tmp_path / "m.lum").profile(None, (x,)).steps], model, ["encode", "decode"])


def test_functions_are_named(loaded):
    def area(x):
        return (x * x).sum(-1)

    assert {step.name.split(" (")[0] for step in luminal.compile(area, (torch.randn(4, 8),)).profile().steps} == {"area"}


def test_breaks_and_explanations(loaded):
    class Broken(Net):
        def forward(self, x):
            x = self.encode(x)
            torch._dynamo.graph_break()
            return self.decode(x) + 1

    model, x = Broken("encode", "decode").eval(), torch.randn(4, 8)
    with torch.no_grad():
        graphs = luminal.explain(model)(x).graphs
        compiled = helpers.compile(model)
        helpers.same(compiled(x), model(x))
    parts = [part for graph in graphs for part in graph.parts]
    assert len(parts) == len(loaded) - len(parts) == 2
    for names in ([step.name for part in parts for step in part.program], [n for a in loaded[-2:] for n in steps_of(a)]):
        check(names, model, ["encode", "decode", "Broken"])
