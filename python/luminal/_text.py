# ===- _text.py - luminal generate and luminal serve ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of language models: ``luminal generate`` and ``luminal serve``."""
from __future__ import annotations

import argparse
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from . import _errors

if TYPE_CHECKING:
    from .llm import LLM


def add(commands: Any) -> None:
    """Adds the commands to those of ``luminal``. Needs neither torch nor transformers."""
    generate = commands.add_parser("generate", help="generate text with a checkpoint folder")
    _add_model(generate, 1)
    generate.add_argument("--prompt", metavar="TEXT", action="append", help="beginning of the text (default: read from the standard "
                          "input); may be repeated for texts that are generated together")
    generate.add_argument("--chat", action="store_true", help="treat the prompt as a chat message, in the checkpoint's template")
    generate.add_argument("--max-tokens", type=int, default=0, metavar="N", help="maximum number of tokens (default: until the cache is full)")
    generate.add_argument("--stop", action="append", default=[], metavar="TEXT", help="end before this text; may be repeated")
    generate.add_argument("--temperature", type=float, default=0.0, metavar="T", help="0: take the most likely token (default)")
    generate.add_argument("--top-k", type=int, default=0, metavar="K", help="draw from the K most likely tokens")
    generate.add_argument("--top-p", type=float, default=1.0, metavar="P", help="draw from the most likely tokens with total probability P")
    generate.add_argument("--repetition-penalty", type=float, default=1.0, metavar="X")
    generate.add_argument("--seed", type=int, metavar="N", help="seed, for reproducible tokens")
    generate.add_argument("--quiet", action="store_true", help="print no statistics")
    serve = commands.add_parser("serve", help="serve a checkpoint folder by HTTP, with OpenAI's interface")
    _add_model(serve, 16)
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    serve.add_argument("--port", type=int, default=8000, help="port to listen on (8000; 0: a free one)")
    serve.add_argument("--max-requests", type=int, default=64, metavar="N", help="maximum number of concurrent requests; others are rejected (64)")
    serve.add_argument("--grace", type=float, default=5.0, metavar="SECONDS", help="time for finishing texts when the server stops (5)")


def _add_model(parser: argparse.ArgumentParser, batch: int) -> None:
    parser.add_argument("checkpoint", type=pathlib.Path, help="folder with config.json, *.safetensors and tokenizer.json")
    parser.add_argument("--cache-length", type=int, default=0, metavar="N", help="maximum number of tokens of a prompt and its text (default: the model's, at most 4096)")
    parser.add_argument("--chunk", type=int, default=256, metavar="N", help="number of prompt tokens in one call (256)")
    parser.add_argument("--batch", type=int, default=batch, metavar="N", help=f"number of texts that are generated concurrently ({batch})")
    parser.add_argument("--page", type=int, default=16, metavar="N", help="number of tokens in a page of the cache (16)")
    parser.add_argument("--pages", type=int, default=0, metavar="N", help="number of pages of the cache (default: for four full texts, or for --batch if less)")
    parser.add_argument("--dtype", default="auto", help="type of the weights: auto (default), float32, float16 or bfloat16")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--search-budget", type=float, default=0.0, metavar="SECONDS", help="seconds to measure what is fastest on this machine, for each variant")


def _load(args: argparse.Namespace) -> LLM:
    try:
        from .llm import LLM
    except ImportError as error:
        raise _errors.LibraryError(f"{error.name} is not installed: pip install 'luminal[llm]'") from None
    return LLM(args.checkpoint, cache_length=args.cache_length, chunk=args.chunk, batch=args.batch, page=args.page, pages=args.pages,
               dtype=args.dtype, device=args.device, search_budget=args.search_budget)


def generate(args: argparse.Namespace) -> None:
    given = args.prompt or [sys.stdin.read()]
    args.batch = max(args.batch, len(given))
    model = _load(args)
    from .llm import Sampling

    options = {"max_tokens": args.max_tokens, "stop": args.stop,
               "sampling": Sampling(args.temperature, args.top_k, args.top_p, args.repetition_penalty, args.seed)}
    prompts = [[{"role": "user", "content": text}] if args.chat else text for text in given]
    begins = ["" if args.chat else text for text in given]
    if len(prompts) == 1:
        stream = model.stream(prompts[0], **options)
        print(begins[0], end="")
        for piece in stream:
            print(piece, end="", flush=True)
        print()
        done = [stream.completion]
    else:
        done = model.generate_many(prompts, **options)
        print("\n\n".join(begin + completion.text for begin, completion in zip(begins, done)))
    if not args.quiet:
        on_gpu = f", {model.device_memory() / 2**20:.0f} MiB of the GPU" if model.device_memory() else ""
        for completion in done:
            print(f"luminal: {completion.stats}", file=sys.stderr)
        print(f"luminal: loaded in {model.load_seconds:.1f} s, compiled in {model.compile_seconds:.1f} s, "
              f"{model.memory() / 2**20:.0f} MiB{on_gpu}", file=sys.stderr)


def serve(args: argparse.Namespace) -> None:
    try:
        from .llm import _server
    except ImportError as error:
        raise _errors.LibraryError(f"{error.name} is not installed: pip install 'luminal[serve]'") from None
    _server.run(_load(args), args.host, args.port, args.max_requests, args.grace)
