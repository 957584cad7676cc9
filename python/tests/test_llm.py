# ===- test_llm.py - Checkpoints that write text --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import conftest
import luminal
import pytest
import safetensors.torch
import tiny_checkpoint
import torch
import transformers
from luminal import _cache, _capi, llm
from luminal.llm import _checkpoint, _sampling, _transfers

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


@pytest.fixture
def freed_at_once():
    """Large blocks return to the system when they are freed. By default glibc raises the threshold for such blocks, and
    then each arena (transformers loads in threads) keeps up to 64 MiB, which malloc_trim does not return."""
    M_MMAP_THRESHOLD = -3
    assert ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 << 10)


def resident():
    """Resident memory of the process in bytes, without memory that malloc caches."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def private():
    """The same without file-backed pages, which the system may reclaim at any time."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        _, there, shared, *_ = map(int, file.read().split())
    return (there - shared) * os.sysconf("SC_PAGE_SIZE")


def expected(model, ids, count):
    with torch.no_grad():
        return model.generate(torch.tensor([ids]), max_new_tokens=count, do_sample=False)[0, len(ids):].tolist()


@pytest.fixture(params=[0, 1], ids=["read at once", "read late"])
def lag(request, llama, monkeypatch):
    """Number of steps by which reading tokens lags behind; 1 on a GPU."""
    monkeypatch.setattr(llama._engine, "lag", request.param)
    return request.param


def test_prompts_of_any_length(llama, model, lag):
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
    with pytest.raises(luminal.ArgumentError, match="the prompt has 16 tokens: the cache holds 16, including the generated text"):
        small.generate(list(range(4, 20)))


def test_ten_thousand_tokens(llama, monkeypatch):
    """Memory does not grow, and nothing is compiled again."""
    monkeypatch.setattr(_cache, "compile_archive", None)
    ends, llama._engine.ends = llama._engine.ends, frozenset()
    try:
        def write(count):
            written = 0
            while written < count:
                written += llama.generate([4 + written % 300] * (1 + written % 50), max_tokens=200).stats.tokens
            return resident()

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
    """Compares with transformers' processors: tokens that they exclude are never drawn, and every other one is."""
    torch.manual_seed(0)
    logits, seen = torch.randn(50), [3, 4, 4, 9]
    given = {"temperature": 1.5, "top_k": 12, "top_p": 0.8, "repetition_penalty": 1.7}
    left = transformers.LogitsProcessorList([
        transformers.RepetitionPenaltyLogitsProcessor(1.7), transformers.TemperatureLogitsWarper(1.5),
        transformers.TopKLogitsWarper(12), transformers.TopPLogitsWarper(0.8)])(torch.tensor([seen]), logits[None].clone())[0]
    has, count = torch.zeros(50, dtype=torch.bool).index_fill(0, torch.tensor(seen), True), 4000
    drawn = _sampling.draw(logits.expand(count, 50), [llm.Sampling(**given)] * count, [i / count for i in range(count)],
                           has.expand(count, 50))
    counts = torch.bincount(drawn, minlength=50)
    assert torch.equal(counts > 0, left > float("-inf"))
    torch.testing.assert_close(counts / 4000, left.softmax(-1), atol=1e-3, rtol=0)


