# ===- _explain.py - luminal.explain ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports how ``torch.compile(function, backend="luminal")`` compiles a function."""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from . import _backend, _errors, _modules, _notices, _partition, _report, _tables, _trace, _versions
from ._options import Options, takes_options
from ._program import Program
from ._runner import GraphRunner

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import OptionValues


@dataclasses.dataclass
class Graph:
    """A graph that dynamo passed to the backend."""

    num_ops: int
    parts: list[_report.Report]
    """The compiled parts of the graph: one if every op is supported."""
    unsupported: list[_errors.UnsupportedOp]
    """Ops that PyTorch runs between the parts."""


@dataclasses.dataclass
class Explanation:
    """How a function was compiled for the arguments with which it was called. ``print`` shows it."""

    graphs: list[Graph]
    breaks: list[str]
    """Why and where dynamo ended a graph."""

    notes: list[str] = dataclasses.field(default_factory=list)
    """Code that PyTorch runs although no break says so, and other warnings."""

    def _head(self) -> str:
        graphs, breaks, parts = len(self.graphs), len(self.breaks), sum(len(graph.parts) for graph in self.graphs)
        return (f"{_tables.count(graphs, 'graph')}, {_tables.count(breaks, 'break')}"
                + ("" if parts else ": PyTorch runs all of it, nothing is compiled"))

    def _remarks(self) -> list[str]:
        return [f"break: {reason}" for reason in self.breaks] + self.notes

    def __str__(self) -> str:
        lines = [self._head(), *self._remarks()]
        for number, graph in enumerate(self.graphs):
            lines.append(f"graph {number}: {_tables.count(graph.num_ops, 'op')}, {_tables.count(len(graph.parts), 'compiled part')}")
            lines += [f"  run by PyTorch: {op}" for op in graph.unsupported]
            lines += ["  " + line for part in graph.parts for line in str(part).splitlines()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The graphs as a table, the remarks, and the compiled parts, for notebooks."""
        rows = [[str(number), str(graph.num_ops), str(len(graph.parts)), "; ".join(map(str, graph.unsupported))]
                for number, graph in enumerate(self.graphs)]
        return _tables.page(("graph", "ops", "compiled parts", "run by PyTorch"), rows, self._head(), self._remarks()) + "".join(
            part._repr_html_() for graph in self.graphs for part in graph.parts)


@takes_options
def explain(function: Callable[..., Any], **options: Unpack[OptionValues]) -> Callable[..., Explanation]:
    """Returns a function that calls ``function`` with its arguments and reports what was compiled, the breaks and their
    reasons, and the rules used.

    Resets dynamo, as ``torch._dynamo.explain`` does. ``options``: as for ``torch.compile``.
    """
    _versions.check_torch(torch.__version__)
    parsed = Options.parse(options)
    if not callable(function):
        raise _errors.ArgumentError(f"function is a {type(function).__name__}: expected a function or a module")

    def run(*args: Any, **kwargs: Any) -> Explanation:
        explanation = Explanation([], [])
        with torch.no_grad(), _notices.heard() as explanation.notes:
            torch._dynamo.reset()
            backend = functools.partial(_compile, explanation, parsed)
            backend._torchdynamo_orig_backend = _backend.backend  # type: ignore[attr-defined]
            try:
                torch.compile(function, backend=backend)(*args, **kwargs)
                found = [reason for reason in torch._dynamo.utils.graph_break_reasons if reason.graph_break]
                explanation.breaks += map(_notices.break_text, found)
            finally:
                torch._dynamo.reset()
        known = {str(op) for graph in explanation.graphs for op in graph.unsupported}
        known |= {_notices.reason(each.reason) for each in found}
        explanation.notes = [note for note in explanation.notes if not any(text in note for text in known)]
        return explanation

    return run


def _compile(explanation: Explanation, options: Options, graph_module: fx.GraphModule,
             inputs: Sequence[Any]) -> Callable[..., Any]:
    graph = Graph(0, [], [])
    explanation.graphs.append(graph)
    root = _modules.root_of_frame()

    def compile_program(program: Program) -> bytes:
        archive = _modules.put_in_archive(program.archive, program.modules)
        texts = [*program.place.texts(options), _partition.REFUSE_COSTLY]
        data, notes, report = _report.compile_with_report(archive, "graph", texts)
        explanation.notes += notes
        graph.parts.append(report)
        return data

    def compile_whole(part: fx.GraphModule) -> GraphRunner | None:
        runner = _backend.compile_whole(compile_program, options, part)
        if runner is not None:
            graph.parts[-1].in_place = runner.in_place
        return runner

    def compiler(decomposed: Collection[Any], functional: fx.GraphModule, _: Any) -> Callable[[list[Any]], Sequence[Any]]:
        # A graph that is traced again with more ops decomposed replaces the earlier one.
        _modules.mark(functional.graph, root)
        graph.num_ops = sum(node.op == "call_function" for node in functional.graph.nodes)
        graph.parts.clear()
        graph.unsupported.clear()
        with _notices.heard():
            return _partition.compile_parts(functional, compile_whole, False, graph.unsupported.extend,
                                            bool(options.kernels), decomposed)

    return _trace.trace(graph_module, inputs, compiler)
