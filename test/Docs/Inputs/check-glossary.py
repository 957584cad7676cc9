# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-glossary.py SOURCE: each term of docs/Glossary.md is there once, in order, and used on a page or in the sources; terms that pages
introduce, in italics and lower case, are there. Prints the terms."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
# Written from other sources.
GENERATED = {"Ops.md", "Models.md", "Benchmarks.md", "Walk.md"}


def singular(text):
    return re.sub(r"(?<=[a-rt-z])s\b", "", text.lower())


def prose(path):
    """The text of a page without blocks of code, tables' rules and code in lines."""
    return re.sub(r"`[^`\n]*`", "``", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S))


glossary = source / "docs/Glossary.md"
pages = [path for path in (*sorted((source / "docs").glob("*.md")), source / "README.md") if path != glossary]
sources = [path for folder in ("include", "lib") for path in (source / folder).rglob("*.[chtd]*") if path.is_file()]
words = singular(" ".join(path.read_text() for path in (*pages, *sources)))
problems, terms = [], []


def is_used(term):
    """Whether all words of a term occur, but for their endings."""
    return all(re.search(rf"\b{re.escape(word[:max(4, len(word) - 2)])}", words) for word in singular(term).split())


for section in glossary.read_text().split("\n## ")[1:]:
    heads = re.findall(r"^\| (.+?) \| ", section, re.M)[1:]
    heads = [head for head in heads if not head.startswith("---")]
    # Several names of a term, what it is called in code, and what it is of.
    listed = [[re.sub(r" ?\([^)]*\)", "", name).replace("`", "") for name in re.sub(r"\([^)]*\)", "", head).split(", ")] for head in heads]
    keys = [names[0].strip().lower() for names in listed]
    problems += [f"'{late}' stands behind '{early}'" for early, late in zip(keys, keys[1:]) if late < early]
    problems += [f"nothing uses '{', '.join(names)}'" for names in listed if not any(map(is_used, names))]
    terms += [name.strip() for names in listed for name in names]
problems += [f"'{term}' is there twice" for term in sorted({term for term in terms if terms.count(term) > 1})]
known = {singular(term) for term in terms} | {singular(term) for term in re.findall(r"\*([^*|]+)\*", glossary.read_text())}
for path in pages:
    if path.name in GENERATED:
        continue
    for term in re.findall(r"(?<![*\w])\*([a-z][\w -]*)\*(?![*\w])", prose(path)):
        if not any(name == singular(term) or name.startswith(singular(term) + " ") for name in known):
            problems.append(f"{path.name} introduces '{term}', which the glossary lacks")
for problem in problems:
    print(f"docs/Glossary.md: error: {problem}", file=sys.stderr)
print(*terms, f"{len(terms)} terms", sep="\n")
sys.exit(1 if problems else 0)
