# ===- _explain.py - luminal.explain ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells what ``torch.compile(function, backend="luminal")`` would do with a function."""
from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import fx

from . import _backend, _devices, _errors, _partition, _report, _trace, _versions
from ._options import Options
from ._runner import GraphRunner


@dataclasses.dataclass
class Graph:
    """A graph of dynamo."""

    num_ops: int
    parts: list[_report.Report]
    """What was compiled of it: one part where every op is supported."""
    unsupported: list[_errors.UnsupportedOp]
    """Ops that PyTorch runs between the parts."""


@dataclasses.dataclass
class Explanation:
    """What becomes of a function for the arguments that it was called with; ``print`` shows it."""

    graphs: list[Graph]
    breaks: list[str]
    """Why dynamo ended a graph, and where."""

    def __str__(self) -> str:
        lines = [f"{len(self.graphs)} graphs, {len(self.breaks)} breaks"]
        lines += [f"break: {reason}" for reason in self.breaks]
        for number, graph in enumerate(self.graphs):
            lines.append(f"graph {number}: {graph.num_ops} ops, {len(graph.parts)} compiled parts")
            lines += [f"  run by PyTorch: {op}" for op in graph.unsupported]
            lines += ["  " + line for part in graph.parts for line in str(part).splitlines()]
        return "\n".join(lines)


def explain(function: Callable[..., Any], **options: Any) -> Callable[..., Explanation]:
    """Returns a function that calls ``function`` with its arguments and tells what was compiled, what broke and why,
    and which rules were used.

    What dynamo had compiled before is forgotten, as by ``torch._dynamo.explain``. ``options``: as of ``torch.compile``.
    """
    _versions.check_torch(torch.__version__)
    parsed = Options.parse(options)

    def run(*args: Any, **kwargs: Any) -> Explanation:
        with torch.no_grad():
            found = torch._dynamo.explain(function)(*args, **kwargs)
            breaks = [f"{reason.reason}{_place(reason)}" for reason in found.break_reasons]
            explanation = Explanation([], breaks)
            torch._dynamo.reset()
            backend = functools.partial(_compile, explanation, parsed)
            try:
                torch.compile(function, backend=backend)(*args, **kwargs)
            finally:
                torch._dynamo.reset()
        return explanation

    return run


def _place(reason: Any) -> str:
    frame = reason.user_stack[-1] if reason.user_stack else None
    return f" ({frame.filename}:{frame.lineno})" if frame is not None else ""


def _compile(explanation: Explanation, options: Options, graph_module: fx.GraphModule,
             inputs: Sequence[Any]) -> Callable[..., Any]:
    graph = Graph(0, [], [])
    explanation.graphs.append(graph)

    def compile_archive(archive: bytes, place: _devices.Place) -> bytes:
        data, _, report = _report.compile_with_report(archive, "graph", [*place.texts(options), _partition.REFUSE_COSTLY])
        graph.parts.append(report)
        return data

    def compile_whole(part: fx.GraphModule) -> GraphRunner | None:
        runner = _backend.compile_whole(compile_archive, options, part)
        if runner is not None:
            graph.parts[-1].in_place = runner.in_place
        return runner

    def compiler(decomposed: Collection[Any], functional: fx.GraphModule, _: Any) -> Callable[[list[Any]], Sequence[Any]]:
        # A graph that is traced again, with more ops decomposed, starts anew.
        graph.num_ops = sum(node.op == "call_function" for node in functional.graph.nodes)
        graph.parts.clear()
        graph.unsupported.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _partition.compile_parts(functional, compile_whole, False, graph.unsupported.extend,
                                            bool(options.kernels), decomposed)

    return _trace.trace(graph_module, inputs, compiler)
