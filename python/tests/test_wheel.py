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

# The libraries that the process has loaded besides the package: nothing of the build, no LLVM, no libzip of the system.
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
    assert path.stat().st_size < 45e6
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


_CONSUMER = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
find_package(Luminal 0.1 CONFIG REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE Luminal::luminal-c)
""",
    "consumer.c": """
#include <luminal-c/Luminal.h>
#include <stdio.h>
int main(void) { return puts(luminal_version()) < 0; }
"""}


def test_c_programs_and_the_runner(site, tmp_path):
    """The header, the library for CMake, and luminal-run as a command of the wheel."""
    for name, text in _CONSUMER.items():
        (tmp_path / name).write_text(text)
    package = site / "luminal"
    subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={package}"], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", tmp_path / "build"], check=True, capture_output=True)
    assert subprocess.run([tmp_path / "build/consumer"], capture_output=True, text=True, check=True).stdout == "0.1.0\n"
    done = run(site, "from luminal.__main__ import luminal_run\nluminal_run()")
    assert done.returncode == 2 and done.stderr == "luminal-run: error: no model; see --help\n"
    scripts = (next(site.glob("luminal-*.dist-info")) / "entry_points.txt").read_text()
    assert "luminal = luminal.__main__:main" in scripts and "luminal-run = luminal.__main__:luminal_run" in scripts


def test_tag_is_what_the_symbols_ask_for():
    done = subprocess.run([sys.executable, ROOT / "utils/dev/wheel_symbols.py", wheel], capture_output=True, text=True)
    assert done.returncode == 0 and re.search(r"glibc 2\.\d+, held by \S+ \(", done.stdout), done.stdout
