# ===- static_step.py - A step of a language model with a static cache -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every backend compiles: tokens and their positions to logits, with keys and values at the positions of buffers that are
as long as the cache. Attention is that of transformers (``sdpa_attention_forward``); only where keys and values are kept is
said here, so that all backends have the same cache, whatever a version of transformers does."""
import contextlib

import torch
import transformers
from torch import nn
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface

NAME = "luminal_bench"


class _Cache:
    """In a step: the buffers by layer, the positions of the tokens, and masks by window."""

    def __init__(self):
        self.keys, self.values, self.masks = {}, {}, {}
        self.positions = None

    def mask(self, window, length):
        """[1, 1, tokens, length]: what each token may look at."""
        if window not in self.masks:
            at, positions = torch.arange(length, device=self.positions.device), self.positions[:, None]
            allowed = at <= positions
            if window is not None:
                allowed = allowed & (at > positions - window)
            self.masks[window] = allowed[None, None]
        return self.masks[window]


def _attend(module, query, key, value, attention_mask, *, scaling=None, sliding_window=None, softcap=None, s_aux=None, cache=None,
            **kwargs):
    if cache is None or s_aux is not None:
        raise ValueError(f"{type(module).__name__}: " + ("attention has sinks" if cache else "attention is not given the cache"))
    layer = module.layer_idx
    if layer not in cache.keys:  # the first step, which shows the shapes
        cache.keys[layer], cache.values[layer] = key[:, :, 0], value[:, :, 0]
        return repeat_kv(value, query.shape[1] // value.shape[1]).transpose(1, 2), None
    keys, values = cache.keys[layer], cache.values[layer]
    keys.index_copy_(2, cache.positions, key)
    values.index_copy_(2, cache.positions, value)
    mask = cache.mask(sliding_window, keys.shape[2])
    if softcap is None:
        return sdpa_attention_forward(module, query, keys, values, mask, scaling=scaling)
    keys, values = (repeat_kv(x, query.shape[1] // x.shape[1]) for x in (keys, values))
    scores = torch.tanh(query @ keys.mT * scaling / softcap) * softcap
    return (scores.float().masked_fill(~mask, float("-inf")).softmax(-1).to(query.dtype) @ values).transpose(1, 2), None


transformers.AttentionInterface.register(NAME, _attend)
AttentionMaskInterface.register(NAME, lambda *args, **kwargs: None)


class Step(nn.Module):
    """``ids`` [batch, tokens] at ``positions`` [tokens] to the logits [batch, vocabulary] after the last, and the likeliest
    tokens [batch]."""

    def __init__(self, model, batch, length):
        super().__init__()
        self.model, self.layers = model, []
        model.set_attn_implementation(NAME)
        shown = _Cache()
        self._call(torch.zeros((batch, 1), dtype=torch.int64, device=model.device),
                   torch.zeros(1, dtype=torch.int64, device=model.device), shown)
        self.layers = sorted(shown.keys)
        for layer in self.layers:
            for name, sample in (("keys", shown.keys[layer]), ("values", shown.values[layer])):
                self.register_buffer(f"{name}_{layer}", sample.new_zeros(*sample.shape[:2], length, sample.shape[2]), persistent=False)

    def caches(self):
        return [getattr(self, f"{name}_{layer}") for layer in self.layers for name in ("keys", "values")]

    def forward(self, ids, positions):
        return self.with_caches(ids, positions, self.caches())

    def with_caches(self, ids, positions, caches):
        """Writes to ``caches``, which are as those of the module."""
        cache = _Cache()
        for layer, keys, values in zip(self.layers, caches[::2], caches[1::2]):
            cache.keys[layer], cache.values[layer] = keys, values
        return self._call(ids, positions, cache)

    def _call(self, ids, positions, cache):
        cache.positions = positions
        out = self.model(input_ids=ids, position_ids=positions[None].expand(ids.shape), use_cache=False, logits_to_keep=1, cache=cache)
        logits = out.logits[:, -1].float()
        return logits, logits.argmax(-1)


@contextlib.contextmanager
def kept_attention(model):
    """What is built inside may give the model another attention."""
    try:
        yield
    finally:
        model.set_attn_implementation(NAME)
