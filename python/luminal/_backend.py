# ===- _backend.py - torch.compile(backend="luminal") ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend that dynamo finds through the entry point ``luminal`` of the group ``torch_dynamo_backends``."""
from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch._dynamo.symbolic_convert import InstructionTranslator

from . import _cache, _graph, _modules, _notices, _partition, _sizes, _trace, _training, _versions
from ._options import Options
from ._program import Program
from ._runner import GraphRunner

log = logging.getLogger("luminal")


def backend(graph_module: fx.GraphModule, example_inputs: Sequence[Any], *, mode: str | None = None,
            options: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """Compiles one graph of dynamo for inference."""
    _versions.check_torch(torch.__version__)
    parsed = Options.parse(options or {}, mode)
    unseen = {i for i, value in enumerate(example_inputs) if isinstance(value, torch.Tensor) and value.is_inference()}
    compiler = functools.partial(_compile_graph, parsed, parsed.fallback == "error" or _is_full_graph(),
                                 set() if parsed.freeze else unseen, len(example_inputs), _modules.root_of_frame())
    compiled = _trace.trace(graph_module, example_inputs, compiler)
    if negated := [i for i, value in enumerate(example_inputs) if isinstance(value, torch.Tensor) and value.is_neg()]:
        compiled = _resolving(compiled, negated)
    # Dynamo recompiles for another grad mode, and for inputs that newly require gradients.
    can_differentiate = torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in example_inputs)
    return _training.guard(compiled) if can_differentiate else compiled


def _resolving(function: Callable[..., Any], positions: Sequence[int]) -> Callable[..., Any]:
    """Resolves the negative bit of the tensors at ``positions`` before calling ``function``: their memory contains the
    negated values, as for the imaginary part of a conjugate. Dynamo guards which tensors these are."""
    def call(*args: Any) -> Any:
        given = list(args)
        for i in positions:
            given[i] = args[i].resolve_neg()
        versions = {i: 0 if given[i].is_inference() else given[i]._version for i in positions}
        results = function(*given)
        for i, version in versions.items():
            if given[i].is_inference() or given[i]._version != version:
                args[i].copy_(given[i])
        return results

    return call


def _is_full_graph() -> bool:
    """Whether the caller set ``fullgraph=True``, which dynamo does not pass to backends."""
    try:
        return bool(InstructionTranslator.current_tx().one_graph)
    except (AttributeError, LookupError):
        return False


def _mark_arguments(gm: fx.GraphModule, unseen: set[int], prepare: bool, count: int) -> None:
    """Marks arguments that are parameters or buffers (except those whose changes PyTorch does not see), arguments whose
    writes AOTAutograd counts, and arguments that may be bases of the ``count`` arguments of dynamo's graph and are
    therefore unguarded."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if metadata is None:
        return
    weights = set(metadata.static_input_indices or ()) - unseen if prepare else set()
    counted = set(metadata.mutated_graph_handled_indices_seen_by_autograd)
    arguments = gm.graph.find_nodes(op="placeholder")
    # If several arguments share memory and one is written to, AOTAutograd passes their base instead.
    written = set(metadata.mutated_graph_handled_indices) if len(arguments) < count else set()
    for position, node in enumerate(arguments):
        node.meta |= {mark: True for mark, positions in (
            (_graph.WEIGHT, weights), (_graph.COUNTED, counted), (_graph.UNGUARDED, written)) if position in positions}


def _compile_graph(options: Options, is_strict: bool, unseen: set[int], count: int, root: _modules.Root | None,
                   decomposed: Collection[Any], gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[[list[Any]], Sequence[Any]]:
    def compile_program(program: Program) -> bytes:
        place = program.place
        texts = place.texts(options) + ([] if is_strict else [_partition.REFUSE_COSTLY])
        return _cache.compile_archive(program.archive, options, texts, place.device.describe(place.at), program.modules)

    _modules.mark(gm.graph, root)
    _sizes.fold_known(gm)
    _sizes.hold_checks(gm)
    _mark_arguments(gm, unseen, options.prepare, count)
    return _partition.compile_parts(gm, functools.partial(compile_whole, compile_program, options), is_strict,
                                    has_kernels=bool(options.kernels), decomposed=decomposed)


def compile_whole(compile_program: Callable[[Program], bytes], options: Options,
                  graph_module: fx.GraphModule) -> GraphRunner | None:
    """Compiles a whole graph as one artifact; None if it computes no tensor. Raises UnsupportedOpError."""
    program = _graph.make_program(graph_module, options.device, options.in_place)
    if program is None:
        return None
    place = program.place
    with program.explained():
        artifact = compile_program(program)
    runner = GraphRunner(place.device.load(_modules.put(artifact, program.modules), place.at), program, options.freeze)
    log.info("compiled a graph of %d nodes", len(graph_module.graph.nodes))
    return runner


_notices.watch(backend)
