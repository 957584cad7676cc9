# ===- _checkpoint.py - Models in the layout of Hugging Face ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a checkpoint folder: ``config.json``, weights in ``.safetensors`` files with or without an index, a tokenizer. What
is missing or broken is one error that names the file; nothing is looked for on the network."""
from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import safetensors
import torch
import transformers

from .. import _errors
from . import _transfers


@dataclasses.dataclass
class Checkpoint:
    """What a folder holds."""

    name: str
    model: transformers.PreTrainedModel
    tokenizer: Any
    ends: frozenset[int]
    """Tokens that end a text."""
    vocabulary: int
    """So many tokens there are."""


def read(path: pathlib.Path, dtype: str, device: torch.device) -> Checkpoint:
    """Raises ArgumentError for a folder that is no checkpoint of a causal language model."""
    if not (path / "config.json").is_file():
        raise _errors.ArgumentError(f"{path}: no checkpoint: there is no config.json")
    _check_weights(path)
    tokenizer = _read_tokenizer(path)
    known = ("auto", "float32", "float16", "bfloat16")
    if dtype not in known:
        raise _errors.ArgumentError(f"dtype is {dtype!r}: expected one of {', '.join(known)}")
    shows_progress = transformers.utils.logging.is_progress_bar_enabled()
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            path, dtype=dtype if dtype == "auto" else getattr(torch, dtype), local_files_only=True)
    except Exception as error:  # transformers has no error of its own for it
        raise _errors.ArgumentError(f"{path}: transformers cannot load the model: {_errors.sentence(error)}") from error
    finally:
        if shows_progress:
            transformers.utils.logging.enable_progress_bar()  # type: ignore[no-untyped-call]
    # A call looks at each weight where one may be differentiated.
    model = model.eval().requires_grad_(False)  # type: ignore[no-untyped-call]
    if device.type != "cpu":
        _transfers.move(model, device)
    embedding: Any = model.get_input_embeddings()
    return Checkpoint(path.resolve().name, model, tokenizer, _ends(model), embedding.weight.shape[0])


def _check_weights(path: pathlib.Path) -> None:
    """Each file of weights can be read, and all that the index names are there."""
    index = path / "model.safetensors.index.json"
    files = sorted(path.glob("*.safetensors"))
    if index.is_file():
        try:
            files = [path / name for name in sorted(set(json.loads(index.read_text())["weight_map"].values()))]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _errors.ArgumentError(f"{index}: this is no index of weights") from None
    if not files:
        raise _errors.ArgumentError(f"{path}: there are no weights (.safetensors)")
    for file in files:
        if not file.is_file():
            raise _errors.ArgumentError(f"{file}: there is no such file, which {index.name} names")
        try:
            with safetensors.safe_open(file, "pt"):
                pass
        except (OSError, safetensors.SafetensorError) as error:
            raise _errors.ArgumentError(f"{file}: weights cannot be read: {error}") from None


def _read_tokenizer(path: pathlib.Path) -> Any:
    if not (path / "tokenizer.json").is_file():
        raise _errors.ArgumentError(f"{path}: there is no tokenizer.json")
    try:
        return transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    except Exception as error:  # transformers has no error of its own for it
        raise _errors.ArgumentError(f"{path}: the tokenizer cannot be read: {_errors.sentence(error)}") from error


def _ends(model: transformers.PreTrainedModel) -> frozenset[int]:
    for config in (model.generation_config, model.config.get_text_config()):
        ends = getattr(config, "eos_token_id", None)
        if ends is not None:
            return frozenset(ends if isinstance(ends, list) else [ends])
    return frozenset()
