# ===- lit.cfg.py - The GoogleTest binaries as a lit suite --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os

import lit.formats

config.name = "Luminal-Unit"
# The binaries are built here, so the folder of the build is the suite.
config.test_source_root = config.luminal_obj_root + "/test/unit"
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.excludes = ["CMakeFiles"]
for name in ("HOME", "TMPDIR", "LUMINAL_ROUNDS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["XDG_CACHE_HOME"] = config.test_source_root + "/cache"
config.environment["LUMINAL_TEST_DEVICE"] = lit_config.params.get("device", "cpu")
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0:detect_stack_use_after_return=1"
config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
