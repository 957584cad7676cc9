# ===- _pages.py - A step over many sequences whose caches are pages ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One step of a causal language model for a batch of sequences of different lengths. Keys and values are stored in pages
of a pool that all sequences share; a table lists the pages of each sequence in order. Attention is written in plain
torch, including the gather by page, and is left to the compiler."""
from __future__ import annotations

import contextvars
from typing import Any

import torch
import transformers
from torch import nn
from torch.nn import functional as F
from transformers.masking_utils import AttentionMaskInterface

from .. import _compile, _errors

_NAME = "luminal_pages"


class _Pool:
    """The pool while a step is traced: where the step's tokens are written, and what each of them may attend to."""

    def __init__(self) -> None:
        self.keys: dict[int, Any] = {}
        self.values: dict[int, Any] = {}
        self.owners: dict[int, int] = {}
        """For each layer, the layer whose keys and values it uses."""
        self.slots: Any = None  # [batch * tokens]: slots in the pool
        self.reads: Any = None  # [batch, length]: slots of each sequence, in order
        self.positions: Any = None  # [batch, tokens]


_pool: contextvars.ContextVar[_Pool] = contextvars.ContextVar("pool")
"""The pool of the step that is being traced."""


def _make_mask(mask_function: Any, use_vmap: bool = False, **others: Any) -> Any:
    """[batch, 1, tokens, length]: the positions that each token may attend to. ``mask_function`` decides this for two
    positions, including a model's windows or chunks."""
    if use_vmap or "allow_is_bidirectional_skip" in others:  # functions of the step's own tokens, or of tokens that do not exist yet
        raise _errors.ArgumentError("its attention uses its own mask")
    pool = _pool.get()
    batch, length = pool.reads.shape
    rows, at = torch.arange(batch, device=pool.reads.device)[:, None, None, None], torch.arange(length, device=pool.reads.device)
    return mask_function(rows, torch.zeros_like(rows), pool.positions[:, None, :, None], at)


