#!/usr/bin/env python3
# ===- generate_pages.py - Pages that are written from tables and tests ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes pages from what they describe:

  Ops           from the importer's table (lib/Target/PT2/Aten)
  Benchmarks    from the results in docs/benchmarks.json
  README        its section "Measured", from the same results
  Models        from the models of the tests (utils/testing/models.py, python/tests/architectures.py) and test/Models; needs PyTorch

With --check nothing is written, and a page that is not what would be written is an error.
"""
import argparse
import datetime
import decimal
import difflib
import itertools
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "utils/testing"))

import aten_table


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("|" + "".join(f" {cell} |" if cell else " |" for cell in cells) + "\n" for cells in lines)


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def title(path):
    """What the first line of a source says that it is."""
    return path.read_text().splitlines()[0].split(" - ", 1)[1].rsplit(" -", 1)[0]


def ops():
    """Overloads of each op, by theme; the op's other names; what is refused."""
    overloads = {}
    for path, schema in aten_table.schemas():
        name = schema.partition("(")[0]
        library, _, name = name.rpartition("::")
        op, _, overload = name.partition(".")
        key = f"{library}::{op}" if library else op
        overloads.setdefault(path, {}).setdefault(key, []).append(overload or "default")
    known = {op for theme in overloads.values() for op in theme}
    others = {}
    for other, op in aten_table.aliases():
        others.setdefault(op, []).append(other)
    count = sum(len(names) for theme in overloads.values() for names in theme.values())
    yield f"""# Ops

`utils/dev/generate_pages.py` writes this page from the importer's table (`lib/Target/PT2/Aten`).

The importer knows {count} overloads of {len(known)} ops. Ops of ATen have their own names here, those of other libraries have the
library's before theirs. Other names of an op have the same overloads. An op whose name ends in `_` writes to its first operand, and is
imported as the op without the `_`; one that ends in `_copy` is imported as the view that it copies. PyTorch's decompositions write
most other ops in these. If an archive has an op that is not known, importing it is an error that names the op; `torch.compile` leaves
the op [to PyTorch](Python.md#torchcompile).

The table has no element types: [README](../README.md#what-is-supported) lists those that are supported. `test/Target/PT2/ops` compares
programs of these ops with PyTorch, in the types that the cases of `utils/testing/aten_cases.py` name, as exported and decomposed.
[Contributing](Contributing.md#add-an-aten-op) says how to add an op.
"""
    for path in aten_table.themes():
        rows = [[code([op]), code(names), code(others.get(op, []))] for op, names in sorted(overloads[path].items())]
        yield f"\n## {title(path)}\n\n`{path.relative_to(ROOT)}`\n\n" + table(["op", "overloads", "other names"], rows)
    yield "\n## Refused\n\nErrors name the reason.\n\n" + table(["ops", "why"], [
        [code(op for op in names if op not in known), f"the op {reason}"] for reason, names in aten_table.refusals()])


def runs():
    """Kept results: what was measured on one machine on one day. Figures have as many digits as they were kept with."""
    return json.loads((ROOT / "docs/benchmarks.json").read_text(), parse_float=decimal.Decimal)


def bold(text, is_faster):
    return f"**{text}**" if is_faster else text


def fractions_of(result):
    """The time of Luminal by that of its fastest peer, for each of the programs that a result is about."""
    if "fractions" in result:
        return ", ".join(bold(str(each), each < 1) for each in result["fractions"])
    fraction = result["luminal"] / min(result["peers"].values())
    return bold(f"{fraction:.2f}", fraction < 1)


def peers_of(result, unit, names):
    """The times of the peers, and how they were run."""
    if "fractions" in result:
        return result["peers"]
    how = f" ({result['how']})" if "how" in result else ""
    return ", ".join((f"{name} " if names else "") + f"{time}{unit}" for name, time in result["peers"].items()) + how


def machine(run):
    """Processor, versions and day."""
    day = datetime.date.fromisoformat(run["date"])
    return ", ".join([run["processor"], *(f"{name} {version}" for name, version in run["versions"].items()), f"{day.day} {day:%b %Y}"])


def once(rows, columns):
    """Says `same` where a cell of these columns is that of the row above."""
    return [[("same" if above and above[i] == cell and i in columns else cell) for i, cell in enumerate(row)]
            for above, row in zip([None, *rows], rows)]


