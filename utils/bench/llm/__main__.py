# ===- __main__.py - Language models beside PyTorch's compilers ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time to the first token and to each later one, of language models with random weights of a seed or of a checkpoint.

    python utils/bench/llm run --model llama-3-8b qwen3-4b --backend luminal max-autotune --dtype bfloat16 --device cuda
    python utils/bench/llm run --suite cpu --turns
    python utils/bench/llm report -o report.html        (the last run)
    python utils/bench/llm dashboard -o dashboard.html  (all runs)
    python utils/bench/llm list

A row is one model and backend, measured in a process of its own; what fails, takes too long or needs too much memory is a row
that says so. Backends: eager, torch.compile's modes (default, reduce-overhead, max-autotune), luminal, and engine, which is
what `luminal generate` runs; luminal:30 and engine:30 search for 30 seconds. All but engine have the same static cache.
Rows that the history has of the same program and machine are not measured again.

Needs PyTorch, transformers and the library (LUMINAL_LIBRARY; by default that of the tree or the bundle).
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import history
import names
import pages

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = pathlib.Path(__file__).resolve().parent

SUITES = {
    "cpu": dict(model=["llama-160m", "qwen2.5-0.5b", "llama-3.2-1b"], backend=["luminal", "default", "eager", "max-autotune", "engine"],
                prompt=[128], tokens=32, cache=512, dtype="float32", device="cpu"),
    "gpu": dict(model=["llama-3-8b", "qwen3-4b"], backend=["luminal", "reduce-overhead", "eager", "engine", "luminal:30", "max-autotune"],
                prompt=[256], tokens=128, cache=512, dtype="bfloat16", device="cuda"),
    "gpu-all": dict(model=["llama-3-8b", "qwen3-4b", "gemma-3-4b", "qwen3-30b-a3b", "gemma-4-26b", "deepseek-v3-cut"],
                    backend=["luminal", "reduce-overhead", "eager", "engine", "luminal:30", "max-autotune"],
                    prompt=[256, 2048], tokens=128, cache=2304, batch=[1, 16, 64], dtype="bfloat16", device="cuda"),
    "dlrm": dict(model=names.DLRM, backend=["luminal", "max-autotune", "default", "eager"]),
    "tiny": dict(model=["tiny", "tiny-moe"], backend=["eager", "luminal", "engine"], prompt=[8], tokens=6, cache=32),
}
DEFAULTS = dict(model=[], backend=["eager", "reduce-overhead", "max-autotune", "luminal"], prompt=[256], tokens=64, cache=512, batch=[1],
                dtype="float32", device="cpu")


def library():
    given = os.environ.get("LUMINAL_LIBRARY")
    places = [pathlib.Path(given)] if given else [ROOT / "build/release/lib/libluminal.so", ROOT / "build/lib/libluminal.so"]
    return next((str(path) for path in places if path.is_file()), None)


def plan(args):
    """The settings of all rows: first every model with the first backend."""
    found = []
    for backend in args.backend:
        name, _, budget = backend.partition(":")
        for model in args.model:
            is_language = model not in names.DLRM
            if not is_language and name == "engine":
                continue
            for batch in args.batch if is_language else [1]:
                for prompt in args.prompt if is_language else [0]:
                    found.append(history.SETTINGS | dict(
                        model=model if not args.checkpoint else args.checkpoint.resolve().name, layers=args.layers,
                        checkpoint=str(args.checkpoint.resolve()) if args.checkpoint else "", backend=name, budget=float(budget or 0),
                        prompt=prompt, tokens=args.tokens if is_language else 0, batch=batch, dtype=args.dtype, device=args.device,
                        cache=args.cache if is_language else 0, threads=args.threads, seed=args.seed))
    return found


