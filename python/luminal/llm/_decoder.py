# ===- _decoder.py - A language model with its cache as one compiled program -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One step of a causal language model: tokens in, logits of the last one out. Keys and values of earlier tokens lie in
buffers that the program writes in place, so that a step copies nothing. Prompts go through in chunks of any length up to
``chunk``; one token at a time is a variant of the same artifact."""
from __future__ import annotations

from typing import Any

import torch
import transformers
from torch import nn
from transformers.cache_utils import Cache, DummyLayer, StaticLayer, StaticSlidingWindowLayer

from .. import _compile, _errors


class _Layer(StaticLayer):  # type: ignore[no-untyped-call]
    """The cache of one layer at full length, written at the positions that the step is given. Where a layer attends to a
    window only, its mask says so."""

    keys: Any
    values: Any
    positions: Any

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self.keys.index_copy_(2, self.positions, key_states)
        self.values.index_copy_(2, self.positions, value_states)
        return self.keys, self.values


class Step(nn.Module):
    """What is compiled: ``ids`` [1, n] at ``positions`` [n], consecutive ones, to logits [vocabulary] and the likeliest
    token."""

    def __init__(self, model: transformers.PreTrainedModel, length: int) -> None:
        super().__init__()
        self.model, self.length = model, length
        self.layers: list[Any] = [self._layer(layer) for layer in transformers.StaticCache(model.config, max_cache_len=length).layers]
        self.cache = Cache(layers=self.layers)
        # The first step shows the shapes of keys and values, which differ from layer to layer in some models.
        first = torch.zeros(1, dtype=torch.int64, device=model.device)
        with torch.no_grad():
            self(first[None], first)
        self.used = [i for i, layer in enumerate(self.layers) if layer.is_initialized]
        for i in self.used:
            self.register_buffer(f"keys_{i}", self.layers[i].keys.zero_(), persistent=False)
            self.register_buffer(f"values_{i}", self.layers[i].values.zero_(), persistent=False)

    def _layer(self, layer: Any) -> _Layer:
        if type(layer) in (StaticLayer, StaticSlidingWindowLayer, DummyLayer):
            return _Layer(self.length)
        raise _errors.ArgumentError(f"{type(self.model).__name__}: a cache of kind {type(layer).__name__} is not supported")

    def forward(self, ids: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        for i in getattr(self, "used", ()):  # those of a trace
            self.layers[i].keys, self.layers[i].values = getattr(self, f"keys_{i}"), getattr(self, f"values_{i}")
        for layer in self.layers:
            layer.positions, layer.cumulative_length = positions, positions[0]
        out = self.model(input_ids=ids, position_ids=positions[None], past_key_values=self.cache, use_cache=True,
                         logits_to_keep=1)
        logits = out.logits[0, -1].float()
        return logits, logits.argmax(-1)


class Decoder:
    """A compiled model and where it is in its one sequence."""

    def __init__(self, model: transformers.PreTrainedModel, length: int, chunk: int, **options: Any) -> None:
        """``length``: tokens that fit into the cache; ``chunk``: tokens of a prompt that one step takes."""
        self.length, self.chunk, self.used = length, min(chunk, length), 0
        self.step = Step(model, length)
        self._positions = torch.arange(length, device=model.device)
        size = min(8, self.chunk)
        sample = torch.zeros((1, size), dtype=torch.int64, device=model.device), self._positions[:size]
        shapes: Any = None
        if self.chunk > 1:
            n = torch.export.Dim("tokens", min=1, max=self.chunk)
            shapes = {"ids": {1: n}, "positions": {0: n}}
            options = {"variants": ["tokens=1"], **options}
        self.compiled = _compile.compile(self.step, sample, dynamic_shapes=shapes, **options)

    def reset(self) -> None:
        """Forgets the sequence."""
        self.used = 0

    def append(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Appends tokens [n] to the sequence: logits and the likeliest token after the last of them."""
        if self.used + len(ids) > self.length:
            raise _errors.ArgumentError(f"{self.used + len(ids)} tokens do not fit into a cache of {self.length}")
        result = None
        for part in torch.split(ids, self.chunk):
            positions = self._positions[self.used:self.used + len(part)]
            result = self.compiled(part[None], positions)
            self.used += len(part)
        if result is None:
            raise _errors.ArgumentError("a sequence begins with one token or more")
        return result  # type: ignore[no-any-return]
