# ===- lit.cfg.py - Luminal's lit suite ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Features, substitutions and switches are described in docs/Testing.md.

import glob
import os
import shutil
import subprocess

import lit.formats
import lit.util

config.name = "Luminal"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "lib"]
config.test_source_root = config.luminal_src_root + "/test"
config.test_exec_root = config.luminal_obj_root + "/test"

bin_dir = config.luminal_obj_root + "/bin"
config.environment["PATH"] = os.pathsep.join([bin_dir, config.llvm_tools_dir, os.environ["PATH"]])
for name in ("HOME", "TMPDIR", "LANG", "HF_HOME", "LUMINAL_ROUNDS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Numbers must not depend on how busy or how wide the machine is.
config.environment["OMP_NUM_THREADS"] = "2"
# Nor may code depend on whether this machine was measured.
config.environment["XDG_CACHE_HOME"] = config.luminal_obj_root + "/test/cache"
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"
# The packaged libMLIR poisons memory that the sanitizer then reports by mistake.
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0"
config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
config.environment["TSAN_OPTIONS"] = "halt_on_error=1"

config.substitutions += [
    ("%python", f'"{config.python}"'),
    ("%utils", config.luminal_src_root + "/utils"),
    ("%refuses", f'"{config.python}" {config.luminal_src_root}/test/Inputs/refuses.py'),
    ("%run_guide", f'"{config.python}" {config.luminal_src_root}/test/Inputs/run-guide.py'),
    ("%src", config.luminal_src_root),
    ("%obj", config.luminal_obj_root),
    ("%models", config.luminal_obj_root + "/models"),
    # Each is replaced wherever it occurs, so none may begin another.
    ("%cxx", config.cxx_compiler),
    ("%cc", config.c_compiler),
    ("%cmake", config.cmake),
    ("%mlir_dir", config.mlir_dir),
    ("%lld_dir", config.lld_dir),
]

# Scripts that import PyTorch: where LUMINAL_TORCH_SERVER names a socket of torch-server.py, without the seconds that this takes.
torch_python = f'"{config.python}"'
if "LUMINAL_TORCH_SERVER" in os.environ:
    torch_python += f' {config.luminal_src_root}/test/Inputs/torch-server.py run {os.environ["LUMINAL_TORCH_SERVER"]}'
config.substitutions += [
    ("%torch_python", torch_python),
    ("%export_models", f"{torch_python} {config.luminal_src_root}/utils/testing/export_models.py {config.luminal_obj_root}/models"),
]

# lit -Ddevice=cuda: numbers come from that device; what is compiled for a named one is as ever.
device = lit_config.params.get("device", "cpu")
config.environment["LUMINAL_TEST_DEVICE"] = device

# Under sanitizers, where every archive takes several times as long, every third program is exported or decomposed: both
# forms of all run in the release build.
in_turn = " --in-turn" if config.sanitizers else ""
on_device = f" --target={device}"
config.substitutions.append(("%device", device))
config.substitutions += [
    (f"%{name}", f"{python} {config.luminal_src_root}/utils/testing/{script}.py --bin {bin_dir}{options}")
    for name, python, script, options in (
        # The interpreter on the host, and compiled code on any other device.
        ("check_aten", torch_python, "check_aten_ops", in_turn + (on_device if device != "cpu" else "")),
        ("check_models", f'"{config.python}"', "check_models", on_device),
        ("fuzz_programs", torch_python, "fuzz_programs", on_device),
    )
]

# What a program that loads a library of this build needs: C programs are compiled with its sanitizers, Python has their
# runtime loaded before it (env %preload).
sanitize = "-fsanitize=" + ",".join(config.sanitizers) if config.sanitizers else ""
preload = ""
for name in ("address", "thread"):
    if name in config.sanitizers:
        library = f"libclang_rt.{name[0] + 'san'}-{config.host_arch}.so"
        found = subprocess.run([config.c_compiler, "-print-file-name=" + library], capture_output=True, text=True)
        # Memory that Python, or a shell that starts it, never frees is not our leak.
        preload = f"LD_PRELOAD={found.stdout.strip()} ASAN_OPTIONS={config.environment['ASAN_OPTIONS']}:detect_leaks=0"
config.substitutions += [("%sanitize", sanitize), ("%preload", preload)]

# LUMINAL_ROUNDTRIP=1 in the environment: every luminal-opt of the suite also checks that its result can be printed,
# parsed and printed again.
if os.environ.get("LUMINAL_ROUNDTRIP"):
    config.substitutions.append((r"\bluminal-opt(?= )", "luminal-opt --verify-roundtrip"))


def python_has(*modules):
    """Whether the tests' Python finds the modules, without the seconds that importing them takes."""
    names = ", ".join(repr(name) for name in modules)
    code = f"import importlib.util as u, sys; sys.exit(not all(u.find_spec(n) for n in ({names},)))"
    return subprocess.run([config.python, "-c", code]).returncode == 0


# asserts: Luminal's own. Targets: <arch>-<os> of the host, and <name>-registered-target for each LLVM back end.
config.available_features.add(f"{config.host_arch.lower()}-{config.host_os.lower()}")
config.available_features.update(f"{name.lower()}-registered-target" for name in config.llvm_targets)
if "NVPTX" in config.llvm_targets:
    config.available_features.add("nvptx")
if config.assertions or config.build_type == "Debug":
    config.available_features.add("asserts")
for name, feature in (("address", "asan"), ("undefined", "ubsan"), ("thread", "tsan")):
    if name in config.sanitizers:
        config.available_features.add(feature)
if os.path.exists(config.test_exec_root + "/Fuzz/luminal-fuzz-rules"):
    config.available_features.add("libfuzzer")
    # libFuzzer takes the same steps from the same seed where addresses are the same, which some containers forbid.
    fixed = shutil.which("setarch") and not subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode
    config.substitutions.append(("%fixed_addresses", "setarch -R" if fixed else ""))
elif "address" in config.sanitizers:
    lit_config.warning("the compiler has no libFuzzer: the fuzz tests are skipped")
if python_has("torch", "transformers", "numpy"):
    config.available_features.add("torch")
if python_has("sphinx", "myst_parser", "furo"):
    config.available_features.add("sphinx")
# ptxas of the machine, or of the package that utils/setup.sh adds to the tests' Python.
packaged = glob.glob(os.path.dirname(os.path.dirname(config.python)) + "/lib/python*/site-packages/nvidia/*/bin/ptxas")
ptxas = shutil.which("ptxas") or next(iter(sorted(packaged)), None)
if ptxas:
    config.available_features.add("ptxas")
    config.environment["PATH"] += os.pathsep + os.path.dirname(ptxas)
if os.path.exists(bin_dir + "/luminal-run"):
    devices = subprocess.run([bin_dir + "/luminal-run", "--list-devices"], capture_output=True, text=True)
    if devices.returncode == 0 and "cuda" in devices.stdout:
        config.available_features.add("cuda")

# A skipped GPU run must never look like a green one: lit -Drequire=cuda (or any other feature) fails without it.
needed = lit_config.params.get("require", "").split(",") + [device if device != "cpu" else ""]
for feature in filter(None, needed):
    if feature not in config.available_features:
        lit_config.fatal(f"required feature '{feature}' is not available")
