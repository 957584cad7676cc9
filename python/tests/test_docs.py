# ===- test_docs.py - The examples of the pages ----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import re
import subprocess
import sys
import warnings

import conftest
import pytest
import torch
from luminal._backend import backend
from luminal._options import Options

PAGES = ("docs/Python.md", "README.md")
ALL_PAGES = sorted(path.relative_to(conftest.ROOT).as_posix() for pattern in ("README.md", "utils/README.md", "docs/*.md")
                   for path in conftest.ROOT.glob(pattern))


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """Registers the backend by its name, as an installed package does (test_compile.py installs it)."""
    registry = torch._dynamo.backends.registry
    monkeypatch.setitem(registry._BACKENDS, "luminal", None)
    monkeypatch.setitem(registry._COMPILER_FNS, "luminal", backend)


@pytest.mark.parametrize("page", PAGES)
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^```python\n(.*?)^```$", (conftest.ROOT / page).read_text(), re.M | re.S)
    assert examples
    for example in examples:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            exec(compile(example, page, "exec"), {"__name__": "example"})
        assert ("# warns: " in example) == any("luminal does not support" in str(w.message) for w in heard)


def prose(page):
    """The text of a page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", (conftest.ROOT / page).read_text(), flags=re.M | re.S)


def anchors(page):
    """The anchors of a page's headings, as GitHub and the site generate them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ALL_PAGES)
def test_links(page):
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        path = ((conftest.ROOT / page).parent / name).resolve() if name else conftest.ROOT / page
        if not path.exists() or (anchor and anchor not in anchors(path.relative_to(conftest.ROOT))):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", ALL_PAGES)
def test_paths(page):
    """A name with an X, or with <>, stands for any."""
    paths = re.findall(r"(?<![\w/.-])((?:utils|lib|include|test|python|tools|docs)/[\w./{},*<>-]*[\w*}>])", (conftest.ROOT / page).read_text())
    wrong = []
    for path in sorted(path for path in set(paths) if not re.search(r"/X|<", path)):
        start, choices, end = re.fullmatch(r"([^{]*)(?:\{(.*)\})?(.*)", path).groups()
        wrong += [path for choice in (choices or "").split(",") if not [*conftest.ROOT.glob(start + choice + end)]]
    assert not wrong


def test_sources_name_pages_and_sections_that_exist():
    wrong = []
    for path in (path for folder in ("include", "lib", "tools", "python", "utils", "test") for path in (conftest.ROOT / folder).rglob("*")):
        if path.suffix not in {".h", ".cpp", ".c", ".td", ".def", ".pdll", ".py", ".sh", ".mlir", ".test", ".txt", ".cmake"}:
            continue
        text = re.sub(r"\s*\n\s*(?://+|#|\*)?\s*", " ", path.read_text(errors="replace"))
        for page, section in re.findall(r'(?<![\w/])docs/(\w+\.md)(?:,? "([^"]*)")?', text):
            if not (conftest.ROOT / "docs" / page).exists():
                wrong.append(f"{path}: docs/{page}")
            elif not re.search(rf"^#+ {re.escape(section)}", prose(f"docs/{page}"), re.M):
                wrong.append(f"{path}: docs/{page}, {section}")
    assert not wrong


def test_table_of_options():
    text = (conftest.ROOT / "docs/Python.md").read_text()
    told = dict(re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", text, re.M))
    assert told == {name: json.dumps(value) if isinstance(value, str) else str(value)
                    for name, value in vars(Options()).items()}


def test_summary_counts_these_tests(tmp_path):
    """utils/check.sh adds the results of this run to those of lit."""
    (tmp_path / "a.xml").write_text(
        '<testsuites><testsuite><testcase classname="m" name="good"/><testcase classname="m" name="bad"><failure/>'
        '</testcase><testcase classname="m" name="broken"><error/></testcase><testcase classname="m" name="other"><skipped/>'
        '</testcase></testsuite></testsuites>')
    (tmp_path / "b.json").write_text(json.dumps({"tests": [{"code": "PASS", "name": "lit"}]}))
    script = conftest.ROOT / "utils/dev/summarize_tests.py"
    out = subprocess.run([sys.executable, script, tmp_path / "a.xml", tmp_path / "b.json"], capture_output=True, text=True)
    assert out.returncode == 1 and out.stdout.splitlines()[-1] == "2 passed, 2 failed, 1 skipped"
    assert "fail: m.bad" in out.stdout and "skipped: m.other" in out.stdout
    out = subprocess.run([sys.executable, script, tmp_path / "none.xml"], capture_output=True, text=True)
    assert out.returncode == 1 and "there are no results" in out.stdout
    out = subprocess.run([sys.executable, script, "--failure=no time", tmp_path / "b.json"], capture_output=True, text=True)
    assert out.returncode == 1 and out.stdout.splitlines() == ["no time", "1 passed, 1 failed"]
