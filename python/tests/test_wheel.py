# ===- test_wheel.py - The package as people get it ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs the wheel that LUMINAL_WHEEL names (utils/build-wheel.sh), and runs README's example with it."""
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

wheel = os.environ.get("LUMINAL_WHEEL")
pytestmark = pytest.mark.skipif(not wheel, reason="LUMINAL_WHEEL names no wheel")

# What the process has loaded besides the package: nothing of the build, no LLVM, no libzip of the system.
_LOADED = r"""
import re, luminal._capi
paths = sorted({line.split()[-1] for line in open('/proc/self/maps') if '.so' in line})
print('ours', luminal._capi.library()._name)
print('others', [path for path in paths if re.search('luminal|LLVM|MLIR|libzip', path)])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel],
                   check=True)
    return folder


def run(site, code, **environment):
    env = {key: value for key, value in os.environ.items() if not key.startswith("LUMINAL_")}
    env |= {"PYTHONPATH": str(site), **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=site)


def test_readme_runs(site, tmp_path):
    example = re.search("```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
    done = run(site, example + _LOADED, XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    *values, ours, others = done.stdout.strip().splitlines()
    assert "tensor" in values[0]
    assert ours == f"ours {site}/luminal/lib/libluminal.so"
    assert all(str(site) in path for path in re.findall("'(.*?)'", others)), others


def test_size_and_tag():
    path = pathlib.Path(wheel)
    assert path.stat().st_size < 40e6
    assert re.fullmatch(r"luminal-[\d.]+-py3-none-manylinux_\d+_\d+_x86_64\.whl", path.name)


def test_artifacts_run_without_torch(site, tmp_path):
    code = """
import sys, numpy, luminal
sys.modules['torch'] = None
print(luminal.load('model.lum')(numpy.ones(3, 'float32'))[0].tolist())
"""
    make = "import torch, luminal\nluminal.compile(lambda x: x + 1, (torch.ones(3),)).save('model.lum')"
    assert run(site, make, XDG_CACHE_HOME=str(tmp_path)).returncode == 0
    done = run(site, code)
    assert done.stdout.strip() == "[2.0, 2.0, 2.0]", done.stderr
