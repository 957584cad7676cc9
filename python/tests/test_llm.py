# ===- test_llm.py - Checkpoints that write text --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import os
import shutil

import luminal
import pytest
import tiny_checkpoint
import torch
from luminal import _cache, llm

PROMPT = "The river turns the wheel, and the rain"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("llama")


@pytest.fixture(scope="module")
def model(folder):
    return tiny_checkpoint.write(folder)


@pytest.fixture(scope="module")
def llama(folder, model):
    return llm.LLM(folder, chunk=8)


def expected(model, ids, count):
    with torch.no_grad():
        return model.generate(torch.tensor([ids]), max_new_tokens=count, do_sample=False)[0, len(ids):].tolist()


@pytest.mark.parametrize("name", ["qwen3", "gemma3", "mixtral"])
def test_greedy_text_is_that_of_transformers(name, tmp_path):
    model = tiny_checkpoint.write(tmp_path, name)
    ours = llm.LLM(tmp_path, chunk=8, cache_length=128)
    done = ours.generate(PROMPT, max_tokens=40)
    assert done.tokens == expected(model, ours.encode(PROMPT), 40)
    assert done.text == ours.tokenizer.decode(done.tokens, skip_special_tokens=True)


def test_prompts_of_any_length(llama, model):
    for ids in ([5], list(range(4, 12)), list(range(4, 13)), list(range(4, 40))):
        done = llama.generate(ids, max_tokens=12)
        want = expected(model, ids, 12)
        assert done.tokens == want
        assert (done.finish_reason, done.stats.tokens) == ("stop" if want[-1] == 0 else "length", len(want))


def test_pieces_are_the_text(llama):
    stream = llama.stream(PROMPT, max_tokens=30)
    assert "".join(stream) == stream.completion.text == llama.generate(PROMPT, max_tokens=30).text
    assert stream.completion.stats.first_seconds > 0 and len(stream.completion.stats.token_seconds) == 29


def test_it_stops_where_it_is_told(llama):
    whole = llama.generate(PROMPT, max_tokens=30).text
    word = whole[10:14]
    done = llama.generate(PROMPT, max_tokens=30, stop=["never there", word])
    assert (done.text, done.finish_reason) == (whole[:whole.find(word)], "stop")


def test_the_cache_ends_a_text(folder, model):
    small = llm.LLM(folder, cache_length=16, chunk=4)
    ids = list(range(4, 14))
    assert small.generate(ids).tokens == expected(model, ids, 6)
    with pytest.raises(luminal.ArgumentError, match="the prompt has 16 tokens: the cache holds 16, the text included"):
        small.generate(list(range(4, 20)))


def test_ten_thousand_tokens(llama, monkeypatch):
    """Memory stays as it is, and nothing is compiled again."""
    monkeypatch.setattr(_cache, "compile_archive", None)
    ends, llama._engine.ends = llama._engine.ends, frozenset()
    try:
        def write(count):
            written = 0
            while written < count:
                written += llama.generate([4 + written % 300] * (1 + written % 50), max_tokens=200).stats.tokens
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        before = write(2000)
        assert write(8000) - before < 4 << 20
    finally:
        llama._engine.ends = ends


def test_chats(llama, model):
    ids = llama.encode([{"role": "user", "content": "river"}])
    special = {text: llama.tokenizer.convert_tokens_to_ids(text) for text in ("<|user|>", "<|assistant|>")}
    assert (ids[0], ids[-1]) == (special["<|user|>"], special["<|assistant|>"])
    assert llama.generate([{"role": "user", "content": "river"}], max_tokens=5).tokens == expected(model, ids, 5)


def test_draws(llama):
    def draw(**options):
        return llama.generate(PROMPT, max_tokens=25, sampling=llm.Sampling(**options)).tokens

    likeliest = draw()
    assert draw(temperature=1.0, seed=1) == draw(temperature=1.0, seed=1) != draw(temperature=1.0, seed=2)
    assert draw(temperature=2.0, top_k=1) == draw(temperature=2.0, top_p=1e-9) == likeliest
    assert draw(repetition_penalty=1e9) != likeliest


