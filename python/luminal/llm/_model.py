# ===- _model.py - A checkpoint that writes text --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``luminal.LLM``: from a checkpoint folder to generated text."""
from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import resource
import statistics
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import torch
from tokenizers.decoders import DecodeStream

from .. import _errors
from . import _checkpoint
from ._engine import Engine, Text
from ._pages import Steps
from ._sampling import Sampling
from ._scheduler import Scheduler

Prompt = str | Sequence[int] | Sequence[Mapping[str, str]]


@dataclasses.dataclass
class Stats:
    """Times and token counts of one text."""

    prompt_tokens: int = 0
    tokens: int = 0
    first_seconds: float = 0.0
    """Time from the call to the first token (TTFT)."""
    token_seconds: list[float] = dataclasses.field(default_factory=list)
    """Time of each later token."""

    @property
    def seconds_per_token(self) -> float:
        """The median time of the later tokens (TPOT); 0 if there are none."""
        return statistics.median(self.token_seconds) if self.token_seconds else 0.0

    def __str__(self) -> str:
        rate = f", {1 / self.seconds_per_token:.1f} tokens/s" if self.seconds_per_token else ""
        return (f"{self.prompt_tokens} tokens in, {self.tokens} out: the first after {self.first_seconds * 1e3:.1f} ms, "
                f"then {self.seconds_per_token * 1e3:.2f} ms each{rate}")


@dataclasses.dataclass
class Completion:
    """A generated text."""

    text: str
    tokens: list[int]
    finish_reason: str
    """"stop": an end token or a stop string; "length": the maximum number of tokens."""
    stats: Stats


def _find_device(device: str | torch.device) -> torch.device:
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        raise _errors.DeviceError(f"device {str(device)!r} cannot be used: {_errors.sentence(error)}") from None
    return found


class LLM:
    """A compiled causal language model from a checkpoint folder (``config.json``, ``*.safetensors``, ``tokenizer.json``).

    Weights are read once. Keys and values are stored in pages that all texts share, and are written in place. Prompts are
    processed in chunks. Texts that are requested concurrently, from any threads, are generated in one batch.
    """

    def __init__(self, path: str | os.PathLike[str], *, cache_length: int = 0, chunk: int = 256, batch: int = 16, page: int = 16,
                 pages: int = 0, dtype: str = "auto", device: str | torch.device = "cpu", **options: Any) -> None:
        """``cache_length``: maximum number of tokens of a prompt and its text together (0: as many as the model has
        positions, at most 4096). ``chunk``: number of prompt tokens in one call. ``batch``: number of texts that are
        generated concurrently; others wait. ``page``: number of tokens in a page of the cache. ``pages``: number of pages
        (0: enough for four texts of full length, or for ``batch`` texts if that is less). ``dtype``: type of the weights
        ("auto": as in the checkpoint). ``options``: of ``luminal.compile``. Raises ArgumentError if the folder is not a
        checkpoint."""
        for name, value, least in (("cache_length", cache_length, 0), ("chunk", chunk, 1), ("batch", batch, 1), ("page", page, 1),
                                   ("pages", pages, 0)):
            if value < least:
                raise _errors.ArgumentError(f"{name} is {value}: expected {least} or more")
        began = time.perf_counter()
        self._device = _find_device(device)
        if self._device.type == "cuda":
            torch.cuda.empty_cache()  # memory that another model left behind does not count for this one
        self._free, self._allocated = self._count_memory()
        self._checkpoint = _checkpoint.read(pathlib.Path(path), dtype, self._device)
        self.name, self.tokenizer = self._checkpoint.name, self._checkpoint.tokenizer
        positions = getattr(self._checkpoint.model.config.get_text_config(), "max_position_embeddings", None)
        if cache_length and positions and cache_length > positions:
            raise _errors.ArgumentError(f"cache_length is {cache_length}: the model has {positions} positions")
        self._length = cache_length or min(positions or 4096, 4096)
        needed = -(-self._length // page)
        pages = pages or needed * min(batch, 4)
        if pages < needed:
            raise _errors.ArgumentError(f"pages is {pages}: a text of {self._length} tokens needs {needed}")
        loaded = time.perf_counter()
        chunk = min(chunk, self._length)
        self._steps = Steps(self._checkpoint.model, pages, page, self._length, chunk, batch, **options)
        self._engine = Engine(self._steps, Scheduler(pages, page, batch, chunk), self._checkpoint.ends)
        self.load_seconds, self.compile_seconds = loaded - began, time.perf_counter() - loaded

    @property
    def cache_length(self) -> int:
        """Maximum number of tokens of a prompt and its text together."""
        return self._length

    @property
    def compiled(self) -> Any:
        """The compiled step, with its report, profile and program."""
        return self._steps.compiled

    def encode(self, prompt: Prompt) -> list[int]:
        """The tokens of a text, or of the messages of a chat in the checkpoint's template. Raises ArgumentError for
        tokens that the model does not have, and if the tokens and one more do not fit into the cache."""
        if isinstance(prompt, str):
            ids: list[int] = self.tokenizer(prompt)["input_ids"]
        elif prompt and isinstance(prompt[0], Mapping):
            if getattr(self.tokenizer, "chat_template", None) is None:
                raise _errors.ArgumentError(f"{self.name}: the checkpoint has no chat template")
            try:
                ids = self.tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=True, return_dict=True)["input_ids"]
            except Exception as error:  # any exception of the template
                raise _errors.ArgumentError(f"the chat template refuses the messages: {_errors.sentence(error)}") from error
        else:
            ids = list(prompt)  # type: ignore[arg-type]
        size = self._checkpoint.vocabulary
        if not ids or not all(type(i) is int and 0 <= i < size for i in ids):
            raise _errors.ArgumentError(f"the prompt is not a list of one or more tokens below {size}" if ids else "the prompt is empty")
        if len(ids) >= self.cache_length:
            raise _errors.ArgumentError(f"the prompt has {len(ids)} tokens: the cache holds {self.cache_length}, including the generated text")
        return ids

    def generate(self, prompt: Prompt, *, max_tokens: int = 0, stop: Sequence[str] = (), sampling: Sampling | None = None) -> Completion:
        """Generates a text until its end token, until one of the strings in ``stop`` (which the text excludes), or until
        ``max_tokens`` (0: until the cache is full)."""
        stream = self.stream(prompt, max_tokens=max_tokens, stop=stop, sampling=sampling)
        for _ in stream:
            pass
        return stream.completion

    def generate_many(self, prompts: Sequence[Prompt], *, max_tokens: int = 0, stop: Sequence[str] = (),
                      sampling: Sampling | None = None) -> list[Completion]:
        """Generates a text for each prompt, in one batch."""
        streams = [self.stream(prompt, max_tokens=max_tokens, stop=stop, sampling=sampling) for prompt in prompts]
        try:
            for stream in streams:
                stream._begin()
            for stream in streams:
                for _ in stream:
                    pass
        finally:
            for stream in streams:
                stream.close()
        return [stream.completion for stream in streams]

    def stream(self, prompt: Prompt, *, max_tokens: int = 0, stop: Sequence[str] = (), sampling: Sampling | None = None) -> Stream:
        """Like ``generate``, but yields the text piece by piece as it is generated."""
        if max_tokens < 0:
            raise _errors.ArgumentError(f"max_tokens is {max_tokens}: expected 0 or more")
        ids = self.encode(prompt)
        room = self.cache_length - len(ids)
        return Stream(self, ids, min(max_tokens, room) if max_tokens else room, [s for s in stop if s], sampling or Sampling())

    def memory(self) -> int:
        """Peak host memory of the process, in bytes."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def device_memory(self) -> int:
        """Bytes of GPU memory allocated since the model was requested, by this process or another one; at least the bytes
        that PyTorch's allocator handed out since, possibly from memory it already had. 0 on the host."""
        free, allocated = self._count_memory()
        return max(0, self._free - free, allocated - self._allocated)

    def _count_memory(self) -> tuple[int, int]:
        """Free bytes of the GPU, and bytes of this process's tensors."""
        if self._device.type != "cuda":
            return 0, 0
        return int(torch.cuda.mem_get_info(self._device)[0]), torch.cuda.memory_allocated(self._device)


