# ===- _cache.py - Artifacts of earlier processes --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caches artifacts, keyed by the archive, the options, the machine and the version."""
from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import pathlib
import re
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Iterable, Mapping

from . import _capi, _errors, _modules, _progress, _report
from ._options import Options

log = logging.getLogger("luminal")


def folder() -> pathlib.Path:
    """LUMINAL_CACHE, or ``luminal/artifacts`` in the user's cache folder."""
    named = os.environ.get("LUMINAL_CACHE")
    if named:
        return pathlib.Path(named)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "luminal" / "artifacts"


def limit() -> int:
    """Maximum number of bytes of artifacts in the folder: LUMINAL_CACHE_BYTES, or 4 GiB; 0 disables the cache."""
    text = os.environ.get("LUMINAL_CACHE_BYTES")
    if not text:
        return 4 << 30
    try:
        found = int(text)
    except ValueError:
        found = -1
    if found < 0:
        raise _errors.ArgumentError(f"LUMINAL_CACHE_BYTES is {text!r}: expected a number of bytes")
    return found


def _machine() -> bytes:
    """The properties on which code for ``native`` depends: the processor and its instruction sets."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return b""
    wanted = ("model name", "cpu family", "model\t", "flags", "Features")
    return "\n".join(sorted({line for line in text.splitlines() if line.startswith(wanted)})).encode()


def _library() -> bytes:
    """Identifies the library that compiles; its file changes with every build."""
    path = pathlib.Path(_capi.library()._name)
    status = path.stat()
    return f"{_capi.library().luminal_version().decode()} {status.st_size} {status.st_mtime_ns}".encode()


def _key(archive: bytes, texts: list[str], device: str) -> str:
    digest = hashlib.sha256()
    cores = str(len(os.sched_getaffinity(0))).encode()
    for part in (archive, "\0".join(texts).encode(), _machine(), cores, device.encode(), _library()):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def compile_archive(archive: bytes, options: Options, texts: list[str], device: str = "",
                    modules: Mapping[str, str] | None = None, told: list[_report.Report] | None = None) -> bytes:
    """The artifact of an archive, from the cache if it is there.

    ``texts``: the options as the C interface takes them. ``device``: further properties that the code depends on, besides
    the host's processor. ``modules``: the names of nodes for reports; cached artifacts contain no names of a particular
    model. ``told``: receives the report of the artifact if compiling again might find another program, or if there is a
    report anyway.
    """
    # Do not cache a compilation with a report, which describes it, or with files (rules, kernels, samples) that may
    # change.
    usable = options.cache and not (options.report or options.rules or options.kernels or options.sample_inputs)
    path = folder() / f"{_key(archive, texts, device)}.lum" if usable else None
    searched, modules = _report.is_searched(texts), modules or {}
    kept = path.with_name(f"{path.stem}-{_modules.digest(modules)}.json") if path is not None else None
    if path is not None:
        data = _read(path)
        if data:
            log.info("artifact from %s", path)
            if searched and told is not None and kept is not None:
                with contextlib.suppress(OSError, _errors.ArgumentError):  # it was written for a model with other names
                    told.append(_report.Report.read(kept))
            return data
    log.debug("options of the compiler: %s", " ".join(texts))
    named = bool(options.report) or (searched and told is not None)
    if named:
        archive = _modules.put_in_archive(archive, modules)
    begin, is_watched, report = time.perf_counter(), searched and _progress.is_watched(sys.stderr), None
    with _progress.shown(options.search_budget):
        if named or is_watched:
            (data, notes), report = _report.with_report(texts, lambda all_: _capi.compile_bytes(archive, "graph", all_))
        else:
            data, notes = _capi.compile_bytes(archive, "graph", texts)
    if report is not None and is_watched:
        for name, search in report.searches.items():
            print(f"luminal: {name}: {_report.summary(search)}", file=sys.stderr)
    if report is not None and told is not None and named:
        told.append(report)
    log.info("compiled in %.2f s: an artifact of %d bytes", time.perf_counter() - begin, len(data))
    tell(notes)
    if path is not None and kept is not None:
        data = _modules.without(data) if named else data
        _write(path, data, {kept: json.dumps(report.data).encode()} if named and report is not None else {})
    return data


def tell(notes: Iterable[str]) -> None:
    """Emits the compiler's warnings."""
    for note in notes:
        warnings.warn(f"luminal: {note}", _errors.LuminalWarning, stacklevel=2)


def _read(path: pathlib.Path) -> bytes:
    """The artifact in a file of the cache; empty if the file is missing or truncated."""
    try:
        data = path.read_bytes()
    except OSError:
        return b""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return b""
    with contextlib.suppress(OSError):  # a read-only folder
        os.utime(path)
    return data


def _trim(kept: pathlib.Path, most: int) -> None:
    """Removes the least recently used artifacts with their reports from the folder of ``kept``, until ``most`` bytes are
    left."""
    files: dict[str, list[pathlib.Path]] = {}
    sizes: dict[str, int] = {}
    used: dict[str, int] = {}
    for path in kept.parent.iterdir():
        if found := re.fullmatch(r"([0-9a-f]{64})(\.lum|-[0-9a-f]{16}\.json)", path.name):
            with contextlib.suppress(OSError):  # another process is removing it
                status, key = path.stat(), found[1]
                files.setdefault(key, []).append(path)
                sizes[key] = sizes.get(key, 0) + status.st_size
                used[key] = max(used.get(key, 0), status.st_mtime_ns)
    total = sum(sizes.values())
    for _, key in sorted((moment, key) for key, moment in used.items()):
        if total <= most:
            break
        if key != kept.stem:
            for path in files[key]:
                with contextlib.suppress(OSError):
                    path.unlink()
                    log.info("removed %s: artifacts may take %d bytes (LUMINAL_CACHE_BYTES)", path, most)
            total -= sizes[key]


def write_atomically(path: pathlib.Path, data: bytes) -> None:
    """Writes a file so that others see either all of it or nothing. Raises OSError."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _write(path: pathlib.Path, data: bytes, beside: Mapping[pathlib.Path, bytes] | None = None) -> None:
    """Stores an artifact. A cache that cannot be written is not an error. ``beside``: files to store with it."""
    most = limit()
    if len(data) > most:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for file, content in {**(beside or {}), path: data}.items():
            write_atomically(file, content)
        _trim(path, most)
    except OSError as error:
        log.warning("the cache cannot be written: %s", error)