@pytest.mark.parametrize("lag", [0, 1])
def test_texts_are_written_together(lag, folder, model, llama):
    """More texts than the pages hold, of different lengths, from one thread and from several; one is abandoned, some are
    sampled."""
    small = llm.LLM(folder, chunk=8, batch=4, page=4, pages=20, cache_length=64)
    small._engine.lag = lag
    prompts = [[4 + i] * (1 + 5 * i) for i in range(8)]
    want = [expected(model, ids, 20) for ids in prompts]
    drawn = [llm.Sampling(), llm.Sampling(temperature=1.0, seed=3), llm.Sampling(repetition_penalty=2.0),
             llm.Sampling(temperature=0.7, top_k=9, top_p=0.9, repetition_penalty=1.5, seed=4)] * 2
    alone = [llama.generate(ids, max_tokens=20, sampling=how).tokens for ids, how in zip(prompts, drawn)]
    streams = [small.stream(ids, max_tokens=20) for ids in prompts]
    streams += [small.stream(ids, max_tokens=20, sampling=how) for ids, how in zip(prompts, drawn)]
    left = small.stream([9, 9, 9])
    next(left)
    for _ in range(20):
        for stream in streams:
            next(stream, None)
    left.close()
    for stream in streams:
        for _ in stream:
            pass
    assert [s.completion.tokens for s in streams] == want + alone
    assert small._engine.scheduler.evictions > 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda ids: small.generate(ids, max_tokens=20).tokens, prompts)) == want
    scheduler = small._engine.scheduler
    assert len(scheduler.free) == 20 and not scheduler.running and not scheduler.waiting


def test_a_text_for_each_prompt(llama):
    prompts = [PROMPT, [5], [4 + i for i in range(20)]]
    with pytest.raises(luminal.ArgumentError, match="the prompt is empty"):
        llama.generate_many([*prompts, ""])
    assert not llama._engine.scheduler.waiting and not llama._engine.scheduler.running
    done = llama.generate_many(prompts, max_tokens=20)
    assert [d.tokens for d in done] == [llama.generate(p, max_tokens=20).tokens for p in prompts]
    assert llama.generate_many([]) == [] and not llama._engine.scheduler.running


def test_sixty_four_texts_of_one_artifact(folder, llama, monkeypatch):
    """The same program serves any number of texts."""
    wide, sizes = llm.LLM(folder, chunk=16, batch=64, page=8, pages=1216, cache_length=152), set()
    run = wide._steps.run
    monkeypatch.setattr(wide._steps, "run", lambda *args: sizes.add(len(args[0])) or run(*args))
    monkeypatch.setattr(_cache, "compile_archive", None)
    for each in (wide, llama):
        monkeypatch.setattr(each._engine, "ends", frozenset())
    prompts = [[4 + i] * (1 + i % 5) for i in range(70)]
    streams = [wide.stream(ids, max_tokens=140) for ids in prompts]
    for stream in streams * 140:
        next(stream, None)
    for stream in streams:
        for _ in stream:
            pass
    assert [s.completion.tokens for s in streams] == [llama.generate(ids, max_tokens=140).tokens for ids in prompts]
    assert sizes >= set(range(1, 65))


def test_steps_do_not_wait_for_tokens(llama, lag, monkeypatch):
    """If tokens are read late, each step of a text except for the first starts before the tokens of the previous one are
    read."""
    unread, run = [], llama._steps.run
    monkeypatch.setattr(llama._steps, "run", lambda *args: unread.append(len(llama._engine._unread)) or run(*args))
    done = llama.generate(list(range(4, 20)), max_tokens=9)
    assert len(done.tokens) == 9 and unread == [0] * 2 + [lag] * 8
    # At most one further step was started after the end of the text.
    unread.clear()
    monkeypatch.setattr(llama._engine, "ends", frozenset([done.tokens[4]]))
    first = done.tokens.index(done.tokens[4]) + 1
    assert llama.generate(list(range(4, 20)), max_tokens=9).tokens == done.tokens[:first] and len(unread) == 1 + first + lag


def test_host_runs_as_many_calls_for_a_late_token_as_for_an_early_one(llama, lag, monkeypatch):
    monkeypatch.setattr(llama._engine, "ends", frozenset())
    stream, counts = llama.stream([5, 6, 7], max_tokens=240), []
    for _ in range(200):
        count = 0

        def note(frame, event, argument):
            nonlocal count
            count += event in ("call", "c_call")

        tokens = len(stream.completion.tokens)
        sys.setprofile(note)
        try:
            next(stream)  # some tokens do not complete a piece of text
        finally:
            sys.setprofile(None)
        if len(stream.completion.tokens) == tokens + 1:
            counts.append(count)
        if len(stream.completion.tokens) > 230:
            break
    stream.close()
    early, late = sorted(counts[5:25])[10], sorted(counts[-20:])[10]
    assert abs(late - early) <= 2 and early < 160