def _attend(module: nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, *,
            scaling: float | None = None, softcap: float | None = None, s_aux: torch.Tensor | None = None,
            **_: Any) -> tuple[torch.Tensor, None]:
    """The attention function that transformers calls in each layer. query: [batch, heads, tokens, width]; key and value
    have their own number of heads. ``s_aux`` [heads]: attention sinks, that is, scores without a value."""
    pool = _pool.get()
    if attention_mask is None or attention_mask.dtype != torch.bool:
        raise _errors.ArgumentError("its attention uses its own mask")
    layer: int = module.layer_idx  # type: ignore[assignment]
    batch, heads, count, _width = query.shape
    if pool.slots is None:  # the first step, which only records shapes
        if layer in pool.keys:
            raise _errors.ArgumentError("a layer calls attention more than once")
        # Layers that share keys and values are passed the same tensors.
        pool.owners[layer] = next((i for i in pool.keys if pool.keys[i] is key and pool.values[i] is value), layer)
        pool.keys[layer], pool.values[layer] = key, value
        return value.repeat_interleave(heads // value.shape[1], 1).transpose(1, 2), None
    owner = pool.owners[layer]
    if owner == layer:
        for stored, new in ((pool.keys[layer], key), (pool.values[layer], value)):
            stored.index_copy_(0, pool.slots, new.transpose(1, 2).reshape(batch * count, *stored.shape[1:]))
    # Repeat keys and values for each head before transposing: with the strides of PyTorch's own expansion, PyTorch 2.11
    # creates guards on a GPU.
    keys, values = (stored[pool.reads].repeat_interleave(heads // stored.shape[1], 2).transpose(1, 2)
                    for stored in (pool.keys[owner], pool.values[owner]))
    if softcap is None and s_aux is None:
        return F.scaled_dot_product_attention(query, keys, values, attention_mask, scale=scaling).transpose(1, 2), None
    scores = query @ keys.mT * (scaling or query.shape[-1] ** -0.5)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    scores = scores.float().masked_fill(~attention_mask, float("-inf"))
    if s_aux is None:
        weights = scores.softmax(-1)
    else:
        sinks = s_aux.float()[:, None, None]
        most = torch.maximum(scores.amax(-1, keepdim=True), sinks)
        weights = torch.exp(scores - most)
        weights = weights / (weights.sum(-1, keepdim=True) + torch.exp(sinks - most))
    return (weights.to(query.dtype) @ values).transpose(1, 2), None


transformers.AttentionInterface.register(_NAME, _attend)
AttentionMaskInterface.register(_NAME, _make_mask)  # type: ignore[arg-type]


def _find_layers(model: transformers.PreTrainedModel) -> list[int]:
    """The layers whose keys and values must be stored. Raises ArgumentError if a layer has any other state."""
    try:
        layers = transformers.DynamicCache(config=model.config).layers
    except (KeyError, TypeError, ValueError) as error:
        raise _errors.ArgumentError(f"transformers has no cache for it: {_errors.sentence(error)}") from None
    kinds = {type(layer).__name__ for layer in layers} - {"DynamicLayer", "DynamicSlidingWindowLayer", "DummyLayer"}
    if kinds:
        raise _errors.ArgumentError(f"its layers keep more than keys and values ({', '.join(sorted(kinds))})")
    return [i for i, layer in enumerate(layers) if type(layer).__name__ != "DummyLayer"]


def _keep_rotations(model: transformers.PreTrainedModel, length: int) -> None:
    """Fixes rotations of positions that depend on the length of the text, which are constant up to some length. Raises
    ArgumentError if ``length`` exceeds it: stored keys would be rotated differently from later ones, and depending on
    other texts."""
    for module in model.modules():
        kinds = getattr(module, "rope_type", None)
        by_layer = kinds if isinstance(kinds, dict) else {"": kinds}
        for name, kind in by_layer.items():
            if not isinstance(kind, str) or "dynamic" not in kind and kind != "longrope":
                continue
            parameters = module.config.rope_parameters  # type: ignore[union-attr]
            most: Any = (parameters[name] if name else parameters).get("original_max_position_embeddings") if kind == "longrope" else None
            most = most or module.original_max_seq_len
            if length > most:
                raise _errors.ArgumentError(f"cache_length is {length}: {type(model).__name__} rotates all positions of a text differently "
                                            f"if it has more than {most} tokens, which pages do not support")
            by_layer[name] = "default"
        if kinds is not None and not isinstance(kinds, dict):
            module.rope_type = by_layer[""]


class Step(nn.Module):
    """The compiled function: from ``ids`` and ``positions`` [batch, tokens] and ``table`` [batch, pages] to the logits
    [batch, vocabulary] after the last token of each sequence, and the most likely tokens [batch]."""

    def __init__(self, model: transformers.PreTrainedModel, pages: int, page: int) -> None:
        """Raises ArgumentError if the model's attention cannot use pages."""
        super().__init__()
        self.model, self.page = model, page
        self.pool = shown = _Pool()
        shown.reads = shown.positions = torch.zeros((1, 1), dtype=torch.int64, device=model.device)
        try:
            needed = _find_layers(model)
            model.set_attn_implementation(_NAME)
            with torch.no_grad():
                self._call(shown.positions, shown.positions)
            absent = [i for i in needed if i not in shown.keys]
            if absent:
                raise _errors.ArgumentError(f"{len(absent)} of its {len(needed)} layers do not use transformers' AttentionInterface")
            if any(owner == i and i not in needed for i, owner in shown.owners.items()):  # in some versions of transformers
                raise _errors.ArgumentError("its layers share keys and values through transformers' cache alone")
        except Exception as error:  # any exception of the model's code for an unknown attention
            raise _errors.ArgumentError(f"{type(model).__name__} cannot be run over pages: {_errors.sentence(error)}") from error
        self.layers = sorted(i for i, owner in shown.owners.items() if owner == i)
        for i in self.layers:
            for name, tensor in (("keys", shown.keys[i]), ("values", shown.values[i])):
                _, heads, _, width = tensor.shape
                self.register_buffer(f"{name}_{i}", tensor.new_zeros((pages * page, heads, width)), persistent=False)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        pool = self.pool
        for i in self.layers:
            pool.keys[i], pool.values[i] = getattr(self, f"keys_{i}"), getattr(self, f"values_{i}")
        of_page = torch.arange(self.page, device=ids.device)
        pool.reads = (table[:, :, None] * self.page + of_page).flatten(1)
        pool.slots = pool.reads.gather(1, positions).flatten()
        pool.positions = positions
        return self._call(ids, positions)

    def _call(self, ids: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        # No token is masked. Without this mask, transformers would look for several texts in one, judging by the
        # positions.
        mask, token = torch.ones_like(ids, dtype=torch.bool), _pool.set(self.pool)
        try:
            out = self.model(input_ids=ids, position_ids=positions, attention_mask=mask, use_cache=False, logits_to_keep=1)
        finally:
            _pool.reset(token)
        logits = out.logits[:, -1].float()
        return logits, logits.argmax(-1)


class Steps:
    """The compiled step and its inputs."""

    def __init__(self, model: transformers.PreTrainedModel, pages: int, page: int, length: int, chunk: int, batch: int,
                 **options: Any) -> None:
        """``pages`` of ``page`` tokens each. A sequence has at most ``length`` tokens. A step takes at most ``chunk``
        tokens of one sequence, or one token of each of ``batch`` sequences."""
        _keep_rotations(model, length)
        step = Step(model, pages, page)
        self.device = model.device
        # Steps with one sequence or one token are variants of the same program.
        dims = {name: torch.export.Dim(name, min=1, max=most) if most > 1 else None
                for name, most in (("batch", batch), ("tokens", chunk), ("pages", -(-length // page)))}
        variants = [",".join(f"{name}=1" for name in names if dims[name]) for names in (("batch", "tokens"), ("tokens",), ("batch",))]
        options = {"variants": [v for v in dict.fromkeys(variants) if v and any(dims.values())], **options}
        size = {name: 2 if dim else 1 for name, dim in dims.items()}
        shapes = [("batch", "tokens"), ("batch", "tokens"), ("batch", "pages")]
        sample = tuple(torch.zeros([size[name] for name in names], dtype=torch.int64, device=self.device) for names in shapes)
        self.compiled = _compile.compile(step, sample, dynamic_shapes=tuple(
            {i: dims[name] for i, name in enumerate(names) if dims[name]} for names in shapes), **options)

    def rows(self, begins: list[int], count: int, pages: list[list[int]]) -> tuple[list[list[int]], list[list[int]]]:
        """For each sequence, the positions of ``count`` tokens starting at its entry of ``begins``, and its row of the
        page table."""
        # Rows are padded with any page: tokens beyond a sequence are masked.
        most = max(map(len, pages))
        return [list(range(begin, begin + count)) for begin in begins], [row + row[:1] * (most - len(row)) for row in pages]

    def run(self, ids: torch.Tensor, positions: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits [batch, vocabulary] after the last of ``ids`` [batch, tokens], and the most likely tokens [batch].
        On a GPU, the host does not wait for them."""
        return self.compiled(ids, positions, table)  # type: ignore[no-any-return]
