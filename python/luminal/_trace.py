# ===- _trace.py - Dynamo's graph to a functional ATen graph -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traces with AOTAutograd's inference path, but keeps composite ops that the compiler supports."""
from __future__ import annotations

import contextlib
import functools
import math
import threading
import unittest.mock
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import torch
from torch import fx
from torch._functorch._aot_autograd import input_output_analysis
from torch._functorch.aot_autograd import aot_module_simplified
from torch.export.exported_program import _override_composite_implicit_decomp

from . import _errors, _foreach, _sizes

aten = torch.ops.aten
# AOTAutograd defines a protocol for these, with other names of the arguments.
InferenceCompiler = Any

# Protects the dispatch tables of ops, which change while a graph is traced.
_lock = threading.RLock()


class DecomposeMore(Exception):
    """Raised by an inference compiler to request another trace with more ops decomposed."""

    def __init__(self, ops: Collection[Any]) -> None:
        super().__init__()
        self.ops = ops


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's decompositions into core ATen ops, and those of ops of lists."""
    table = dict(torch._decomp.core_aten_decompositions()) | _foreach.decompositions()
    known = torch._decomp.decomposition_table
    for op in _NORMS:
        table[op] = known[op]
    for op in (aten.linspace.Tensor_Tensor, aten.linspace.Tensor_Scalar, aten.linspace.Scalar_Tensor):
        table[op] = functools.partial(_linspace, known[op])
    return table


def _linspace(decompose: Callable[..., Any], start: Any, end: Any, steps: int, *, dtype: torch.dtype | None = None, **options: Any) -> Any:
    """Truncates the ends of integers, as PyTorch's kernels do and its decomposition does not."""
    if dtype is not None and not dtype.is_floating_point and not dtype.is_complex:
        start, end = (v.double().trunc() if isinstance(v, torch.Tensor) else math.trunc(v) for v in (start, end))
    return decompose(start, end, steps, dtype=dtype, **options)


def _keep(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def _keep_attention(query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    # Otherwise the lengths of keys and values remain two different symbols.
    torch._check(key.size(-2) == value.size(-2))  # type: ignore[no-untyped-call]
    return NotImplemented


def _keep_of_bytes(op: Any) -> Callable[..., Any]:
    """Keeps resampling of bytes: PyTorch's CPU code computes it in integers, its decompositions in floats, with other
    results."""
    decompose = torch._decomp.decomposition_table[op]

    def rule(image: Any, *args: Any, **kwargs: Any) -> Any:
        is_integral = image.dtype == torch.uint8 and image.device.type == "cpu"
        return NotImplemented if is_integral else decompose(image, *args, **kwargs)

    return rule


# Norms with the batch's own statistics, which core ATen does not decompose.
_NORMS = (aten._native_batch_norm_legit_functional.default, aten._native_batch_norm_legit.no_stats,
          aten._batch_norm_with_update_functional.default)
_COMPOSITES = {aten.linear.default: _keep, aten.layer_norm.default: _keep, aten.rms_norm.default: _keep,
               aten.group_norm.default: _keep, aten.scaled_dot_product_attention.default: _keep_attention}


_RESAMPLERS = (aten.upsample_bilinear2d.vec, aten.upsample_bicubic2d.vec)
_COMPOSITES |= {op: _keep_of_bytes(op) for op in _RESAMPLERS}


@contextlib.contextmanager
def _without_decompositions(ops: Collection[Any]) -> Iterator[None]:
    """Temporarily removes these ops' decompositions for autograd, which take precedence over the rules for composites."""
    key = torch._C.DispatchKey.Autograd
    kernels = {op: op.py_kernels.pop(key) for op in ops if key in op.py_kernels}
    try:
        yield
    finally:
        for op, kernel in kernels.items():
            op.py_kernels[key] = kernel
            op._dispatch_cache.clear()


def _differentiates(graph_module: fx.GraphModule) -> bool:
    """Whether there are levels of torch.func's derivatives inside."""
    levels = ("_grad_increment_nesting", "_jvp_increment_nesting")
    return any(getattr(node.target, "__name__", "") in levels for module in graph_module.modules()
               if isinstance(module, fx.GraphModule) for node in module.graph.nodes)


@contextlib.contextmanager
def _composites_kept(decomposed: Collection[Any], differentiates: bool) -> Iterator[None]:
    if differentiates:
        # As ops of their own they have no derivatives: what is computed from them would be constant. Nor has the compiler the
        # derivatives of fused attention.
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            yield
        return
    kept = {op: rule for op, rule in _COMPOSITES.items() if op not in decomposed}
    with _without_decompositions(kept), _override_composite_implicit_decomp(kept):
        yield


_find_overlapping = input_output_analysis.compute_overlapping_tensors


def _overlapping(tensors: list[torch.Tensor], symbolic: bool = True) -> set[int]:
    """PyTorch's function fails if guards determine all sizes of tensors that were traced with symbols, as FixSizes does.
    """
    return _find_overlapping(tensors, symbolic or any(t._has_symbolic_sizes_strides for t in tensors))


def _keep_assertions(graph_module: fx.GraphModule) -> None:
    """AOTAutograd removes assertions without a message as dead code."""
    for node in graph_module.graph.find_nodes(op="call_function", target=torch._assert_async):
        if len(node.args) == 1:
            node.args = (*node.args, "Expected Tensor with single nonzero value, but got zero")


def _differentiate_inside(graph_module: fx.GraphModule) -> None:
    """Enables gradients inside the levels of torch.func, which must record although nothing outside is differentiated.
    Dynamo's graph contains this only if it was traced without gradients, because otherwise they are enabled anyway."""
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
    """Returns AOTAutograd's wrapper around the result of ``compiler`` for the functional graph. ``compiler`` takes the
    decomposed ops, the graph and the inputs. Each time it requests another graph, more ops are decomposed or more sizes
    are fixed."""
    _keep_assertions(graph_module)
    _differentiate_inside(graph_module)
    graph_module.recompile()
    differentiates = _differentiates(graph_module)
    table: dict[Any, Callable[..., Any]] = {}
    fixed: set[str] = set()
    while True:
        try:
            # Without gradients, AOTAutograd traces the inference graph even if parameters require gradients.
            with (_lock, torch.no_grad(), _composites_kept(table, differentiates),
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
