#!/usr/bin/env bash
# ===- lint.sh - Format, file headers, house words, line budgets --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What pre-commit and CI call. --fix rewrites what clang-format can rewrite.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0
complain() { # TITLE LINES
  [ -z "$2" ] && return
  printf '%s\n%s\n' "$1" "$2" >&2
  failed=1
}
files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ -f "$f" ] && echo "$f"; done; }

mapfile -t cxx < <(files '*.cpp' '*.h' '*.c')
if [ "${1:-}" = --fix ]; then
  clang-format-22 -i "${cxx[@]}"
fi
complain "Not formatted (utils/lint.sh --fix):" \
  "$(clang-format-22 --dry-run -Werror "${cxx[@]}" 2>&1 | sed -n 's/:[0-9]*:[0-9]*: error:.*//p' | sort -u)"

# Every source file says in its first line what it is: //===- Name - what it is ---===// (C: /*===- ... ---===*/).
complain "No header line:" "$(
  for f in $(files '*.cpp' '*.h' '*.c' '*.td' '*.pdll'); do
    head -n 1 "$f" | grep -qE '^(//|/\*)===- .* - .*===(//|\*/)$' || echo "$f"
  done)"
complain "No SPDX line in the first four:" "$(
  for f in $(files '*.cpp' '*.h' '*.c' '*.td' '*.pdll' '*.py' '*.sh'); do
    head -n 4 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception' || echo "$f"
  done)"
complain "Wrong include guard:" "$(
  for f in $(files 'include/luminal/*.h' 'include/luminal-c/*.h'); do
    guard=$(echo "${f#include/}" | tr 'a-z/.-' 'A-Z___')
    grep -q "^#ifndef ${guard}\$" "$f" || echo "$f: expected $guard"
  done)"
# Unfinished work is finished or reported as an error; a test is never switched off: at most it names the program that
# is missing. (In the Python package one of the words is what torch.fx calls the inputs of a graph.)
words='TO''DO|FIX''ME|XX''X|not (yet )?imple''mented'
complain "Words of unfinished work:" \
  "$(git grep -nIwE -e 'place''holder' -- '*.cpp' '*.h' '*.c' '*.td' '*.pdll' '*.sh' '*.md' '*.txt' '*.cmake' 'utils/*.py' 'test/*.py' | cut -c1-140
  git grep -nIwE -e "$words" -- '*.cpp' '*.h' '*.c' '*.td' '*.pdll' '*.py' '*.sh' '*.md' '*.txt' '*.cmake' | cut -c1-140)"
# One word for one thing, the one that the field uses: thread block, thread group, work item, in flight, L1 and L2, interleaved,
# side by side, again, no one.
given_up='blocks? of threads|teams? of threads|units? of work|on (its|their) way|(first|second|nearest) cache|take''s? turns|beside each other|hand-''over|an''ew|no''body|who''ever|of no matter'
complain "Words that docs/Glossary.md has another one for:" \
  "$(git grep -nIwiE -e "$given_up" -- lib include tools python/luminal docs README.md test/Conversion test/Dialect ':!docs/Walk.md' ':!docs/Glossary.md' | cut -c1-140)"
complain "Tests switched off:" \
  "$(git grep -nIE -e 'XFAIL''|UNSUPPORTED: *\*|DISABLED''_|GTEST''_SKIP' -- test | grep -vE 'GTEST''_SKIP\(\) << "[a-z]+ is not installed";$' | cut -c1-140)"
complain "Sources that no CMakeLists.txt names, so that nothing builds them:" "$(
  comm -23 <(files 'lib/*.cpp' 'tools/*.cpp' 'test/lib/*.cpp' 'test/unit/*.cpp' | sort) <(
    for f in $(files '*CMakeLists.txt'); do
      grep -oE '[A-Za-z0-9_./-]+\.cpp' "$f" | sed "s|^|$(dirname "$f")/|"
    done | sort))"
