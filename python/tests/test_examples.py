# ===- test_examples.py - python/examples run ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import subprocess
import sys

import conftest
import pytest

EXAMPLES = sorted((conftest.ROOT / "python" / "examples").glob("*.py"))

# The package is not installed here, so the backend is registered explicitly.
_RUN = """
import runpy, sys, torch._dynamo
from luminal._backend import backend
torch._dynamo.register_backend(backend, "luminal")
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    done = subprocess.run([sys.executable, "-W", "error::UserWarning:luminal", "-c", _RUN, path], capture_output=True,
                          text=True, env=conftest.environment(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout and "which PyTorch runs" not in done.stderr
