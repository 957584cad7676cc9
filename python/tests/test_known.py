# ===- test_known.py - Tensors that are as they were in the last call -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import sys
import weakref

import helpers
import luminal
import luminal._layout
import luminal._objects
import luminal._stored
import pytest
import torch
from luminal import _versions
from torch import nn

ROWS = torch.rand(8, 4)
CHANGES = {
    "first rows": lambda t: setattr(t, "data", ROWS[:4]),
    "last rows of the same storage": lambda t: setattr(t, "data", ROWS[4:]),
    "other memory": lambda t: setattr(t, "data", torch.rand(4, 4)),
    "transposed": lambda t: setattr(t, "data", t.data.t()),
    "transposed in place": lambda t: t.t_(),
    "memory of its own storage": lambda t: t.untyped_storage().resize_(t.untyped_storage().size() + 4096),
    "set": lambda t: t.set_(torch.rand(4, 4)),
    "resized": lambda t: t.resize_(8, 8).resize_(4, 4),
    "written": lambda t: t.mul_(1.5),
    "shared until it is written": lambda t: setattr(t, "data", torch._lazy_clone(t.data)),
}


@pytest.mark.parametrize("finds", [False, True])
@pytest.mark.parametrize("way", ["torch.compile", "guarded", "luminal.compile"])
def test_what_changes_of_a_tensor_is_seen(monkeypatch, way, finds):
    """Every change of the same tensor object is detected, with and without the known layout of PyTorch's objects."""
    assert luminal._layout.find() is not None
    if not finds:
        monkeypatch.setattr(luminal._layout, "find", lambda: None)
    if way == "guarded" and not _versions.GUARDS_WEIGHTS:
        pytest.skip("this version of dynamo does not guard weights")
    monkeypatch.setattr(_versions, "GUARDS_WEIGHTS", way == "guarded")

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(4, 4), requires_grad=False)
            self.state = nn.Parameter(torch.rand(4, 4), requires_grad=False)

        def forward(self, x):
            return self.state.add_(x) @ self.weight

    module = Model()
    compiled = luminal.compile(module, (torch.rand(4, 4),)) if way == "luminal.compile" else helpers.compile(module)
    with torch.no_grad():
        for tensor in (module.weight, module.state):
            for what, change in CHANGES.items():
                for _ in range(2):
                    twin, x = copy.deepcopy(module), torch.rand(4, 4)
                    clones = [torch._lazy_clone(t) for t in module.parameters()] if "shared" in what else []
                    kept = [clone.clone() for clone in clones]
                    helpers.same(compiled(x), twin(x))
                    helpers.same(list(module.parameters()), list(twin.parameters()))
                    helpers.same(clones, kept)
                change(tensor)


def test_types_that_change_are_seen():
    module, x = nn.Linear(4, 4, bias=False).requires_grad_(False), torch.rand(4, 4)
    compiled = luminal.compile(module, (x,))
    with torch.no_grad():
        for _ in range(2):
            helpers.same(compiled(x), module(x))
            module.weight.data = module.weight.data.view(torch.int32)
            for _ in range(2):
                with pytest.raises(luminal.DTypeError):
                    compiled(x)
            module.weight.data = module.weight.data.view(torch.float32)


def test_places_are_found_by_what_differs():
    """An object in which a property has another offset is not accepted as a tensor of this version of PyTorch."""
    offset = luminal._objects.reader().offset
    found = luminal._layout.find()
    tensor = torch.arange(24.0)[2:22].view(4, 5)
    words = luminal._layout._read(luminal._layout._description(tensor, offset), luminal._layout._OF_TENSOR)
    at = lambda place: words[place // 8]
    assert at(found.offset) == 2 and at(found.rank) == 2 and at(found.storage) == tensor.untyped_storage()._cdata
    assert [at(found.sizes), at(found.sizes + 8), at(found.strides), at(found.strides + 8)] == [4, 5, 5, 1]
    storage = luminal._layout._read(at(found.storage), luminal._layout._OF_STORAGE)
    assert storage[found.memory // 8] == tensor.untyped_storage().data_ptr()
    twins = [[2, 3], [4, 3], [2, 5]]
    assert luminal._layout._place_of([2, 2, 2], twins) is None and luminal._layout._place_of([3, 3, 5], [[0, 0, *t] for t in twins]) == 24
    assert luminal._layout._place_of([7, 7], [[0, 0, 7, 7], [0, 0, 7, 7]]) is None


@pytest.mark.parametrize("versions", [False, True])
def test_weights_replaced_in_modules(monkeypatch, versions):
    """Weights are replaced in every way that changes a module's dictionaries, with and without dictionary versions; the
    next call releases the replaced ones."""
    assert luminal._stored.has_versions() == (sys.version_info < (3, 14))
    if not versions:
        monkeypatch.setattr(luminal._stored, "has_versions", lambda: False)
    module, x = nn.Linear(4, 4).requires_grad_(False), torch.rand(2, 4)
    module.register_buffer("state", torch.zeros(4))
    module.forward = lambda x: nn.functional.linear(x, module.weight, module.state.add_(1))
    compiled, first = luminal.compile(module, (x,)), module.weight  # which the exported program keeps
    new = lambda: nn.Parameter(torch.rand(4, 4), requires_grad=False)

    def swap():
        module._parameters["weight"], kept = new(), module._parameters.pop("weight")
        return kept

    changes = [lambda: setattr(module, "weight", new()), lambda: setattr(module, "state", torch.rand(4)),
               lambda: module._parameters.update(weight=new()), lambda: delattr(module, "weight") or setattr(module, "weight", new()),
               lambda: module.load_state_dict({"weight": new(), "bias": torch.rand(4), "state": torch.rand(4)}, assign=True), swap]
    with torch.no_grad():
        for change in changes:
            for _ in range(2):
                old = weakref.ref(module.weight)
                change()
                state = module.state.clone()
                for _ in range(3):
                    version = module.state._version
                    helpers.same(compiled(x), nn.functional.linear(x, module.weight, state.add_(1)))
                    helpers.same(module.state, state)
                    assert module.state._version == version + 1
                assert old() is None or old() is module.weight or old() is first
        with torch.inference_mode():
            module.state = torch.zeros(4)
        with torch.inference_mode():
            helpers.same(compiled(x), nn.functional.linear(x, module.weight, torch.ones(4)))
