# ===- _options.py - Options of a compile ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of ``torch.compile(options={...})`` and of ``luminal.compile(..., **options)``."""
from __future__ import annotations

import dataclasses
import inspect
import os
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar

from . import _errors

# The options that each mode of torch.compile sets, unless they are given. A call can be captured in one CUDA graph in all
# modes.
_SEARCH = {"search_budget": 30.0}
MODES: dict[str, dict[str, Any]] = {
    "default": {}, "lite": {}, "reduce-overhead": {}, "max-autotune": _SEARCH, "max-autotune-no-cudagraphs": _SEARCH}


def _is_of_inductor(name: str) -> bool:
    try:
        import torch._inductor
    except ImportError:
        return False
    return name.replace("-", "_") in torch._inductor.list_options()


class OptionValues(TypedDict, total=False):
    """The options as keyword arguments, for type checkers and editors. ``Options`` documents them and their defaults."""

    device: str
    arch: str
    precision: Literal["exact", "rounding", "finite"]
    rules: Sequence[str | os.PathLike[str]]
    kernels: Sequence[str | os.PathLike[str]]
    rule_sets: Sequence[str]
    workers: int
    max_nodes: int
    search_budget: float
    search_candidates: int
    seed: int
    variants: Sequence[str]
    find_variants: str
    sample_inputs: Sequence[str | os.PathLike[str]]
    threads: int
    check_kernels: bool
    plan_cache: str
    report: str
    prepare: bool
    in_place: bool
    freeze: bool
    fallback: Literal["eager", "error"]
    cache: bool


# Options that name files, and whether an entry may start with the name of an input: "x=x.npy".
_FILES = {"rules": False, "kernels": False, "sample_inputs": True}
_F = TypeVar("_F", bound=Callable[..., Any])


def takes_options(function: _F) -> _F:
    """Gives a function of ``**options`` a signature that lists each option with its type and default, for ``help`` and
    completion."""
    signature = inspect.signature(function)
    kept = [p for p in signature.parameters.values() if p.kind != inspect.Parameter.VAR_KEYWORD]
    added = [inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
             for field in dataclasses.fields(Options)]
    function.__signature__ = signature.replace(parameters=kept + added)  # type: ignore[attr-defined]
    return function


def _checked(name: str, value: Any, default: Any) -> Any:
    """The value of an option. Raises ArgumentError if its type or value is not allowed."""
    if isinstance(default, tuple):
        if isinstance(value, (str, os.PathLike)) or not isinstance(value, Sequence):
            raise _errors.ArgumentError(f"option {name!r} is {value!r}: expected a list")
        value = tuple(map(os.fspath, value))
        for given in value if name in _FILES else ():
            path = given.partition("=")[2] if _FILES[name] and "=" in given and not os.path.isfile(given) else given
            if not os.path.isfile(path):
                raise _errors.ArgumentError(f"option {name!r} names {path!r}: there is no such file")
        return value
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if type(value) is not type(default):
        raise _errors.ArgumentError(f"option {name!r} is {value!r}: expected a value of type {type(default).__name__}")
    choices = typing.get_args(typing.get_type_hints(Options)[name])
    if choices and value not in choices:
        texts = [repr(choice) for choice in choices]
        raise _errors.ArgumentError(f"option {name!r} is {value!r}: expected {', '.join(texts[:-1])} or {texts[-1]}")
    if isinstance(value, (int, float)) and not value >= 0:
        raise _errors.ArgumentError(f"option {name!r} is {value!r}: expected 0 or more")
    return value