complain "Trailing white space:" \
  "$(git grep -nIE -e '[[:blank:]]+$' -- '*.cpp' '*.h' '*.td' '*.pdll' '*.py' '*.sh' '*.cmake' '*.txt' | cut -c1-140)"
# The runtime's rule: no LLVM or MLIR in what a deployed program links (Compile and Session are the compiler's half of the C
# interface, and in its library only).
complain "LLVM or MLIR included behind the artifact:" \
  "$(git grep -nE -e '#include ["<](llvm|mlir)/' -- lib/Runtime lib/Support lib/CAPI lib/Tools/Run include/luminal/Support include/luminal/Runtime include/luminal/Tools/Run include/luminal-c | grep -vE '^lib/CAPI/(Compile|Session)\.' | cut -c1-140)"
# Emitters obey the schedule of a kernel. What is known of a size may save code that cannot run (a proof: simplify,
# provably...), but its value chooses no form: that is lib/Dialect/LLIR/Schedules. Access.cpp makes constants of constants.
complain "A size read where code is emitted:" \
  "$(git grep -nE -e 'asConstant|(upper|lower)Bound\(|isConstant\(' -- lib/Conversion ':!lib/Conversion/Emitter/Access.cpp' |
    grep -vE 'isConstant\([01]\)' | cut -c1-140)"
# What is a fact of a machine is a field of MachineModel (lib/Support), which is measured, asked of the system or in a table by
# name: passes and emitters have no number of their own for it, and know no product by its name.
facts() { # PATTERN
  git grep -nP -e "$1" -- lib/Dialect lib/Conversion include/luminal/Dialect include/luminal/Conversion \
    ':!lib/Conversion/LLIRToLLVM/Processors.cpp' | grep -vE '^[^:]*:[0-9]*: *//' | cut -c1-140
}
complain "A fact of a machine outside of MachineModel:" "$(
  facts '\bk\w*((Line|Way|Page|Bank|Sector|Cache|Shared|Register)s?Bytes|Warp(Threads|Size)?|Rate|Latency|Bandwidth|Clock|Time|Cores|Workers|Multiprocessors|Many(Blocks|Threads)) *= *[-0-9.(]'
  facts '\b(48|96|99|100|163|164|227|228) *<< *10\b|[wW]arp.*[/%*] 32\b|[/%*] 32\b.*[wW]arp'
  facts '(?i)[=!]= *"(a10|a100|l4|l40s|h100|h200|b200|znver|zen|skylake|sapphirerapids|hopper|ampere|blackwell)')"
complain "Includes against the table of docs/Architecture.md:" "$(python3 utils/dev/include_layers.py 2>&1)"
# The engine's folders include each other in one direction: Core, Patterns, Program, Rules.
engine() { # FOLDER
  git grep -nE -e '#include' -- "lib/EqSat/$1" "include/luminal/EqSat/$1"
}
complain "Core of the engine includes more than itself and Support:" \
  "$(engine Core | grep -vE '#include (<(sys/)?[a-z_]+(\.h)?>|<nlohmann/|"luminal/(EqSat/Core|Support)/|"[A-Za-z]+\.h")')"
complain "Patterns of the engine include Program, Rules or a dialect of ours:" \
  "$(engine Patterns | grep -E '(Program|Rules|luminal/Dialect)/')"
complain "Programs of the engine include Rules or a dialect of ours:" "$(engine Program | grep -E '(Rules|luminal/Dialect)/')"
complain "Rules include what is private to the engine:" "$(engine Rules | grep -F '../')"
# Python files have underscores, so that each can be imported; a folder of several files has one line.
complain "Scripts that utils/README.md does not name, or names with a hyphen:" "$(
  for f in $(files 'utils/*.py' 'utils/*.sh'); do
    name=${f##*/}
    [[ $f != utils/*/*/* ]] || name=$(cut -d/ -f3 <<<"$f")/
    case $name in aten_*) continue ;; *-*.py) echo "$f" && continue ;; esac
    grep -qF "\`$name\`" utils/README.md || echo "$f"
  done)"
python3 utils/dev/line_budget.py || failed=1
exit $failed
