# ===- _load.py - luminal.load ----------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs artifacts on numpy arrays, on objects that support DLPack, or on torch tensors."""
from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from . import _errors, _profile
from ._artifact import Artifact, Tensor, describe
from .devices import Executable

# numpy has no types for these: use uninterpreted items of one or two bytes, as in the files of luminal-run.
_VOID = {"bfloat16": "V2", "float8_e4m3fn": "V1", "float8_e5m2": "V1"}


def load(path: str | os.PathLike[str], weights: str | os.PathLike[str] | None = None, *, threads: int = 0,
         device: str = "") -> Model:
    """Loads an artifact (``.lum``). Loading runs native code: only load files that you would execute.

    ``weights``: the ``.pt2`` or ``.safetensors`` file with the weights, if they are neither in the artifact nor in the
    file beside it from which it was compiled. ``threads``: number of threads of a call; 0: all that the process may use.
    ``device``: name of the registered device that runs it; cannot be combined with ``weights``, and needs torch. Raises
    ArtifactError.
    """
    if sys.modules.get("torch") is not None:
        from . import _ranges
        _ranges.watch()
    if not device:
        return Model(Artifact.from_file(path, weights), threads)
    from . import _devices
    if weights is not None:
        raise _errors.ArgumentError("weights from another file cannot be loaded for a device given by name")
    place = _devices.find((), device)
    with open(path, "rb") as file:
        return Model(place.device.load(file.read(), place.at), threads, device)


class Model:
    """A loaded artifact. A call takes its inputs in order, followed by its integers, or by name, and returns a list of
    outputs.

    Outputs are torch tensors if an input is one or the model was loaded for a device by name, otherwise numpy arrays.
    Inputs that the program writes to are changed in place. States carry over from call to call until ``reset``.
    """

    def __init__(self, artifact: Executable, threads: int, device: str = "") -> None:
        self._artifact, self._threads, self._device = artifact, threads, device

    def __repr__(self) -> str:
        return describe("loaded model", self.inputs, self.integers, self.outputs)

    @property
    def inputs(self) -> list[Tensor]:
        return self._artifact.inputs

    @property
    def outputs(self) -> list[Tensor]:
        return self._artifact.outputs

    @property
    def integers(self) -> list[str]:
        """Names of the ints that a call takes after its inputs, or by name."""
        return getattr(self._artifact, "integers", [])

    def reset(self) -> None:
        """Makes states start from the model's initial values at the next call."""
        if not isinstance(self._artifact, Artifact):
            raise _errors.DeviceError(f"device '{self._device}' cannot reset states")
        self._artifact.reset()

    def profile(self, trace: str | os.PathLike[str] | None, args: tuple[Any, ...] = (),
                kwargs: Mapping[str, Any] | None = None, *, calls: int = 1) -> _profile.Profile:
        """Times each step of a call with ``args`` and ``kwargs``, or of several calls. ``trace``: a file for Perfetto, or
        None.

        States carry over as in any other call.
        """
        named = dict(kwargs or {})
        return _profile.profile(self._artifact, lambda: self(*args, **named), calls, trace)

    def __call__(self, *args: Any, **kwargs: Any) -> list[Any]:
        values = self._order(args, kwargs)
        torch = sys.modules.get("torch")
        if self._device or torch is not None and any(isinstance(value, torch.Tensor) for value in values):
            from ._runner import call_model
            return call_model(self._artifact, values, self._threads, self._device)
        return self._call_numpy(values)

    def _order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        names = [t.name for t in self.inputs] + self.integers
        if len(args) + len(kwargs) != len(names) or set(kwargs) != set(names[len(args):]):
            raise _errors.ArgumentError(f"got {len(args)} inputs and {sorted(kwargs)}, expected {', '.join(names)}")
        return [*args, *(kwargs[name] for name in names[len(args):])]

    def _call_numpy(self, values: list[Any]) -> list[Any]:
        import numpy

        arrays: list[Any] = []
        for value, spec in zip(values, self.inputs):
            array = value if isinstance(value, numpy.ndarray) else (
                numpy.from_dlpack(value) if hasattr(value, "__dlpack__") else None)
            if array is None:
                raise _errors.ArgumentError(f"'{spec.name}' is a {type(value).__name__}: expected an array")
            if array.dtype != numpy.dtype(_VOID.get(spec.dtype, spec.dtype)):
                raise _errors.DTypeError(f"'{spec.name}' has element type {array.dtype}, expected {spec.dtype}")
            if array.ndim != len(spec.shape):
                raise _errors.ShapeError(f"'{spec.name}' has rank {array.ndim}, expected {len(spec.shape)}")
            if spec.is_written and not (array.flags.c_contiguous and array.flags.writeable):
                raise _errors.ArgumentError(f"'{spec.name}' is written to: it must be contiguous and writable")
            arrays.append(numpy.ascontiguousarray(array).reshape(array.shape))
        integers = tuple(values[len(arrays):])
        for name, value in zip(self.integers, integers):
            if isinstance(value, bool) or not isinstance(value, int):
                raise _errors.ArgumentError(f"'{name}' is a {type(value).__name__}: expected an int")
        extents = tuple(extent for array in arrays for extent in array.shape)
        shapes = self._artifact.shapes(extents, integers) if isinstance(self._artifact, Artifact) else (
            self._artifact.shapes(extents))
        outputs = [numpy.empty(shape, _VOID.get(spec.dtype, spec.dtype))
                   for shape, spec in zip(shapes.outputs, self.outputs)]
        rest = [0] * (len(self._artifact.weights) + len(self._artifact.states))
        self._artifact.call([a.ctypes.data for a in arrays] + rest, [o.ctypes.data for o in outputs], shapes,
                            self._threads)
        return outputs


