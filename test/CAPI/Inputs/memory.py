# ===- memory.py - Many compiles in one process --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles with a search, many times: the memory that the first ones need is enough for the others."""
import ctypes
import pathlib
import sys

library, program, folder = ctypes.CDLL(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
library.luminal_last_error.restype = ctypes.c_char_p
libc = ctypes.CDLL(None)


def compile(*options):
    texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    if library.luminal_compile(str(program).encode(), texts, ctypes.c_size_t(len(options)),
                               str(folder / "out.lum").encode()):
        sys.exit(library.luminal_last_error().decode())


def resident():
    """Pages of this process, without those that the allocator only keeps."""
    libc.malloc_trim(0)
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1])


def search(seed, mode):
    # A decision is known by its seed, so that each of them searches.
    compile(f"--plan-cache={folder / 'cache'}", "--search-candidates=3", f"--plan-cache-mode={mode}", f"--seed={seed}",
            "--threads=1")


COMPILES, WARM = 200, 40
for i in range(WARM):
    search(1 + i % 20, "update" if i < 20 else "read-only")
before = resident()
for i in range(WARM, COMPILES):
    # Nothing is kept: each of them looks at programs and kernels again.
    for entry in (folder / "cache/plans/decision").glob("**/*"):
        if entry.is_file():
            entry.unlink()
    search(1 + i % 20, "read-only")
after = resident()
print(f"{before} pages after {WARM} compiles, {after} after {COMPILES}: {after / before:.3f}")
sys.exit(after > 1.05 * before)
