# ===- test_explore.py - The programs that the compiler chooses from ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import threading

import helpers
import luminal
import pytest
import torch
from torch import nn


class Chain(nn.Module):
    """Five products that can be computed in any order."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(n, m) / n ** 0.5, requires_grad=False)
                                         for n, m in ((64, 8), (8, 64), (64, 4), (4, 64))])

    def forward(self, x):
        for weight in self.weights:
            x = x @ weight
        return {"y": torch.relu(x)}


@pytest.fixture(scope="module")
def space():
    torch.manual_seed(0)
    return luminal.explore(Chain().eval(), (torch.randn(16, 64),))


def test_candidates(space):
    best = space.best()
    assert len(best.digest) == 32 and best.cost > 0 and "llir." in best.text and str(best) == best.text
    assert best.digest[:12] in repr(best)
    candidates = space.sample(5, strength=2)
    assert len({candidate.digest for candidate in candidates}) == len(candidates) == 5
    assert candidates[0] is best and candidates == sorted(candidates, key=lambda c: c.cost)
    assert len({candidate.text for candidate in candidates}) == 5
    # Equal arguments give the same candidate, in concurrent threads too.
    drawn = space.draw(7, 2)
    found = []
    threads = [threading.Thread(target=lambda: found.append(space.draw(7, 2))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [candidate.digest for candidate in found] == [drawn.digest] * 4
    assert all(digest in str(space) for digest in space.known) and repr(space) == str(space)
    assert len(helpers.Page(space._repr_html_()).all("tr")) == len(space.known) + 1


def test_every_candidate_computes_the_same(space, tmp_path):
    x = torch.randn(16, 64)
    expected = space.given(x)
    programs = set()
    for candidate in space.sample(4, strength=2):
        compiled = candidate.compile()
        helpers.same(compiled(x), expected)
        programs.add(compiled.ir("scheduled"))
        assert compiled.report.steps >= 1
    assert len(programs) == 4
    # A candidate can be used like any other model.
    compiled.save(tmp_path / "m.lum")
    helpers.same(luminal.load(tmp_path / "m.lum")(x)[0], expected["y"])
    assert compiled.profile().steps


def test_weights_stay_the_models():
    model = nn.Linear(8, 4).requires_grad_(False)
    candidate = luminal.explore(model, (torch.randn(2, 8),)).best().compile()
    x = torch.randn(2, 8)
    helpers.same(candidate(x), model(x))
    model.weight.mul_(2)
    helpers.same(candidate(x), model(x))


def test_dynamic_sizes_and_loops():
    """Repeated layers are a loop during saturation."""
    layers = nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.GELU()) for _ in range(6))).requires_grad_(False)
    space = luminal.explore(layers, (torch.randn(2, 16),), dynamic_shapes=({0: torch.export.Dim("rows", max=32)},))
    for candidate in (space.best(), space.draw(1, 3)):
        x = torch.randn(9, 16)
        helpers.same(candidate.compile()(x), layers(x))


def test_compared_side_by_side(space):
    model, x = Chain().eval(), torch.randn(16, 64)
    own = luminal.explore(model, (x,))
    forms = {repr(candidate): candidate.compile() for candidate in own.sample(2)}
    table = luminal.bench(model, (x,), forms=("eager",), others=forms, rounds=2, seconds=0.001)
    assert [row.form for row in table] == ["eager", *forms]
    assert all(row.milliseconds > 0 and row.error < 1e-5 and not row.problem for row in table)
    assert all(name in str(table) for name in forms)
    with pytest.raises(luminal.ArgumentError, match="two forms 'eager'"):
        luminal.bench(model, (x,), forms=("eager",), others={"eager": model})


def test_why(space):
    explained = luminal.explore(lambda x: x.sqrt().reciprocal(), (torch.rand(4),), proofs=True)
    text = explained.best().explain()
    assert "rsqrt" in text and "hlir" in text
    with pytest.raises(luminal.ArgumentError, match="proofs=True"):
        space.best().explain()


def test_rules_are_chosen_by_options():
    exact = luminal.explore(lambda x: x.sqrt().reciprocal(), (torch.rand(4),), precision="exact")
    assert "rsqrt" not in exact.best().text
    with pytest.raises(luminal.LuminalError, match="there is no rule set 'nothing'|nothing"):
        luminal.explore(lambda x: x + 1, (torch.rand(4),), rule_sets=("nothing",))


def test_bad_use(space):
    with pytest.raises(luminal.LuminalError, match="strength"):
        space.draw(0, -1)
    with pytest.raises(luminal.UnsupportedOpError):
        luminal.explore(torch.linalg.eigvalsh, (torch.eye(3),))
    assert space.sample(0) == []
