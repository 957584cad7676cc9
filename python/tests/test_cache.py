# ===- test_cache.py - Artifacts of earlier processes ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import subprocess
import sys
import zipfile

import conftest
import luminal._cache
import pytest
from luminal._options import Options

PROGRAM = """
import logging, sys, torch
from luminal._backend import backend
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
torch.manual_seed(0)
weight = torch.randn(4, 4)
x = torch.randn(3, 4)
for constant, options in {calls}:
    print("compile", flush=True)
    scope = dict(weight=weight)
    exec(f"def function(x): return (x @ weight + {{constant}}).relu()", scope)
    got = torch.compile(scope["function"], backend=backend, options=options)(x)
    torch.testing.assert_close(got, scope["function"](x))
"""


def start(cache, *calls):
    """Starts a process that compiles for each (constant, options)."""
    return subprocess.Popen([sys.executable, "-c", PROGRAM.format(calls=calls or ((1.0, {}),))], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**conftest.environment(), "LUMINAL_CACHE": str(cache)})


def finish(process):
    """For each compilation of the process, whether it found an artifact."""
    out, _ = process.communicate()
    assert process.returncode == 0, out
    return ["artifact from" in part for part in out.split("compile\n")[1:]]


def test_second_process(tmp_path):
    assert finish(start(tmp_path)) == [False]
    files = os.listdir(tmp_path)
    assert len(files) == 1
    others = (2.0, {}), (1.0, {"precision": "exact"}), (1.0, {"cache": False})
    assert finish(start(tmp_path, (1.0, {}), *others)) == [True, False, False, False]
    # A file that is not an artifact is replaced.
    (tmp_path / files[0]).write_bytes(b"")
    assert finish(start(tmp_path)) == [False]
    assert (tmp_path / files[0]).stat().st_size > 0


def test_processes_at_once(tmp_path):
    processes = [start(tmp_path) for _ in range(3)]
    for process in processes:
        finish(process)
    assert len(os.listdir(tmp_path)) == 1


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert finish(start(tmp_path / "file" / "cache")) == [False]


@pytest.mark.parametrize("name", ["XDG_CACHE_HOME", "LUMINAL_CACHE"])
def test_place(tmp_path, monkeypatch, name):
    monkeypatch.delenv("LUMINAL_CACHE", raising=False)
    monkeypatch.setenv(name, str(tmp_path))
    assert str(luminal._cache.folder()).startswith(str(tmp_path))


def test_key_depends_on_everything(monkeypatch):
    def key(archive=b"a", target="cpu", device="", **options):
        return luminal._cache._key(archive, Options(**options).texts(target), device)

    keys = {key(), key(b"b"), key(precision="exact"), key(workers=3), key(target="cuda"), key(device="a GPU")}
    monkeypatch.setattr(luminal._cache, "_machine", lambda: b"another")
    keys.add(key())
    assert len(keys) == 7


def test_oldest_use_goes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("LUMINAL_CACHE_BYTES", "250")
    paths = [tmp_path / f"{i:064x}.lum" for i in range(4)]
    (tmp_path / "mine.lum").write_bytes(bytes(1000))  # files that the cache did not write are kept

    def write(i, size=100):
        luminal._cache._write(paths[i], bytes(size - 10), {paths[i].with_name(f"{paths[i].stem}-{'0' * 16}.json"): bytes(10)})
        os.utime(paths[i].with_name(f"{paths[i].stem}-{'0' * 16}.json"), (i, i))
        os.utime(paths[i], (i, i))

    write(0), write(1), write(2)
    assert [path.exists() for path in paths] == [False, True, True, False] and len(list(tmp_path.glob("*.json"))) == 2
    with zipfile.ZipFile(paths[1], "w"):
        pass
    os.utime(paths[1], (1, 1))
    assert luminal._cache._read(paths[1])  # a use
    write(3, 200)
    assert [path.exists() for path in paths] == [False, True, False, True]
    luminal._cache._write(paths[0], bytes(251))
    assert not paths[0].exists() and (tmp_path / "mine.lum").exists()
    monkeypatch.setenv("LUMINAL_CACHE_BYTES", "many")
    with pytest.raises(luminal.ArgumentError, match="LUMINAL_CACHE_BYTES is 'many'"):
        luminal._cache._write(paths[0], b"")