class Mapped(torch.nn.Module):
    def __init__(self, tensors):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_parameter(name, torch.nn.Parameter(tensor, False))
        self.tied = self.large
        self.register_buffer("also", torch.arange(3))


def test_the_page_s_programs_write_the_same_text(folder, model, tmp_path, monkeypatch, capsys):
    """Compiles the page's examples: from the checkpoint to an artifact, and from that to tokens in C."""
    text = (conftest.ROOT / "docs/LanguageModels.md").read_text()
    text = text[text.index("## Without Python"):]
    save, write = (re.search(rf"```{kind}\n(.*?)```", text, re.S).group(1) for kind in ("python", "c"))
    monkeypatch.chdir(tmp_path)
    exec(save.replace('"Llama-3.2-1B"', repr(str(folder))).replace("512", "64"), {})
    ids = capsys.readouterr().out.split()
    (tmp_path / "write.c").write_text(write)
    library = pathlib.Path(_capi.library()._name).resolve()  # it contains the runtime's functions too
    subprocess.run(["cc", "-Wall", "-Werror", "write.c", f"-I{conftest.ROOT}/include", library, f"-Wl,-rpath,{library.parent}", "-o", "write"],
                   check=True)
    out = subprocess.run(["./write", "llama.lum", "20", *ids], check=True, capture_output=True, text=True).stdout
    assert list(map(int, out.split())) == expected(model, list(map(int, ids)), 20)


def test_weights_are_moved_by_chunks(tmp_path, freed_at_once):
    """The host holds at most two chunks of the weights at a time: pages of the file are released."""
    made = {"large": torch.randn(24 << 20), "odd": torch.randn(7, 1234567)[:, :1000003].contiguous(), "none": torch.empty(0)}
    safetensors.torch.save_file(made, tmp_path / "weights.safetensors")
    model = Mapped(safetensors.torch.load_file(tmp_path / "weights.safetensors"))
    kept, size = model.large, sum(t.nbytes for t in made.values())
    model.columns = torch.nn.ParameterList([torch.nn.Parameter(torch.full((300, 500), float(i)).t(), False) for i in range(8)])

    before = resident()
    _transfers.move(model, _transfers.Uploader(torch.device("cpu"), chunk=1 << 20))
    assert resident() - before < 1.25 * size
    assert model.large is kept is model.tied
    for name, tensor in made.items():
        assert torch.equal(getattr(model, name), tensor)
    assert model.also.tolist() == [0, 1, 2] and [column.unique().tolist() for column in model.columns] == [[i] for i in range(8)]


@pytest.mark.parametrize("name, dtype", [("llama", "auto"), ("llama", "bfloat16"), ("mixtral", "auto"), ("gemma3_images", "auto")])
def test_a_device_is_given_what_the_host_would_have(name, dtype, tmp_path):
    """Also if weights are converted, or the experts of a layer joined."""
    tiny_checkpoint.write(tmp_path, name)
    kind = dtype if dtype == "auto" else getattr(torch, dtype)
    files = _checkpoint._check_weights(tmp_path)
    want = _checkpoint._load(tmp_path, files, kind, torch.device("cpu"))
    got = _checkpoint._load_to(tmp_path, files, kind, _transfers.Uploader(torch.device("cpu"), chunk=1000))
    assert type(got) is type(want) and _checkpoint._ends(got) == _checkpoint._ends(want)
    left = dict(got.state_dict())
    for key, tensor in want.state_dict().items():
        assert torch.equal(left.pop(key), tensor), key
    assert not left and all(a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(got.buffers(), want.buffers(), strict=True))