def measure(rows, args, seconds):
    """Figures by row, from a child."""
    with tempfile.TemporaryDirectory() as folder:
        out, log = pathlib.Path(folder) / "figures", pathlib.Path(folder) / "log"
        out.touch()
        job = {"rows": rows, "rounds": args.rounds, "out": str(out), "references": str(args.references) if args.references else "",
               "profile": args.profile}
        # Temporary files of compilers go with the folder. Beside the library may lie those that it needs.
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "TMPDIR": folder}
        if found := library():
            paths = [str(pathlib.Path(found).parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
            environment |= {"LUMINAL_LIBRARY": found, "LD_LIBRARY_PATH": os.pathsep.join(paths)}
        if not args.keep_caches:
            environment |= {"TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "TRITON_CACHE_DIR": f"{folder}/triton"}
        with open(log, "wb") as text:
            child = subprocess.Popen([sys.executable, FOLDER / "measure.py"], stdin=subprocess.PIPE, stdout=text, stderr=text,
                                     env=environment, start_new_session=True)
            try:
                child.communicate(json.dumps(job).encode(), timeout=seconds)
                ended = ""
            except subprocess.TimeoutExpired:
                ended = f"stopped after {seconds:.0f} s"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)  # and what it started
                child.wait()
        if args.logs:
            args.logs.mkdir(parents=True, exist_ok=True)
            shutil.copy(log, args.logs / f"{re.sub(r'[^a-z0-9]+', '-', describe(rows[0]).lower())}.log")
        figures, is_done = [{} for _ in rows], False
        for line in out.read_text().splitlines():
            with contextlib.suppress(ValueError):  # a line that a crash cut off
                read = json.loads(line)
                is_done |= read.pop("done", False)
                figures[read.pop("row")].update(read)
        if not is_done:
            last = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-1:]
            code = child.returncode
            how = ended or (f"killed by signal {-code} (9: out of memory, for the most part)" if code < 0 else f"exit code {code}")
            for found in figures:
                found.setdefault("failure", ": ".join([how, *(text.strip()[:300] for text in last)]))
        return figures


def describe(row):
    parts = [f"{row['model']}{', ' + str(row['layers']) + ' layers' if row['layers'] else ''}", history.backend(row)]
    if row["prompt"]:
        parts.append(f"{row['batch']} x {row['prompt']} + {row['tokens']} tokens")
    return ", ".join([*parts, row["dtype"], row["device"]])


def summarize(figures):
    if "failure" in figures:
        return "failed: " + figures["failure"]
    units = {"ttft_ms": "TTFT {:.2f} ms", "step_ms": "{:.3f} ms a token", "step_p99_ms": "p99 {:.3f}", "tokens_per_second": "{:.1f} tokens/s",
             "compile_seconds": "compiled in {:.1f} s", "launches": "{} launches", "logits_error": "error {:.1e}"}
    return ", ".join(text.format(figures[name]) for name, text in units.items() if figures.get(name) is not None)


def run(args):
    end = time.monotonic() + args.deadline if args.deadline else float("inf")
    store = history.History(args.history)
    this = store.begin(args.device)
    rows = [row for row in plan(args) if args.again or not store.has(this, row, not args.retry_failed)]
    skipped = len(plan(args)) - len(rows)
    groups = {}
    for row in rows:
        alone = () if args.turns and row["backend"] != "engine" else (row["backend"], row["budget"])
        groups.setdefault(history.group(row) + alone, []).append(row)
    left, failed = [], 0
    for rows in groups.values():
        seconds = min(args.timeout, end - time.monotonic())
        if seconds < 5:
            left += rows
            continue
        for row, figures in zip(rows, measure(rows, args, seconds)):
            store.put(this, row, figures, turns=len(rows) > 1)
            failed += "failure" in figures
            print(f"{describe(row)}: {summarize(figures)}", flush=True)
    for row in left:
        print(f"{describe(row)}: left out, the time is over")
    print_ratios(store.rows(this))
    print(f"run {this} in {args.history}: {sum(map(len, groups.values())) - len(left)} rows, {failed} failed, {skipped} were there, "
          f"{len(left)} left out")
    if args.report:
        args.report.write_text(pages.report(store, this))
    store.close()
    return int(failed > 0)


def print_ratios(rows):
    """Ours beside the best of the others."""
    for found in names.grouped(rows).values():
        for row, ratios in names.ratios(found):
            print(f"{describe(row)}: " + ", ".join(f"{title} {ratio:.3f} x {peer}" for title, ratio, peer in ratios))


def page(args):
    store = history.History(args.history)
    runs = store.runs()
    if args.command == "report":
        chosen = args.run or (runs[-1]["run"] if runs else None)
        if chosen not in [known["run"] for known in runs]:
            raise SystemExit(f"{args.history}: there is no run {chosen}" if chosen else f"{args.history}: there are no runs")
        text = pages.report(store, chosen)
    else:
        text = pages.dashboard(store)
    args.output.write_text(text)
    print(args.output)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="llm-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("--history", type=pathlib.Path, default=ROOT / "build/llm-bench/history.db", help="SQLite file of all rows")
    runs = commands.add_parser("run", parents=[place], help="measure rows")
    runs.add_argument("--suite", choices=SUITES, help="rows to begin with; what else is given takes their place")
    runs.add_argument("--model", nargs="+", choices=[*names.MODELS, *names.DLRM], metavar="MODEL")
    runs.add_argument("--checkpoint", type=pathlib.Path, help="a folder in place of a model with random weights")
    runs.add_argument("--layers", type=int, default=0, help="so many layers are left (0: all)")
    runs.add_argument("--backend", nargs="+", metavar="NAME[:SECONDS]", help=", ".join(names.BACKENDS))
    for name, meaning in (("prompt", "tokens of the prompt"), ("batch", "texts at once")):
        runs.add_argument(f"--{name}", nargs="+", type=int, help=meaning)
    runs.add_argument("--tokens", type=int, help="to write after the prompt")
    runs.add_argument("--cache", type=int, help="tokens that the cache has room for")
    runs.add_argument("--dtype", choices=["float32", "bfloat16", "float16"])
    runs.add_argument("--device", choices=["cpu", "cuda"])
    runs.add_argument("--threads", type=int, default=0, help="of the CPU (0: PyTorch's number)")
    runs.add_argument("--seed", type=int, default=0)
    runs.add_argument("--rounds", type=int, default=3, help="each is a prompt and its tokens")
    runs.add_argument("--timeout", type=float, default=900, help="seconds for a process")
    runs.add_argument("--deadline", type=float, default=0, help="seconds for all; what does not fit is left out (0: no limit)")
    runs.add_argument("--turns", action="store_true", help="backends of a model in one process, in turns: for a busy machine")
    runs.add_argument("--again", action="store_true", help="also what the history has")
    runs.add_argument("--retry-failed", action="store_true", help="also what failed")
    runs.add_argument("--keep-caches", action="store_true", help="let Inductor use its cache: compile times are of no worth then")
    runs.add_argument("--references", type=pathlib.Path, default=None, help="folder for logits in float64 (default: beside the history)")
    runs.add_argument("--no-errors", action="store_true", help="compare no logits")
    runs.add_argument("--logs", type=pathlib.Path, help="folder for what processes print")
    runs.add_argument("--profile", action="store_true", help="with --logs: also the steps of a token of ours, and what each takes")
    runs.add_argument("--report", type=pathlib.Path, help="also write the page of this run")
    for name, meaning in (("report", "the page of one run"), ("dashboard", "the page of all runs")):
        made = commands.add_parser(name, parents=[place], help=meaning)
        made.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(f"{name}.html"))
        if name == "report":
            made.add_argument("--run", help="by default the last one")
    commands.add_parser("list", help="models and suites")
    args = parser.parse_args()
    if args.command == "list":
        print("models: " + ", ".join([*names.MODELS, *names.DLRM]))
        for name, suite in SUITES.items():
            print(f"--suite {name}: " + ", ".join(suite["model"]) + "; " + ", ".join(suite["backend"]))
        return 0
    if args.command != "run":
        return page(args)
    chosen = DEFAULTS | (SUITES[args.suite] if args.suite else {})
    for name, value in chosen.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    if args.checkpoint:
        args.model = args.model[:1] or ["checkpoint"]
    if not args.model:
        runs.error("no rows: give --suite, --model or --checkpoint")
    for backend in args.backend:
        name, _, budget = backend.partition(":")
        if name not in names.BACKENDS or not budget.replace(".", "", 1).isdecimal() and budget or budget and name not in names.OURS:
            runs.error(f"'{backend}' is no NAME[:SECONDS]; names: {', '.join(names.BACKENDS)}; seconds are for {', '.join(names.OURS)}")
    for prompt in args.prompt:
        if any(model not in names.DLRM for model in args.model) and not 0 < prompt + args.tokens <= args.cache:
            runs.error(f"{prompt} + {args.tokens} tokens do not fit into a cache of {args.cache}")
    if args.profile and not args.logs:
        runs.error("--profile needs --logs, where it is written")
    if library() is None and any(backend.partition(":")[0] in names.OURS for backend in args.backend):
        runs.error("there is no libluminal.so: build it, or set LUMINAL_LIBRARY")
    args.references = None if args.no_errors else args.references or args.history.parent / "references"
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
