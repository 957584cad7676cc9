# ===- reference.py - Logits to compare with ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The step in eager PyTorch in float64, module by module: weights are widened for the time of a module's call, so that models
fit whose weights in float64 would not."""
import contextlib

import torch

import float64


def compute(step, work, count):
    """The logits after the prompt and after each of ``count`` tokens, in one call over all tokens, or in float32 where float64
    has no such op, or no memory. None where neither can be done."""
    for dtype in (torch.float64, torch.float32):
        try:
            with _widened(step, dtype), _plain_experts(step.model):
                return {"dtype": str(dtype).removeprefix("torch."), "logits": _logits(step, work, count, dtype)}
        except (RuntimeError, TypeError, NotImplementedError):
            continue
    return None


def distance(got, exact):
    """The largest error over the largest value."""
    worst = 0.0
    for ours, theirs in zip(got, exact, strict=True):
        theirs = theirs.double().cpu()
        error = (ours.double().cpu() - theirs).abs().max() / theirs.abs().max()
        worst = max(worst, float(error)) if error.isfinite() else float("inf")
    return worst


def _logits(step, work, count, dtype):
    ids, positions = (torch.cat([first, *later], -1) for first, later in zip(work.first, zip(*work.later[:count])))
    model, sink = step.model, []
    # A step gives the last logits alone: those of the last positions are what the head is given.
    head = model.get_output_embeddings()
    handle = head.register_forward_hook(lambda _, __, logits: sink.append(logits))
    plain, model.forward = model.forward, lambda *args, **kwargs: plain(*args, **{**kwargs, "logits_to_keep": count + 1})
    try:
        if dtype == torch.float64:
            float64.call(step, (ids, positions))
        else:
            step(ids, positions)
    finally:
        del model.forward
        handle.remove()
    cap = getattr(model.config.get_text_config(), "final_logit_softcapping", None)
    logits = torch.tanh(sink[0] / cap) * cap if cap else sink[0]
    return [row.clone().cpu() for row in logits.unbind(1)]


@contextlib.contextmanager
def _plain_experts(model):
    """Grouped products have no wide types on a GPU."""
    kind = getattr(model.config, "_experts_implementation", None)
    if kind is not None:
        model.set_experts_implementation("eager")
    try:
        yield
    finally:
        if kind is not None:
            model.set_experts_implementation(kind)


@contextlib.contextmanager
def _widened(step, dtype):
    saved, handles = {}, []

    def widen(module, _):
        kept = []
        for held in (module._parameters, module._buffers):
            for name, tensor in held.items():
                if tensor is not None and tensor.is_floating_point():
                    kept.append((held, name, tensor))
                    wide = tensor.to(dtype)
                    held[name] = torch.nn.Parameter(wide, False) if held is module._parameters else wide
        saved[module] = kept

    def restore(module, *_):
        for held, name, tensor in saved.pop(module, []):
            held[name] = tensor

    try:
        for module in step.modules():
            handles += [module.register_forward_pre_hook(widen), module.register_forward_hook(restore, always_call=True)]
        yield
    finally:
        for handle in handles:
            handle.remove()
        for module in list(saved):
            restore(module)