def benchmarks():
    """All results, a section for each machine and day."""
    yield """# Benchmarks

`utils/dev/generate_pages.py` writes this page from `docs/benchmarks.json`. Each result has the command that measured it, whose help says
how. *Fraction* is the time of Luminal divided by that of its fastest peer, for each program of the row; it is bold where Luminal is
faster. Of some results only the fraction was kept, of some no version of the peers.
[LanguageModels.md](LanguageModels.md) has more figures of language models, [Testing.md](Testing.md) more commands.

To add results, add what one command printed to `docs/benchmarks.json`, with the processor, the versions of the peers and the day, and run
`utils/dev/generate_pages.py Benchmarks README`.
"""
    for run in sorted(runs(), key=lambda run: run["date"], reverse=True):
        rows = []
        for result in run["results"]:
            unit = f" {result['unit']}" if "unit" in result else ""
            time = f"{result['luminal']}{unit}" if unit else ""
            rows.append([result["what"], time, peers_of(result, unit, names=True), fractions_of(result), f"`{result['command']}`"])
        yield f"\n## {machine(run)}\n\n" + table(["", "Luminal", "peers", "fraction", "command"], rows)


def readme():
    """README.md with the tables of its section "Measured" as the results have them."""
    times, fractions = [], []
    for run in runs():
        for result in run["results"]:
            unit = f" {result['unit']}" if result.get("unit") not in (None, "ms") else ""
            end = [peers_of(result, unit, names=False), machine(run), f"`{result['command']}`"]
            if "fractions" in result:
                fractions.append([result["what"], fractions_of(result), *end])
            else:
                is_faster = result["luminal"] < min(result["peers"].values())
                times.append([result["what"], bold(f"{result['luminal']}{unit}", is_faster), *end])
    head = lambda figure: ["", figure, "peers", "machine, date", "command"]
    before, rest = (ROOT / "README.md").read_text().split("\n## Measured\n")
    after = rest[rest.index("\n## "):]
    yield f"""{before}
## Measured

Times in milliseconds a call; bold is faster than every peer of the row. The first peer is eager PyTorch, the second Inductor.

{table(head("Luminal"), once(times, {3, 4}))}
Time as a fraction of the best peer's; bold is below 1. [docs/Benchmarks.md](docs/Benchmarks.md) has all results by machine and day.

{table(head("fraction"), once(fractions, {2, 3, 4}))}{after}"""


# What a command of a test in test/Models holds a model to, besides numbers.
CHECKS = [
    (r"check_models\.py .*--compile-only.*--target=cuda", "compiles for a GPU"),
    (r"check-arena\.py", "memory of values between steps"),
    (r"check-recovery\.py", "norms, softmaxes and products are found in the arithmetic"),
    (r"determinism\.py labels", "nothing depends on names of ops"),
    (r"write-flat\.py", "the same from the archive's older layout"),
    (r"luminal-compile .*--target=cuda.* FileCheck", "the program's text for a GPU"),
    (r"luminal-compile (?!.*--target).* FileCheck", "the program's text"),
]


def commands(path):
    """The commands of a lit test, each on one line."""
    lines = re.findall(r"^RUN: (.*)$", path.read_text(), re.M)
    return re.sub(r"\\\n *", "", "\n".join(lines)).splitlines()


def span(values):
    return f"{min(values)} to {max(values)}" if min(values) < max(values) else str(values[0])


def short(dtype):
    return {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64"}[str(dtype).removeprefix("torch.")]


def tensors(calls):
    """Types and shapes of the tensors that calls take; a dim of several sizes as a range."""
    # An argument that is None is as the call before it left it.
    each = [[t for t in given if t is not None] for given in zip(*calls)]
    texts = [f"{short(given[0].dtype)}[{', '.join(map(span, zip(*(t.shape for t in given))))}]" for given in each]
    counts = [(text, len(list(same))) for text, same in itertools.groupby(texts)]
    return ", ".join(text if count == 1 else f"{count} of {text}" for text, count in counts)


def described(model):
    """The class of a model of transformers, or the first sentence of the class of the project's own."""
    inner = getattr(model, "model", model)
    name = type(inner if type(inner).__module__.startswith("transformers") else model).__name__
    return f"`{name}`" if inner is not model else f"`{name}`: {type(model).__doc__.split('.')[0].strip()}"


def paragraph(path):
    """The first paragraph of text in a test."""
    for block in path.read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith(("REQUIRES:", "RUN:", "DEFINE:"))]
        if lines:
            return " ".join(lines)
    raise ValueError(f"{path} does not say what it tests")


