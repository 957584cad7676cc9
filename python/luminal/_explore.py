# ===- _explore.py - luminal.explore ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that the rules prove equal to a model, with their costs and texts, each of which can be compiled."""
from __future__ import annotations

import ctypes
import html
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import _capi, _errors, _tables
from ._compile import CompiledModel, Source, compile
from ._options import OptionValues, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Number of consecutive draws without a new candidate after which `sample` stops.
_MOST_REPEATS = 16


@takes_options
def explore(model: Source, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None, *,
            dynamic_shapes: Any = None, proofs: bool = False, **options: Unpack[OptionValues]) -> Space:
    """Saturates once and returns all programs equal to ``model`` as it runs on ``args`` and ``kwargs``.

    Arguments, options and errors are those of ``luminal.compile``. ``proofs``: record proofs so that candidates can be
    explained, which takes memory and time. The programs read the model's inputs as row-major tensors.
    """
    given = compile(model, args, kwargs, dynamic_shapes=dynamic_shapes, **{**options, "in_place": False})
    return Space(given, proofs)


class Candidate:
    """One program of a space. ``print`` shows its text."""

    def __init__(self, space: Space, handle: ctypes.c_void_p) -> None:
        self._space, self._handle = space, handle
        lib = _capi.library()
        self.digest: str = lib.luminal_candidate_digest(handle).decode()
        """32 hexadecimal digits that are equal for equal programs of one space, in every process."""
        self.cost: float = lib.luminal_candidate_cost(handle)
        """Estimated nanoseconds of a call: the sum of the compiler's prices of its ops before fusion."""

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _capi.library().luminal_candidate_free(self._handle)

    @property
    def text(self) -> str:
        """The program's text (docs/LLIR.md), which ``luminal-compile`` reads as a ``.mlir`` file."""
        return self._space._text(self._handle, _capi.library().luminal_session_materialise)

    def explain(self) -> str:
        """The rule applications, in order, that prove the program equal to the model. Needs ``explore(...,
        proofs=True)``."""
        if not self._space.has_proofs:
            raise _errors.ArgumentError("no proofs were kept: call luminal.explore with proofs=True")
        return self._space._text(self._handle, _capi.library().luminal_session_explain)

    def compile(self) -> CompiledModel:
        """Compiles this candidate instead of the program that the compiler would choose. The result is called like the
        model."""
        return self._space.given.of_program(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<candidate {self.digest[:12]}, {self.cost / 1e3:.3f} us>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self)[1:-1])}</p><pre>{html.escape(self.text)}</pre>"


class Space:
    """All programs that the rules prove equal to a model. Any number of threads may draw concurrently."""

    def __init__(self, given: CompiledModel, proofs: bool) -> None:
        self.given = given
        """The result of ``luminal.compile`` for the model."""
        self.has_proofs = proofs
        self.known: dict[str, Candidate] = {}
        """The candidates drawn so far, by digest."""
        texts = given.rule_texts() + ["--keep-proofs"] * proofs
        options = (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))
        program = given.ir("rolled").encode()
        self._session = ctypes.c_void_p()
        _capi.check(_capi.library().luminal_session_create(program, len(program), b"model", options, len(texts),
                                                           ctypes.byref(self._session)))

    def __del__(self) -> None:
        if getattr(self, "_session", None):
            _capi.library().luminal_session_free(self._session)

    def best(self) -> Candidate:
        """The cheapest program found."""
        return self._take(lambda made: _capi.library().luminal_session_best(self._session, made))

    def draw(self, seed: int, strength: float = 0.5) -> Candidate:
        """A random candidate near the best one: the choices that become cheaper when each price is randomly multiplied or
        divided by up to 1 + ``strength`` are changed. Equal arguments give equal candidates."""
        return self._take(lambda made: _capi.library().luminal_session_draw(self._session, seed, strength, made))

    def sample(self, count: int, strength: float = 0.5, seed: int = 0) -> list[Candidate]:
        """Up to ``count`` different candidates, the cheapest first: the best one and others drawn with seeds from
        ``seed`` on. Returns fewer if many consecutive draws give nothing new."""
        found, repeats = {}, 0
        if count > 0:
            best = self.best()
            found[best.digest] = best
        while len(found) < count and repeats < _MOST_REPEATS:
            drawn, seed = self.draw(seed, strength), seed + 1
            repeats = repeats + 1 if drawn.digest in found else 0
            found.setdefault(drawn.digest, drawn)
        return sorted(found.values(), key=lambda candidate: (candidate.cost, candidate.digest))

    def _take(self, choose: Callable[[Any], int]) -> Candidate:
        made = ctypes.c_void_p()
        _capi.check(choose(ctypes.byref(made)))
        candidate = Candidate(self, made)
        return self.known.setdefault(candidate.digest, candidate)

    def _text(self, candidate: ctypes.c_void_p, write: Callable[..., int]) -> str:
        text = ctypes.c_void_p()
        _capi.check(write(self._session, candidate, ctypes.byref(text)))
        return _capi.take_buffer(text).decode()

    def _rows(self) -> list[list[str]]:
        candidates = sorted(self.known.values(), key=lambda candidate: (candidate.cost, candidate.digest))
        return [[candidate.digest, f"{candidate.cost / 1e3:.3f}"] for candidate in candidates]

    def _head(self) -> str:
        return f"{len(self.known)} candidate{'' if len(self.known) == 1 else 's'} so far" + (
            "" if self.known else ": best() and draw(seed) give some")

    def __str__(self) -> str:
        return "\n".join([self._head()] + ["  " + line for line in _tables.text(("digest", "us"), self._rows()) if self.known])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The candidates drawn so far as a table, for notebooks."""
        return _tables.page(("digest", "us"), self._rows(), self._head())
