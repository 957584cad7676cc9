# ===- _python.py - Calls of the library as functions of Python's own -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A call through ctypes takes as long as all the work that the library does in it. So the library receives the addresses
of CPython functions of the stable ABI and provides a builtin function, which also creates the outputs of a call."""
from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import _capi, _objects
from ._artifact import Repeat

_METH_FASTCALL = 0x80
# In the order of the fields of luminal_python.
_NAMES = ("PyList_New", "PyList_SetItem", "PyObject_Call", "Py_DecRef", "PyLong_FromLong", "PyLong_AsVoidPtr",
          "PyEval_SaveThread", "PyEval_RestoreThread")
Call = Callable[[list[Any], int], "list[Any] | int"]
_Maker = Callable[[int], Call]


class _Method(ctypes.Structure):
    """A PyMethodDef."""

    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


@functools.cache
def _maker() -> _Maker | None:
    """Creates the builtin function for the address of a luminal_python_repeat; None if that is impossible."""
    if sys.implementation.name != "cpython" or _objects.reader() is None:
        return None
    try:
        make, keep = ctypes.pythonapi.PyCFunction_NewEx, ctypes.pythonapi.Py_IncRef
        functions = [_objects.address_of(getattr(ctypes.pythonapi, name)) for name in _NAMES]
    except AttributeError:
        return None
    library = _capi.library()
    given = _capi.Python(ctypes.sizeof(_capi.Python), _objects.LIST, _objects.CLASS, id(list), *functions)
    _capi.check(library.luminal_python_use(ctypes.byref(given)))
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    method = _Method(b"luminal_python_call", _objects.address_of(library.luminal_python_call), _METH_FASTCALL, None)
    # A builtin function only holds this struct's address, which garbage collection reads. So the struct is never freed.
    keep(ctypes.py_object(method))
    place = ctypes.addressof(method)

    def made(repeat: int) -> Call:
        return make(place, repeat, None)  # type: ignore[no-any-return]

    return made if made(0)([], 0) == _capi.ERROR else None


def is_available() -> bool:
    """Whether ``repeated`` can create functions."""
    return _maker() is not None


class Repeated:
    """Calls of a ``Repeat`` with a list of tensors and the address of stored objects; returns new outputs, or a status.
    """

    __slots__ = ("call", "_kept")

    def __init__(self, call: Call, kept: Any) -> None:
        self.call, self._kept = call, kept


def repeated(repeat: Repeat, make: Callable[..., Any], outputs: Sequence[tuple[Any, ...]]) -> Repeated | None:
    """``make`` creates an output from its entry in ``outputs``. None if only ctypes can make the call."""
    if (maker := _maker()) is None:
        return None
    places = (ctypes.c_void_p * len(outputs))(*map(id, outputs))
    given = _capi.PythonRepeat(ctypes.sizeof(_capi.PythonRepeat), repeat.address, id(make), ctypes.addressof(places), len(places))
    return Repeated(maker(ctypes.addressof(given)), (given, places, repeat, make, tuple(outputs)))
