# ===- check-transcript.py - Whether a page holds what was printed ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: check-transcript.py EXPECTED ACTUAL: compares two transcripts command by command; "EXPECTED ACTUAL" must be equal
# but for what depends on the machine and the moment: numbers with a point, shares, addresses, line numbers, threads, the
# folder of a file, the name of the processor. A table may have its rows in another order: some are sorted by time.
import collections
import re
import sys

MASKS = [(r"\s+", " "), (r"-{2,}", "--"), (r"\S*/([\w.-]+\.(?:py|mlir))", r"\1"), (r"\.py:\d+(:\d+)?", ".py:#"),
         (r"-?\d+\.\d+(e[+-]?\d+)?", "#"), (r"\d+ ?%", "#%"), (r"(predicted ns:|work|threads|code=|arena:) ?\d+", r"\1 #"),
         (r"0x[0-9a-f]+", "0x#"), (r"checksums .*", "checksums #"), (r"\(x86_64, \S+\)", "(x86_64, #)"), (r"^\d+ calls:", "# calls:"),
         (r"\[\d+(, \d+)*\] got", "[#] got"), (r"\S+/lib/EqSat", "$LUMINAL/lib/EqSat"),
         (r"(# )\d+(?= k\d+$| \S.*\(k\d+\)$)", r"\1#")]  # threads in tables of a profile
COMMAND = re.compile(r"```|## |[$+] ")


def blocks(path):
    """The lines of a page or a log, from each command or fence to the next."""
    found = [[]]
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            # The commands of a pipeline are traced in any order.
            is_joined = line.startswith("+ ") and found[-1] and all(other.startswith("+ ") for _, other in found[-1])
            if COMMAND.match(line) and not is_joined:
                found.append([])
            masked = line
            for pattern, instead in MASKS:
                masked = re.sub(pattern, instead, masked)
            found[-1].append((masked.strip(), line))
    return found


expected, actual = blocks(sys.argv[1]), blocks(sys.argv[2])
wrong = []
for i in range(max(len(expected), len(actual))):
    pair = [found[i] if i < len(found) else [] for found in (expected, actual)]
    counts = [collections.Counter(masked for masked, _ in lines) for lines in pair]
    for sign, side in ("-", 0), ("+", 1):
        for masked in counts[side] - counts[1 - side]:
            wrong.append(f"{sign} {next(line for m, line in pair[side] if m == masked)}")
if wrong:
    sys.exit("\n".join([f"{sys.argv[1]} is not what is printed now (-: there alone, +: printed alone):", *wrong]))