def models():
    """Models of the tests, what each is called with, and what its tests check."""
    sys.path.insert(0, str(ROOT / "python/tests"))
    import architectures
    import check_models
    import models as tested

    folder, used, rows = ROOT / "test/Models", set(), []
    for name in tested.MODELS:
        case = tested.make(name)
        given = case.calls or [case.args, *case.sizes]
        runs, tests = [], []
        for path in sorted(folder.glob("*.test")):
            named = [line for line in commands(path) if re.search(rf"%models/{name}(?!\w)", line)]
            if not named:
                continue
            used.add(path)
            tests.append(path.stem)
            runs += named + [line for line in commands(path) if "%models/" not in line]
        assert any(line.startswith("%check_models ") for line in runs), f"no test of test/Models checks numbers of {name}"
        checks = [what for pattern, what in CHECKS if any(re.search(pattern, line) for line in runs)]
        count = f"{len(case.calls)} calls in turn" if case.calls else str(len(given))
        types = sorted({short(p.dtype) for p in case.model.parameters()}) or ["none"]
        rows.append([f"`{name}`", described(case.model), ", ".join(types), tensors(given), count, "; ".join(checks), code(tests)])
    yield f"""# Models

`utils/dev/generate_pages.py` writes this page from the tests. Models have random weights and small sizes; nothing is downloaded. The
distance of an output from a computation in float64 may be {check_models.LIMIT:g} times that of PyTorch eager, or {check_models.LIMIT:g} millionths of its largest
element where that is more; integers must be equal.

## Exported models

`utils/testing/models.py` makes these models and `utils/testing/export_models.py` exports each, as `torch.export` leaves it and after
`run_decompositions()`. `utils/testing/check_models.py` runs both archives through the interpreter and as compiled code, and compares
every output. One artifact serves all sizes of a model. The last two columns name files of `test/Models`, and what they check besides
these numbers.

"""
    yield table(["model", "what it is", "parameters", "inputs", "sizes", "checked besides", "tests"], rows)
    yield """
## Shipped archives

`test/Models/Inputs` holds archives with PyTorch's outputs, for machines without PyTorch (`shipped.test`).

"""
    shipped = sorted(path.parent for path in folder.glob("Inputs/*/model.pt2"))
    yield table(["archive", "forms", "sizes"], [
        [f"`{path.name}`", code(sorted(p.name for p in path.glob("*.pt2"))), str(1 + len(list(path.glob("size_*"))))] for path in shipped])
    yield "\n## Parts of models\n\nOther tests of `test/Models`, in their own words.\n\n"
    yield table(["test", "what it checks"], [
        [f"`{path.stem}`", paragraph(path)] for path in sorted(folder.glob("*.test")) if path not in used and path.stem != "shipped"])
    yield f"""
## Architectures of transformers

`python/tests/test_architectures.py` compiles these {len(architectures.ARCHITECTURES)} with `torch.compile`, for dynamic batches and
lengths, and compares three sizes of each with eager. After the second size nothing is compiled again, and no op is left to PyTorch.
Every sixth architecture runs every time, all of them with `LUMINAL_ALL_ARCHITECTURES=1`.

"""
    text = (ROOT / "python/tests/architectures.py").read_text()
    groups = re.findall(r"^    # ([^\n]*)\.\n(.*?)(?=^    # |^\})", text[text.index("\nARCHITECTURES = {"):], re.M | re.S)
    listed = [(title, [name for name in architectures.ARCHITECTURES if re.search(rf'"{name}"(?=[,:)])', body)]) for title, body in groups]
    assert sorted(name for _, names in listed for name in names) == sorted(architectures.ARCHITECTURES)
    yield table(["kind", "architectures"], [[title.lower(), code(names)] for title, names in listed])
    exceptions = [f"- `{name}` is refused: {reason}." for name, reason in architectures.REFUSED.items()]
    exceptions += [f"- `{name}` is compiled again at some lengths: {reason}." for name, reason in architectures.FIXED.items()]
    yield "\nExceptions:\n\n" + "\n".join(exceptions) + "\n"


PAGES = {"Ops": ops, "Benchmarks": benchmarks, "README": readme, "Models": models}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the pages with what would be written")
    parser.add_argument("pages", nargs="*", choices=[*PAGES, []], help="as above; all without any")
    args = parser.parse_args()
    stale = False
    for name in args.pages or PAGES:
        path, text = ROOT / ("README.md" if name == "README" else f"docs/{name}.md"), "".join(PAGES[name]())
        if not args.check:
            path.write_text(text)
            continue
        written = path.read_text() if path.exists() else ""
        difference = list(difflib.unified_diff(written.splitlines(), text.splitlines(), str(path), "generated", n=0, lineterm=""))
        if difference:
            print(*difference, f"{path.relative_to(ROOT)}: error: is not what utils/dev/generate_pages.py writes", sep="\n")
        stale |= bool(difference)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
