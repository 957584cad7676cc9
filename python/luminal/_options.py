# ===- _options.py - Options of a compile ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of ``torch.compile(options={...})`` and of ``luminal.compile(..., **options)``."""
from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

from . import _errors

# What each mode of torch.compile sets where no option does. A call is one CUDA graph in all of them.
_SEARCH = {"search_budget": 30.0}
MODES: dict[str, dict[str, Any]] = {
    "default": {}, "lite": {}, "reduce-overhead": {}, "max-autotune": _SEARCH, "max-autotune-no-cudagraphs": _SEARCH}


def _is_of_inductor(name: str) -> bool:
    try:
        import torch._inductor
    except ImportError:
        return False
    return name.replace("-", "_") in torch._inductor.list_options()


@dataclasses.dataclass(frozen=True)
class Options:
    """Defaults are those of ``luminal-compile``."""

    device: str = ""
    """Which registered device runs the program, by name; empty: that of its tensors."""
    arch: str = "native"
    """The processor, or the GPU (``sm_90a``), that code is for."""
    precision: str = "finite"
    """Which promises of rules are allowed: "exact", "rounding" or "finite"."""
    rules: tuple[str, ...] = ()
    """Files of rules to search with."""
    kernels: tuple[str, ...] = ()
    """Files of kernels of one's own (docs/UserKernels.md)."""
    rule_sets: tuple[str, ...] = ()
    """Compiled-in rule sets to search with; all if empty."""
    workers: int = 0
    """Workers that schedules are for; 0: those of the machine."""
    max_nodes: int = 0
    """Limit of the search for equal programs; 0: the compiler's."""
    search_budget: float = 0.0
    """Seconds to measure which program and which schedules are fastest on this machine; 0: they are estimated."""
    search_candidates: int = 0
    """Programs to measure, without a limit of time unless there is a budget."""
    seed: int = 0
    """Another seed draws other programs."""
    check_kernels: bool = False
    """Whether each kernel is run as it is compiled, and compared with the reference interpreter."""
    plan_cache: str = ""
    """Folder of what was measured on this machine; "": the user's."""
    report: str = ""
    """File for the compiler's report as JSON."""
    prepare: bool = True
    """Whether what depends on weights alone is computed once, and again when PyTorch sees that they changed."""
    in_place: bool = True
    """Whether inputs that are not row-major are read where they lie, as far as a program can; else they are copied."""
    freeze: bool = False
    """Whether that is so for inference tensors too, whose changes PyTorch does not see."""
    fallback: str = "eager"
    """What becomes of an op that is not supported: "eager" runs it by PyTorch, "error" raises."""
    cache: bool = True
    """Whether artifacts are kept for later processes."""

    @staticmethod
    def parse(values: Mapping[str, Any], mode: str | None = None) -> Options:
        """Raises ArgumentError for an option that there is not, or of another type; warns of those of Inductor, which
        programs that were written for it give."""
        if mode is not None and mode not in MODES:
            raise _errors.ArgumentError(f"mode {mode!r} is none of {', '.join(MODES)}")
        fields = {field.name: field for field in dataclasses.fields(Options)}
        given: dict[str, Any] = dict(MODES[mode or "default"])
        ignored = [name for name in values if name not in fields and _is_of_inductor(name)]
        if ignored:
            warnings.warn(f"luminal ignores options of Inductor: {', '.join(ignored)}", stacklevel=2)
        for name, value in values.items():
            if name in ignored:
                continue
            if name not in fields:
                raise _errors.ArgumentError(f"there is no option {name!r}: options are {', '.join(sorted(fields))}")
            default = fields[name].default
            if isinstance(default, tuple) and isinstance(value, (list, tuple)):
                value = tuple(value)
            if isinstance(default, float) and type(value) is int:
                value = float(value)
            if type(value) is not type(default):
                raise _errors.ArgumentError(
                    f"option {name!r} is {value!r}: expected a value of type {type(default).__name__}")
            given[name] = value
        options = Options(**given)
        if options.fallback not in ("eager", "error"):
            raise _errors.ArgumentError(f"option 'fallback' is {options.fallback!r}: expected 'eager' or 'error'")
        for name in ("search_budget", "search_candidates", "seed"):
            if not getattr(options, name) >= 0:
                raise _errors.ArgumentError(f"option {name!r} is {getattr(options, name)!r}: expected 0 or more")
        return options

    def rule_texts(self) -> list[str]:
        """Those of the search for equal programs, as the C interface takes them."""
        texts = [f"--precision={self.precision}", *(f"--eqsat-rules={path}" for path in self.rules)]
        if self.rule_sets:
            texts.append("--eqsat-rule-sets=" + ",".join(self.rule_sets))
        if self.max_nodes:
            texts.append(f"--eqsat-max-nodes={self.max_nodes}")
        return texts

    def texts(self, target: str, arch: str = "native") -> list[str]:
        """As the C interface takes them. ``arch``: what code is for where no option says it."""
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
        if self.check_kernels:
            texts.append("--check-kernels")
        if self.plan_cache:
            texts.append(f"--plan-cache={self.plan_cache}")
        if not self.prepare:
            texts.append("--prepare-bytes=0")
        if self.report:
            texts.append(f"--report={self.report}")
        return texts