def test_the_host_does_not_have_what_is_joined_on_a_device(tmp_path, freed_at_once):
    """If the device is the host, the weights are in memory once."""
    config = transformers.MixtralConfig(**tiny_checkpoint._SIZES | {"intermediate_size": 40000}, num_local_experts=4, num_experts_per_tok=2)
    transformers.MixtralForCausalLM(config).save_pretrained(tmp_path)
    files = _checkpoint._check_weights(tmp_path)

    def load():
        before = private()
        model = _checkpoint._load_to(tmp_path, files, "auto", _transfers.Uploader(torch.device("cpu"), chunk=1 << 20))
        return private() - before, sum(p.nbytes for p in model.parameters())

    # The first load also imports modules.
    (_, size), (taken, _) = load(), load()
    assert size > 200 << 20 and taken < 1.25 * size


def test_weights_on_the_host_are_mapped(folder, llama):
    """There is no copy of the weights, even after the program has run."""
    llama.generate([4, 5], max_tokens=3)
    with open("/proc/self/maps") as file:
        spans = [tuple(int(at, 16) for at in line.split()[0].split("-")) for line in file if str(folder) in line]
    for parameter in llama._checkpoint.model.parameters():
        assert any(begin <= parameter.data_ptr() and parameter.data_ptr() + parameter.nbytes <= end for begin, end in spans)


def test_tensors_of_a_step_are_one_copy():
    parts = [[[1, 2, 3]], [], [7], [[4], [5]]]
    tensors = _transfers.upload(parts, torch.device("cpu"))
    assert [tensor.tolist() for tensor in tensors] == parts
    assert len({tensor.untyped_storage().data_ptr() for tensor in tensors}) == 1
    assert all((tensor.data_ptr() - tensors[0].data_ptr()) % 64 == 0 and tensor.is_contiguous() for tensor in tensors)


def forget(folder, name):
    index = folder / "model.safetensors.index.json"
    file = folder / json.loads(index.read_text())["weight_map"][name]
    safetensors.torch.save_file({key: value for key, value in safetensors.torch.load_file(file).items() if key != name}, file,
                                metadata={"format": "pt"})


@pytest.mark.parametrize("spoil, message", [
    (lambda f: (f / "config.json").unlink(), "not a checkpoint: there is no config.json"),
    (lambda f: (f / "config.json").write_text("{"), "config.json: this is not JSON: "),
    (lambda f: (f / "tokenizer.json").unlink(), "there is no tokenizer.json"),
    (lambda f: next(f.glob("model-00002*")).write_bytes(b"none"), "model-00002.*: weights cannot be read"),
    (lambda f: next(f.glob("model-00001*")).unlink(), "model-00001.*: there is no such file, which model.safetensors.index.json names"),
    (lambda f: (f / "model.safetensors.index.json").write_text("{}"), "this is not an index of weights"),
    (lambda f: (f / "model.safetensors.index.json").unlink(), "there are no weights .model.safetensors, or its index"),
    (lambda f: next(f.glob("model-00002*")).write_bytes(next(f.glob("model-00002*")).read_bytes()[:-9]), "model-00002.*: weights cannot be read"),
    (lambda f: forget(f, "model.norm.weight"), "1 of the model's weights are in no file: model.norm.weight"),
    (lambda f: (f / "tokenizer.json").write_text("{}"), "the tokenizer cannot be read"),
])
def test_what_is_no_checkpoint(spoil, message, folder, model, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    spoil(copy)
    with pytest.raises(luminal.ArgumentError, match=message):
        llm.LLM(copy)


@pytest.mark.parametrize("given, message", [
    ({"prompt": ""}, "the prompt is empty"), ({"prompt": [1, 320]}, "not a list of one or more tokens below 320"),
    ({"prompt": "a", "max_tokens": -1}, "max_tokens is -1"),
])
def test_what_is_no_prompt(given, message, llama):
    with pytest.raises(luminal.ArgumentError, match=message):
        llama.generate(**given)


@pytest.mark.parametrize("name, value", [("temperature", -1.0), ("top_k", -1), ("top_p", 0.0), ("repetition_penalty", 0.0)])
def test_what_is_no_sampling(name, value):
    with pytest.raises(luminal.ArgumentError, match=f"{name} is {value}"):
        llm.Sampling(**{name: value})
