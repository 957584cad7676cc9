# ===- _checkpoint.py - Models in the layout of Hugging Face ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a checkpoint folder: ``config.json``, weights in ``.safetensors`` files with or without an index, and a
tokenizer. A missing or broken file raises one error that names it. Nothing is downloaded."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import safetensors
import torch
import transformers

from .. import _errors
from . import _transfers


@dataclasses.dataclass
class Checkpoint:
    """The contents of a checkpoint folder."""

    name: str
    model: transformers.PreTrainedModel
    tokenizer: Any
    ends: frozenset[int]
    """Tokens that end a text."""
    vocabulary: int
    """Number of tokens in the vocabulary."""


def read(path: pathlib.Path, dtype: str, device: torch.device) -> Checkpoint:
    """Reads a checkpoint. Raises ArgumentError if the folder is not a checkpoint of a causal language model."""
    if not (path / "config.json").is_file():
        raise _errors.ArgumentError(f"{path}: not a checkpoint: there is no config.json")
    try:
        json.loads((path / "config.json").read_text())
    except ValueError as error:
        raise _errors.ArgumentError(f"{path / 'config.json'}: this is not JSON: {error}") from None
    known = ("auto", "float32", "float16", "bfloat16")
    if dtype not in known:
        raise _errors.ArgumentError(f"dtype is {dtype!r}: expected one of {', '.join(known)}")
    files = _check_weights(path)
    with _quiet():
        tokenizer = _read_tokenizer(path)
        try:
            model = _load(path, files, dtype if dtype == "auto" else getattr(torch, dtype), device)
        except _errors.LuminalError:
            raise
        except Exception as error:  # transformers has no exception class for this
            raise _errors.ArgumentError(f"{path}: transformers cannot load the model: {_errors.sentence(error)}") from error
    # Calls would check each weight if one of them could be differentiated.
    model = model.eval().requires_grad_(False)  # type: ignore[no-untyped-call]
    embedding: Any = model.get_input_embeddings()
    return Checkpoint(path.resolve().name, model, tokenizer, _ends(model), embedding.weight.shape[0])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Disables transformers' progress bars and warnings, because problems are errors here."""
    log: Any = transformers.utils.logging
    shows_progress, verbosity = log.is_progress_bar_enabled(), log.get_verbosity()
    log.disable_progress_bar()
    log.set_verbosity_error()
    try:
        yield
    finally:
        log.set_verbosity(verbosity)
        if shows_progress:
            log.enable_progress_bar()


def _load(path: pathlib.Path, files: list[pathlib.Path], dtype: Any, device: torch.device) -> transformers.PreTrainedModel:
    if device.type == "cpu":
        return _whole(path, transformers.AutoModelForCausalLM.from_pretrained(
            path, dtype=dtype, local_files_only=True, output_loading_info=True))
    return _load_to(path, files, dtype, _transfers.Uploader(device))


def _load_to(path: pathlib.Path, files: list[pathlib.Path], dtype: Any, uploader: _transfers.Uploader) -> transformers.PreTrainedModel:
    """Loads the model on a device, where weights are also converted and joined if necessary. The host only holds the
    uploader's chunks. Quantised checkpoints are prepared on the host."""
    config = transformers.AutoConfig.from_pretrained(path, local_files_only=True)
    if getattr(config, "quantization_config", None) is not None:
        model = _load(path, files, dtype, torch.device("cpu"))
    else:
        kind: Any = transformers.MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
        with contextlib.ExitStack() as stack:
            opened = [stack.enter_context(safetensors.safe_open(file, "pt")) for file in files]
            sources = {name: _transfers.Source(file.get_slice(name), uploader) for file in opened for name in file.keys()}
            model = _whole(path, kind.from_pretrained(None, config=config, state_dict=sources, dtype=dtype, output_loading_info=True))
        if (path / "generation_config.json").is_file():
            model.generation_config = transformers.GenerationConfig.from_pretrained(path, local_files_only=True)
    _transfers.move(model, uploader)
    if uploader.device.type == "cuda":
        torch.cuda.empty_cache()  # frees the parts of joined weights
    return model


def _whole(path: pathlib.Path, loaded: tuple[transformers.PreTrainedModel, Any]) -> transformers.PreTrainedModel:
    """Refuses models for which files lack weights: transformers would initialise these at random."""
    model, info = loaded
    missing = sorted(info["missing_keys"])
    if missing:
        raise _errors.ArgumentError(f"{path}: {len(missing)} of the model's weights are in no file: {', '.join(missing[:3])}")
    return model


def _check_weights(path: pathlib.Path) -> list[pathlib.Path]:
    """The files of weights. Checks that each can be read, and that all files named by the index exist."""
    index = path / "model.safetensors.index.json"
    files = [file for file in [path / "model.safetensors"] if file.is_file()]
    if index.is_file():
        try:
            files = [path / name for name in sorted(set(json.loads(index.read_text())["weight_map"].values()))]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _errors.ArgumentError(f"{index}: this is not an index of weights") from None
    if not files:
        raise _errors.ArgumentError(f"{path}: there are no weights (model.safetensors, or its index)")
    for file in files:
        if not file.is_file():
            raise _errors.ArgumentError(f"{file}: there is no such file, which {index.name} names")
        try:
            with safetensors.safe_open(file, "pt"):
                pass
        except (OSError, safetensors.SafetensorError) as error:
            raise _errors.ArgumentError(f"{file}: weights cannot be read: {error}") from None
    return files


def _read_tokenizer(path: pathlib.Path) -> Any:
    if not (path / "tokenizer.json").is_file():
        raise _errors.ArgumentError(f"{path}: there is no tokenizer.json")
    try:
        return transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    except Exception as error:  # transformers has no exception class for this
        raise _errors.ArgumentError(f"{path}: the tokenizer cannot be read: {_errors.sentence(error)}") from error


def _ends(model: transformers.PreTrainedModel) -> frozenset[int]:
    for config in (model.generation_config, model.config.get_text_config()):
        ends = getattr(config, "eos_token_id", None)
        if ends is not None:
            return frozenset(ends if isinstance(ends, list) else [ends])
    return frozenset()