class Stream(Iterator[str]):
    """The pieces of a text. ``completion`` is the text generated so far."""

    def __init__(self, llm: LLM, ids: list[int], count: int, stop: list[str], sampling: Sampling) -> None:
        self.completion = Completion("", [], "length", Stats(len(ids)))
        self._llm, self._ids, self._count, self._stop, self._sampling = llm, ids, count, stop, sampling
        self._began = time.perf_counter()
        self._text: Text | None = None
        self._pieces = self._write()

    def __next__(self) -> str:
        return next(self._pieces)

    def close(self) -> None:
        """Ends the text here, so that other texts can be generated."""
        self._pieces.close()
        if self._text is not None:
            self._llm._engine.drop(self._text)

    def _begin(self) -> Text:
        """Starts to generate the text together with the others."""
        if self._text is None:
            text = Text(list(self._ids), len(self._ids) + self._count, sampling=self._sampling)
            self._llm._engine.add(text)
            self._text = text
        return self._text

    def _write(self) -> Generator[str, None, None]:
        # A piece that may be the beginning of a stop string is held back.
        held, done, is_cut = "", self.completion, False
        decode, tokenizer = DecodeStream(skip_special_tokens=True), self._llm.tokenizer.backend_tokenizer
        with contextlib.closing(self._tokens()) as tokens:
            for token in tokens:
                done.tokens.append(token)
                if token in self._llm._engine.ends:
                    done.finish_reason = "stop"
                    break
                held += decode.step(tokenizer, token) or ""
                found = [at for at in map(held.find, self._stop) if at >= 0]
                if found:
                    done.finish_reason, held, is_cut = "stop", held[:min(found)], True
                    break
                safe = len(held) - max((k for s in self._stop for k in range(1, len(s)) if held.endswith(s[:k])), default=0)
                if safe:
                    piece, held = held[:safe], held[safe:]
                    done.text += piece
                    yield piece
        if not is_cut:  # the bytes of an incomplete character
            whole = self._llm.tokenizer.decode(done.tokens, skip_special_tokens=True)
            held = whole[len(done.text):] if whole.startswith(done.text + held) else held
        if held:
            done.text += held
            yield held

    def _tokens(self) -> Generator[int, None, None]:
        engine, stats = self._llm._engine, self.completion.stats
        text = self._begin()
        try:
            last = self._began
            while (taken := engine.take(text)) is not None:
                token, at = taken
                stats.tokens += 1
                if stats.tokens == 1:
                    stats.first_seconds = at - last
                else:
                    stats.token_seconds.append(at - last)
                yield token
                # Do not count the time during which no token was requested.
                last = at if text.written else time.perf_counter()
        finally:
            engine.drop(text)