@dataclasses.dataclass(frozen=True)
class Options:
    """The defaults are those of ``luminal-compile``."""

    device: str = ""
    """Name of the registered device that runs the program; empty: the device of its tensors."""
    arch: str = "native"
    """The processor or GPU (``sm_90a``) that code is generated for."""
    precision: Literal["exact", "rounding", "finite"] = "finite"
    """The promises of rules that are allowed: "exact", "rounding" or "finite"."""
    rules: tuple[str, ...] = ()
    """Files of additional rules."""
    kernels: tuple[str, ...] = ()
    """Files of user kernels (docs/UserKernels.md)."""
    rule_sets: tuple[str, ...] = ()
    """Compiled-in rule sets to use; empty: all."""
    workers: int = 0
    """Number of workers that schedules are optimized for; 0: those of the machine."""
    max_nodes: int = 0
    """Limit on the nodes of saturation; 0: the compiler's default."""
    search_budget: float = 0.0
    """Seconds for measuring which program and which schedules are fastest on this machine; 0: they are estimated."""
    search_candidates: int = 0
    """Number of programs to measure; without a budget there is no time limit."""
    seed: int = 0
    """Seed of the random draws of programs."""
    variants: tuple[str, ...] = ()
    """Ranges of symbols for which additional variants are compiled, in order of precedence: "s=1", "s=2..16,b=1",
    "s=512.."."""
    find_variants: str = ""
    """The symbol for whose ranges profitable variants are found by measuring."""
    sample_inputs: tuple[str, ...] = ()
    """Files (``.npy``, ``.safetensors``) with inputs for measuring and checking; they also determine the sizes. In the
    order of the program's inputs, or as "name=file"."""
    threads: int = 0
    """Number of threads of the compiler; 0: all of the machine."""
    check_kernels: bool = False
    """Whether to run each kernel after compiling it and compare it with the reference interpreter."""
    plan_cache: str = ""
    """Folder for the measurements of this machine; "": the user's folder."""
    report: str = ""
    """File for the compiler's report as JSON."""
    prepare: bool = True
    """Whether values that depend only on weights are computed once, and again when PyTorch detects that the weights
    changed."""
    in_place: bool = True
    """Whether inputs that are not row-major are read in place if possible; otherwise they are copied."""
    freeze: bool = False
    """Whether values are computed once from inference tensors too, whose changes PyTorch does not detect."""
    fallback: Literal["eager", "error"] = "eager"
    """How unsupported ops are handled: "eager" runs them with PyTorch, "error" raises an exception."""
    cache: bool = True
    """Whether artifacts are cached for later processes."""

    @staticmethod
    def parse(values: Mapping[str, Any], mode: str | None = None) -> Options:
        """Raises ArgumentError for an unknown option or a value of the wrong type. Warns of options of Inductor, which
        programs written for Inductor may pass."""
        if mode is not None and mode not in MODES:
            raise _errors.ArgumentError(f"mode {mode!r} is none of {', '.join(MODES)}")
        fields = {field.name: field for field in dataclasses.fields(Options)}
        given: dict[str, Any] = dict(MODES[mode or "default"])
        ignored = [name for name in values if name not in fields and _is_of_inductor(name)]
        if ignored:
            warnings.warn(f"luminal ignores options of Inductor: {', '.join(ignored)}", _errors.LuminalWarning, stacklevel=2)
        for name, value in values.items():
            if name in ignored:
                continue
            if name not in fields:
                raise _errors.ArgumentError(f"there is no option {name!r}: options are {', '.join(sorted(fields))}")
            given[name] = _checked(name, value, fields[name].default)
        return Options(**given)

    def rule_texts(self) -> list[str]:
        """The options of saturation, as the C interface takes them."""
        texts = [f"--precision={self.precision}", *(f"--eqsat-rules={path}" for path in self.rules)]
        if self.rule_sets:
            texts.append("--eqsat-rule-sets=" + ",".join(self.rule_sets))
        if self.max_nodes:
            texts.append(f"--eqsat-max-nodes={self.max_nodes}")
        return texts

    def texts(self, target: str, arch: str = "native") -> list[str]:
        """All options, as the C interface takes them. ``arch``: the architecture if no option sets it."""
        arch = arch if self.arch == "native" else self.arch
        texts = ["--allow-missing-weights", f"--target={target}", f"--arch={arch}"]
        texts += self.rule_texts()
        texts += [f"--kernels={path}" for path in self.kernels]
        if self.workers:
            texts.append(f"--workers={self.workers}")
        if self.search_budget:
            texts.append(f"--search-budget={self.search_budget}")
        if self.search_candidates:
            texts.append(f"--search-candidates={self.search_candidates}")
        if self.seed:
            texts.append(f"--seed={self.seed}")
        texts += [f"--variant={ranges}" for ranges in self.variants]
        if self.find_variants:
            texts.append(f"--find-variants={self.find_variants}")
        texts += [f"--sample-input={file}" for file in self.sample_inputs]
        if self.threads:
            texts.append(f"--threads={self.threads}")
        if self.check_kernels:
            texts.append("--check-kernels")
        if self.plan_cache:
            texts.append(f"--plan-cache={self.plan_cache}")
        if not self.prepare:
            texts.append("--prepare-bytes=0")
        if self.report:
            texts.append(f"--report={self.report}")
        return texts
