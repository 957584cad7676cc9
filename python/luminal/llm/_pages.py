# ===- _pages.py - A step over many sequences whose caches are pages ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One step of a causal language model over a batch of sequences of different lengths. Keys and values lie in pages of a pool
that all sequences share; a table says which pages a sequence has, in order. Attention is spelled in plain torch: what the
compiler makes of the gather by page is its affair."""
from __future__ import annotations

from typing import Any

import torch
import transformers
from torch import nn
from torch.nn import functional as F
from transformers.masking_utils import AttentionMaskInterface

from .. import _compile, _errors

_NAME = "luminal_pages"


class _Pool:
    """Where the tokens of a step are written, and what each may look at; in the trace of a step."""

    def __init__(self) -> None:
        self.keys: dict[int, Any] = {}
        self.values: dict[int, Any] = {}
        self.slots: Any = None  # [batch * tokens]: of the pool
        self.reads: Any = None  # [batch, length]: slots of each sequence, in order
        self.positions: Any = None  # [batch, tokens]


def _attend(module: nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, *,
            scaling: float | None = None, sliding_window: int | None = None, softcap: float | None = None,
            s_aux: Any = None, pool: _Pool | None = None, **_: Any) -> tuple[torch.Tensor, None]:
    """What transformers calls in each layer: query [batch, heads, tokens, width], key and value with heads of their own."""
    if pool is None or s_aux is not None:
        raise _errors.ArgumentError(f"{type(module).__name__}: " + ("sinks of attention are not supported" if pool else
                                                                    "its model does not hand on what attention is given"))
    layer: int = module.layer_idx  # type: ignore[assignment]
    batch, heads, count, _width = query.shape
    if layer not in pool.keys:  # the first step, which shows the shapes
        pool.keys[layer], pool.values[layer] = key[0, :, 0], value[0, :, 0]
        return value.repeat_interleave(heads // value.shape[1], 1).transpose(1, 2), None
    for stored, new in ((pool.keys[layer], key), (pool.values[layer], value)):
        stored.index_copy_(0, pool.slots, new.transpose(1, 2).reshape(batch * count, *stored.shape[1:]))
    # Each head has keys and values of its own before they are transposed: of the strides of its own expansion PyTorch 2.11 makes
    # guards on a GPU.
    keys, values = (stored[pool.reads].repeat_interleave(heads // key.shape[1], 2).transpose(1, 2)
                    for stored in (pool.keys[layer], pool.values[layer]))
    at = torch.arange(pool.reads.shape[1], device=query.device)
    allowed = at <= pool.positions[:, None, :, None]
    if sliding_window is not None:
        allowed = allowed & (at > pool.positions[:, None, :, None] - sliding_window)
    if softcap is None:
        out = F.scaled_dot_product_attention(query, keys, values, allowed, scale=scaling)
    else:
        scores = torch.tanh(query @ keys.mT * (scaling or query.shape[-1] ** -0.5) / softcap) * softcap
        out = scores.float().masked_fill(~allowed, float("-inf")).softmax(-1).to(query.dtype) @ values
    return out.transpose(1, 2), None


transformers.AttentionInterface.register(_NAME, _attend)
AttentionMaskInterface.register(_NAME, lambda *args, **kwargs: None)


class Step(nn.Module):
    """What is compiled: ``ids`` and ``positions`` [batch, tokens] and ``table`` [batch, pages] to logits [batch, vocabulary]
    after the last token of each sequence, and the likeliest tokens [batch]."""

    def __init__(self, model: transformers.PreTrainedModel, pages: int, page: int) -> None:
        super().__init__()
        self.model, self.page, self.pool = model, page, _Pool()
        self.layers: list[int] = []
        model.set_attn_implementation(_NAME)
        first = torch.zeros((1, 1), dtype=torch.int64, device=model.device)
        with torch.no_grad():
            self(first, first, first)
        self.layers = sorted(self.pool.keys)
        for i in self.layers:
            for name, shown in (("keys", self.pool.keys[i]), ("values", self.pool.values[i])):
                self.register_buffer(f"{name}_{i}", shown.new_zeros((pages * page, *shown.shape)), persistent=False)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        pool = self.pool
        for i in self.layers:
            pool.keys[i], pool.values[i] = getattr(self, f"keys_{i}"), getattr(self, f"values_{i}")
        of_page = torch.arange(self.page, device=ids.device)
        pool.reads = (table[:, :, None] * self.page + of_page).flatten(1)
        pool.slots = pool.reads.gather(1, positions).flatten()
        pool.positions = positions
        out = self.model(input_ids=ids, position_ids=positions, use_cache=False, logits_to_keep=1, pool=pool)
        logits = out.logits[:, -1].float()
        return logits, logits.argmax(-1)


class Steps:
    """The compiled step."""

    def __init__(self, model: transformers.PreTrainedModel, pages: int, page: int, length: int, chunk: int, batch: int,
                 **options: Any) -> None:
        """``pages`` of ``page`` tokens each; a sequence has at most ``length`` tokens, a step at most ``chunk`` of one sequence,
        or one of each of ``batch``."""
        step = Step(model, pages, page)
        self.device = model.device
        # One sequence and one token are variants of the same program.
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
        """For each sequence the positions of ``count`` tokens from ``begin`` on, and its pages in a table."""
        # What a sequence does not have is not looked at: any page will do.
        most = max(map(len, pages))
        return [list(range(begin, begin + count)) for begin in begins], [row + row[:1] * (most - len(row)) for row in pages]

    def run(self, ids: torch.Tensor, positions: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits [batch, vocabulary] after the last of ``ids`` [batch, tokens], and the likeliest tokens [batch]. On a GPU the
        host does not wait for them."""
        return self.compiled(ids, positions, table)  # type: ignore[no-any-return]