def test_what_is_left_is_what_transformers_leaves():
    """By the rows of transformers' own processors: no token is drawn that they rule out, and each other one is."""
    import transformers
    torch.manual_seed(0)
    logits, seen = torch.randn(50), [3, 4, 4, 9]
    given = {"temperature": 1.5, "top_k": 12, "top_p": 0.8, "repetition_penalty": 1.7}
    left = transformers.LogitsProcessorList([
        transformers.RepetitionPenaltyLogitsProcessor(1.7), transformers.TemperatureLogitsWarper(1.5),
        transformers.TopKLogitsWarper(12), transformers.TopPLogitsWarper(0.8)])(torch.tensor([seen]), logits[None].clone())[0]
    sampling, generator = llm.Sampling(**given), torch.Generator().manual_seed(0)
    counts = torch.bincount(torch.stack([sampling.draw(logits, seen, generator) for _ in range(4000)]), minlength=50)
    assert torch.equal(counts > 0, left > float("-inf"))
    torch.testing.assert_close(counts / 4000, left.softmax(-1), atol=0.03, rtol=0)


def test_texts_are_written_together(folder, model):
    """More than the pages hold, of unequal lengths, in one thread and in several; one is left before its end."""
    small = llm.LLM(folder, chunk=8, batch=4, page=4, pages=20, cache_length=64)
    prompts = [[4 + i] * (1 + 5 * i) for i in range(8)]
    want = [expected(model, ids, 20) for ids in prompts]
    streams = [small.stream(ids, max_tokens=20) for ids in prompts]
    left = small.stream([9, 9, 9])
    next(left)
    for _ in range(20):
        for stream in streams:
            next(stream, None)
    left.close()
    for stream in streams:
        for _ in stream:
            pass
    assert [s.completion.tokens for s in streams] == want
    assert small._engine.scheduler.evictions > 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda ids: small.generate(ids, max_tokens=20).tokens, prompts)) == want
    scheduler = small._engine.scheduler
    assert len(scheduler.free) == 20 and not scheduler.running and not scheduler.waiting


@pytest.mark.parametrize("spoil, message", [
    (lambda f: (f / "config.json").unlink(), "no checkpoint: there is no config.json"),
    (lambda f: (f / "tokenizer.json").unlink(), "there is no tokenizer.json"),
    (lambda f: next(f.glob("model-00002*")).write_bytes(b"none"), "model-00002.*: weights cannot be read"),
    (lambda f: next(f.glob("model-00001*")).unlink(), "model-00001.*: there is no such file, which model.safetensors.index.json names"),
    (lambda f: (f / "model.safetensors.index.json").write_text("{}"), "this is no index of weights"),
    (lambda f: (f / "tokenizer.json").write_text("{}"), "the tokenizer cannot be read"),
])
def test_what_is_no_checkpoint(spoil, message, folder, model, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    spoil(copy)
    with pytest.raises(luminal.ArgumentError, match=message):
        llm.LLM(copy)


@pytest.mark.parametrize("given, message", [
    ({"prompt": ""}, "the prompt is empty"), ({"prompt": [1, 320]}, "no list of one token or more below 320"),
    ({"prompt": "a", "max_tokens": -1}, "max_tokens is -1"),
])
def test_what_is_no_prompt(given, message, llama):
    with pytest.raises(luminal.ArgumentError, match=message):
        llama.generate(**given)


@pytest.mark.parametrize("name, value", [("temperature", -1.0), ("top_k", -1), ("top_p", 0.0), ("repetition_penalty", 0.0)])
def test_what_is_no_sampling(name, value):
    with pytest.raises(luminal.ArgumentError, match=f"{name} is {value}"):
        llm.Sampling(**{name: value})
