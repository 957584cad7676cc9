# ===- _trace.py - Dynamo's graph to a functional ATen graph -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AOTAutograd's inference path, with the composite ops kept that the compiler knows as such."""
from __future__ import annotations

import contextlib
import functools
import threading
import unittest.mock
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import torch
from torch import fx
from torch._functorch._aot_autograd import input_output_analysis
from torch._functorch.aot_autograd import aot_module_simplified
from torch.export.exported_program import _override_composite_implicit_decomp

from . import _errors, _sizes

aten = torch.ops.aten
# AOTAutograd has a protocol for these, with its own names of arguments.
InferenceCompiler = Any

# Dispatch tables of ops are changed while a graph is traced.
_lock = threading.RLock()


class DecomposeMore(Exception):
    """Raised by an inference compiler: to be traced again, with more ops decomposed."""

    def __init__(self, ops: Collection[Any]) -> None:
        super().__init__()
        self.ops = ops


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """What PyTorch knows to write in core ATen ops."""
    table = dict(torch._decomp.core_aten_decompositions())
    known = torch._decomp.decomposition_table
    for op in _NORMS:
        table[op] = known[op]
    return table


def _keep(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def _keep_attention(query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    # Else the lengths of keys and values stay two symbols.
    torch._check(key.size(-2) == value.size(-2))  # type: ignore[no-untyped-call]
    return NotImplemented


def _keep_of_bytes(op: Any) -> Callable[..., Any]:
    """PyTorch's CPU code resamples bytes in integers; its decompositions do so in floats, with other results."""
    decompose = torch._decomp.decomposition_table[op]

    def rule(image: Any, *args: Any, **kwargs: Any) -> Any:
        is_integral = image.dtype == torch.uint8 and image.device.type == "cpu"
        return NotImplemented if is_integral else decompose(image, *args, **kwargs)

    return rule


# Norms over a batch's own statistics, which core ATen keeps.
_NORMS = (aten._native_batch_norm_legit_functional.default, aten._native_batch_norm_legit.no_stats,
          aten._batch_norm_with_update_functional.default)
_COMPOSITES = {aten.linear.default: _keep, aten.layer_norm.default: _keep, aten.rms_norm.default: _keep,
               aten.group_norm.default: _keep, aten.scaled_dot_product_attention.default: _keep_attention}


_RESAMPLERS = (aten.upsample_bilinear2d.vec, aten.upsample_bicubic2d.vec)
_COMPOSITES |= {op: _keep_of_bytes(op) for op in _RESAMPLERS}


@contextlib.contextmanager
def _without_decompositions(ops: Collection[Any]) -> Iterator[None]:
    """These have decompositions in place of gradients too, which come before the rules for composites."""
    key = torch._C.DispatchKey.Autograd
    kernels = {op: op.py_kernels.pop(key) for op in ops if key in op.py_kernels}
    try:
        yield
    finally:
        for op, kernel in kernels.items():
            op.py_kernels[key] = kernel
            op._dispatch_cache.clear()


@contextlib.contextmanager
def _composites_kept(decomposed: Collection[Any]) -> Iterator[None]:
    kept = {op: rule for op, rule in _COMPOSITES.items() if op not in decomposed}
    with _without_decompositions(kept), _override_composite_implicit_decomp(kept):
        yield


_find_overlapping = input_output_analysis.compute_overlapping_tensors


def _overlapping(tensors: list[torch.Tensor], symbolic: bool = True) -> set[int]:
    """PyTorch's own fails where guards tell all sizes of tensors that were made with symbols, as FixSizes does."""
    return _find_overlapping(tensors, symbolic or any(t._has_symbolic_sizes_strides for t in tensors))


def _keep_assertions(graph_module: fx.GraphModule) -> None:
    """AOTAutograd takes assertions without a text for dead code."""
    for node in graph_module.graph.find_nodes(op="call_function", target=torch._assert_async):
        if len(node.args) == 1:
            node.args = (*node.args, "Expected Tensor with single nonzero value, but got zero")


def _differentiate_inside(graph_module: fx.GraphModule) -> None:
    """What torch.func differentiates is recorded inside of its levels, though nothing is outside. Dynamo's graph says so only
    where it was traced without gradients: with them they are on already."""
    depth, graph = 0, graph_module.graph
    for node in list(graph.nodes):
        name = getattr(node.target, "__name__", "")
        if name == "_grad_increment_nesting":
            depth += 1
            if depth == 1:
                with graph.inserting_after(node):
                    graph.call_function(torch._C._set_grad_enabled, (True,))
        elif name == "_grad_decrement_nesting":
            depth -= 1
            if depth == 0:
                with graph.inserting_before(node):
                    graph.call_function(torch._C._set_grad_enabled, (False,))


def _refuse_training(gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Any:
    raise _errors.TrainingError("luminal compiles for inference: call the model under torch.no_grad()")


def trace(graph_module: fx.GraphModule, inputs: Sequence[Any], compiler: InferenceCompiler) -> Callable[..., Any]:
    """Returns AOTAutograd's wrapper around what ``compiler`` makes of the functional graph. Its arguments are the ops that
    are decomposed, the graph, and the inputs; each time that it asks for another graph, more is decomposed or known."""
    _keep_assertions(graph_module)
    _differentiate_inside(graph_module)
    graph_module.recompile()
    table: dict[Any, Callable[..., Any]] = {}
    fixed: set[str] = set()
    while True:
        try:
            # Without gradients, the graph is that of inference also where parameters require them.
            with (_lock, torch.no_grad(), _composites_kept(table),
                  unittest.mock.patch.object(input_output_analysis, "compute_overlapping_tensors", _overlapping)):
                return aot_module_simplified(
                    graph_module, inputs, fw_compiler=_refuse_training, bw_compiler=_refuse_training,
                    inference_compiler=functools.partial(compiler, frozenset(table)), decompositions=table, keep_inference_input_mutations=True)
        except DecomposeMore as more:
            assert not table.keys() & more.ops
            table.update({op: decompositions()[op] for op in more.ops})
        except _sizes.FixSizes as sizes:
            if not sizes.sizes.keys() - fixed:
                raise sizes.__context__ or _errors.CompileError(sizes.reason) from None
            fixed |= sizes.sizes.keys()
            sizes.fix()
