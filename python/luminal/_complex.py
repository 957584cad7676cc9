# ===- _complex.py - Graphs that take or give complex numbers --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Represents complex arguments and results as PyTorch's ``view_as_real`` of them: an artifact computes with complex
numbers inside, but only takes and returns real tensors."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

aten = torch.ops.aten
Call = Callable[[list[Any]], Sequence[Any]]


def is_complex(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, fx.Node) else None
    return isinstance(value, torch.Tensor) and value.is_complex()


def make_real(graph_module: fx.GraphModule) -> tuple[list[int], list[int]]:
    """Replaces the graph's complex arguments and results by real ones, in place, and returns the positions of both.
    Arguments that the graph writes to are left complex."""
    graph, inputs, outputs = graph_module.graph, [], []
    arguments = graph.find_nodes(op="placeholder")
    written = {node.args[0] for node in graph.find_nodes(op="call_function", target=aten.copy_.default)}
    first = next(node for node in graph.nodes if node.op != "placeholder")
    for position, node in enumerate(arguments):
        if not is_complex(node) or node in written:
            continue
        inputs.append(position)
        with graph.inserting_before(first):
            turned = graph.call_function(aten.view_as_complex.default, (node,))
        whole = node.meta["val"].resolve_conj()
        turned.meta = {key: value for key, value in node.meta.items() if key in ("stack_trace", "nn_module_stack")} | {"val": whole}
        node.replace_all_uses_with(turned, lambda user, turned=turned: user is not turned)  # type: ignore[misc]
        node.meta["val"] = torch.view_as_real(whole)
    output = graph.output_node()
    if isinstance(output.args[0], (list, tuple)):
        results = list(output.args[0])
        for position, node in enumerate(results):
            if not is_complex(node) or any(source in written for source in (node, *node.all_input_nodes)):
                continue
            outputs.append(position)
            whole = node.meta["val"].resolve_conj()
            for op, value in ((aten.resolve_conj.default, whole), (aten.view_as_real.default, torch.view_as_real(whole))):
                with graph.inserting_before(output):
                    made = graph.call_function(op, (results[position],))
                made.meta = {**node.meta, "val": value}
                results[position] = made
        output.args = (type(output.args[0])(results),)
    if inputs or outputs:
        graph_module.recompile()
    return inputs, outputs


def wrap(call: Call, inputs: list[int], outputs: list[int]) -> Call:
    """Wraps ``call``, a function of real tensors, as one with complex tensors at these positions."""
    if not inputs and not outputs:
        return call

    def turned(args: list[Any]) -> Sequence[Any]:
        real = list(args)
        args.clear()
        for position in inputs:
            real[position] = torch.view_as_real(real[position].resolve_conj())
        results = list(call(real))
        for position in outputs:
            results[position] = torch.view_as_complex(results[position])
        return results

    turned._boxed_call = True  # type: ignore[attr-defined]
    return turned
