# ===- test_caches.py - Caches of transformers through luminal.compile -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy

import helpers
import luminal
import pytest
import torch

transformers = pytest.importorskip("transformers")
from transformers.cache_utils import DynamicCache, EncoderDecoderCache, StaticCache

SIZES = dict(vocab_size=64, max_position_embeddings=64)


@pytest.fixture(scope="module")
def decoder():
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, **SIZES)).eval()


def tensors_of(cache):
    return [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]


def test_static(decoder):
    """The static cache is written in place and returned, without copying any of it."""
    cache, token = StaticCache(config=decoder.config, max_cache_len=16), torch.tensor([[3]])
    with torch.no_grad():
        decoder(torch.tensor([[1, 2, 3]]), past_key_values=cache)
        twin = copy.deepcopy(cache)
        compiled = luminal.compile(decoder, (), dict(input_ids=token, past_key_values=copy.deepcopy(cache)))
        assert sum(tensor.is_written for tensor in compiled.artifact.inputs) >= 4
        assert not any(16 in tensor.shape[2:3] for tensor in compiled.artifact.outputs)
        for step in range(3):
            token = torch.tensor([[5 + step]])
            result, expected = compiled(input_ids=token, past_key_values=cache), decoder(token, past_key_values=twin)
            helpers.same(result.logits, expected.logits)
            helpers.same(tensors_of(cache), tensors_of(twin))
            assert type(result.past_key_values) is StaticCache
            for given, returned in zip(tensors_of(cache), tensors_of(result.past_key_values)):
                assert given is returned
        with pytest.raises(luminal.ArgumentError, match="structure"):
            compiled(input_ids=token, past_key_values=DynamicCache())


def test_dynamic(decoder):
    """Dynamic caches may have any length; the result contains the extended cache."""
    cache, token = DynamicCache(config=decoder.config), torch.tensor([[3]])
    with torch.no_grad():
        decoder(torch.tensor([[1, 2, 3]]), past_key_values=cache)
        shapes = {"input_ids": None, "past_key_values": [{2: torch.export.Dim.DYNAMIC}] * 4}
        compiled = luminal.compile(decoder, (), dict(input_ids=token, past_key_values=copy.deepcopy(cache)), dynamic_shapes=shapes)
        for step in range(4):
            token, twin, before = torch.tensor([[5 + step]]), copy.deepcopy(cache), copy.deepcopy(cache)
            result, expected = compiled(input_ids=token, past_key_values=cache), decoder(token, past_key_values=twin)
            helpers.same(result.logits, expected.logits)
            helpers.same(tensors_of(cache), tensors_of(before))
            cache = result.past_key_values
            assert type(cache) is DynamicCache and cache.get_seq_length() == 4 + step
            helpers.same(tensors_of(cache), tensors_of(twin))


def test_encoder_decoder():
    torch.manual_seed(0)
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(
        d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, vocab_size=64, decoder_start_token_id=0)).eval()
    with torch.no_grad():
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        encoded = model.encoder(torch.tensor([[4, 5, 6, 7]]))
        model(decoder_input_ids=torch.tensor([[0]]), encoder_outputs=encoded, past_key_values=cache)
        named = dict(decoder_input_ids=torch.tensor([[9]]), encoder_outputs=encoded)
        compiled = luminal.compile(model, (), {**named, "past_key_values": copy.deepcopy(cache)})
        twin = copy.deepcopy(cache)
        result, expected = compiled(**named, past_key_values=cache), model(**named, past_key_values=twin)
        helpers.same(result.logits, expected.logits)
        found = result.past_key_values
        assert type(found) is EncoderDecoderCache and found.is_updated == twin.is_updated
        for part in ("self_attention_cache", "cross_attention_cache"):
            helpers.same(tensors_of(getattr(found, part)), tensors_of(getattr(twin, part)))


def test_arguments_that_are_returned():
    """Arguments that the model wrote to are returned as the same tensors, in order with computed results; other results
    are new tensors."""
    def function(a, b):
        a.add_(1)
        return b * 2, a, {"c": b.mul_(3), "d": a + b}, b.view(-1)

    a, b = torch.rand(2, 3), torch.rand(2, 3)
    compiled = luminal.compile(function, (a.clone(), b.clone()))
    for make in (torch.Tensor.clone, lambda t: t.t().clone().t()):  # with and without row-major arguments
        given, twins = [make(a), make(b)], [make(a), make(b)]
        with torch.no_grad():
            result, expected = compiled(*given), function(*twins)
        helpers.same([result[0], result[1], result[2]["c"], result[2]["d"], result[3]],
                     [expected[0], expected[1], expected[2]["c"], expected[2]["d"], expected[3]])
        helpers.same(given, twins)
        assert result[1] is given[0] and result[2]["c"] is given[1] and result[2]["d"] is not given[0]
    copied = luminal.compile(lambda x, y: (x.copy_(y), y + 1), (a.clone(), b.clone()))
    x = a.clone()
    assert copied(x, b)[0] is x and torch.equal(x, b)
