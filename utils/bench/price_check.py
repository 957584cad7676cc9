#!/usr/bin/env python3
# ===- price_check.py - Static prices beside the clock ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the kernels of programs as static prices schedule them, or with all legal schedules, beside what was predicted.

    build/venv/bin/python utils/bench/price_check.py                       (all models and workloads of models.py)
    build/venv/bin/python utils/bench/price_check.py --schedules softmax_2048x2048 bert --search=10
    python3 utils/bench/price_check.py --target=cuda model.pt2 gpu:softmax  (where the GPU is)

A program is a file (.pt2, .mlir), a name of models.py, or gpu:ROW of gpu_bench.py; the default is all of them. An archive
that --models has is used, others need PyTorch. Prices are those of the machine as it is measured first (--calibrate; a
GPU's are the compiler's). Printed are the rank correlation (Spearman) of prices with times over all distinct kernels, the
median of |price / time - 1|, and the kernels that are furthest off, with the parts of their prices.

With --schedules, of each kernel all legal schedules of its forms and beside the static one are timed: the rank correlation
within each kernel, and how much longer than the fastest the static choice takes (regret), of kernels and of programs.
--search=SECONDS adds the regret of what a search of that time finds. --reports reads reports of earlier runs (--keep).

Exit code 1 where a program cannot be compiled or timed, or, with --check, where a figure misses what docs/Machine.md states.
"""
import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "utils/testing"))
# What --check asks for (docs/Machine.md, "Prices").
LEAST_RANK, LEAST_WITHIN, MOST_ERROR, MOST_REGRET = 0.9, 0.7, 0.25, 1.15
# Within a kernel, times or prices that are closer say nothing about an order; and times of which all are as close as this.
SAME, ALL_SAME = 1.03, 1.05
# What --schedules takes where no program is named: six kernels and six small programs of each target.
SAMPLES = {"cpu": ["gemm_1024", "gemv_4096x14336", "map_sin_sqrt_2^22", "softmax_2048x2048", "rmsnorm_2048x2048",
                   "attention_1024", "mlp_bs64", "dlrm_3_bs256", "bert", "gpt2", "vit", "llama"],
           "cuda": ["gpu:softmax", "gpu:rms_norm", "gpu:sum_columns_f32", "gpu:gemv", "gpu:transpose", "gpu:gather",
                    "mlp_bs64", "dlrm_3_bs256", "bert", "gpt2", "vit", "llama"]}


class Failure(Exception):
    pass


# --- Programs -----------------------------------------------------------------------------------------------------------


def all_names(target):
    import models

    names = [*models.MODELS, *models.WORKLOADS]
    if target != "cuda":
        return names
    import gpu_bench

    return names + [f"gpu:{row}" for row in gpu_bench.ROWS]


def export(name, path):
    """The archive of a case of models.py, or of a row of gpu_bench.py."""
    try:
        import torch
    except ImportError:
        raise Failure(f"no file, no archive of --models, and there is no PyTorch to export it")
    if name.startswith("gpu:"):
        import gpu_bench

        if name[4:] not in gpu_bench.ROWS:
            raise Failure("gpu_bench.py has no such row")
        row = gpu_bench.ROWS[name[4:]]
        model, args, dynamic = gpu_bench.Apply(row.function), row.empty(), None
    else:
        import models

        if name not in models.MODELS and name not in models.WORKLOADS:
            raise Failure("no file, and models.py has no such case")
        case = models.make(name)
        model, args, dynamic = case.model, case.args, case.dynamic
    with torch.no_grad():
        program = torch.export.export(model, args, dynamic_shapes=dynamic)
    program._example_inputs = None  # Sizes are those that prices are for.
    torch.export.save(program, path)


def find_input(name, args, folder):
    if pathlib.Path(name).suffix in (".pt2", ".mlir"):
        return pathlib.Path(name)
    for models in args.models:
        if (models / name / "model.pt2").exists():
            return models / name / "model.pt2"
    path = (args.archives or folder) / f"{name.replace(':', '-').replace('^', '-')}.pt2"
    if not path.exists():
        export(name, path)
    return path


def compile_report(args, source, folder, *options):
    """The search of the report of a compile that measures."""
    report = folder / "report.json"
    command = [args.bin / "luminal-compile", source, "-o", folder / "program.lum", f"--target={args.target}",
               f"--arch={args.arch}", f"--plan-cache={folder}", f"--report={report}", "--quiet", *options]
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=args.timeout)
    except OSError as e:
        raise Failure(f"{command[0]}: {e.strerror}")
    except subprocess.TimeoutExpired:
        raise Failure(f"luminal-compile: more than {args.timeout:.0f} s")
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise Failure(next((line for line in lines if "error:" in line), f"exit {done.returncode}: {' '.join(lines[-1:])}"))
    (folder / "program.lum").unlink()
    return json.loads(report.read_text())["search"]


def measure(name, args, machine):
    """The report of one program: with the search's, where that is asked for, whose times both have in common."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if machine:
            shutil.copy(machine, folder / "machine.json")
        source = find_input(name, args, folder)
        found = {"name": name}
        if args.search:
            found["search"] = compile_report(args, source, folder, f"--search-budget={args.search}")
        found["static"] = compile_report(args, source, folder, "--search-candidates=1",
                                         f"--search-schedules={0 if args.schedules else 1}")
        return found


# --- Figures ------------------------------------------------------------------------------------------------------------


def ranks(values):
    """Equal ones have the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in order[first:last + 1]:
            result[i] = (first + last) / 2
        first = last + 1
    return result


def spearman(a, b):
    """None where one of them tells nothing apart."""
    if len(a) < 2 or min(a) == max(a) or min(b) == max(b):
        return None
    x, y = ranks(a), ranks(b)
    mx, my = statistics.fmean(x), statistics.fmean(y)
    return (sum((i - mx) * (j - my) for i, j in zip(x, y)) /
            math.sqrt(sum((i - mx)**2 for i in x) * sum((j - my)**2 for j in y)))


def merged(values):
    """Numbers of groups, in order: what is within SAME of the least of its group."""
    result, least, group = [0] * len(values), 0.0, -1
    for i in sorted(range(len(values)), key=values.__getitem__):
        if group < 0 or values[i] > SAME * least:
            least, group = values[i], group + 1
        result[i] = group
    return result


def is_timed(tried):
    return "seconds" in tried and tried["predicted_seconds"] > 0


def reason(tried):
    """The parts of a price in their order, in microseconds; what memory does meanwhile is beside what is computed."""
    terms = sorted(tried.get("terms", {}).items(), key=lambda term: -term[1])
    return ", ".join(f"{name} {1e6 * seconds:.3g}" for name, seconds in terms[:4]) or "no price"


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(c.ljust(w) if i in (0, len(row) - 1) else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))).rstrip())


def us(seconds):
    return f"{1e6 * seconds:.2f}"


def report_prices(reports, worst):
    """Rank correlation and median error over all distinct kernels."""
    kernels, skipped = {}, {"without a schedule": 0, "not timed": 0}
    for report in reports:
        for kernel in report["static"]["kernels"]:
            if not kernel["tried"] or not kernel["tried"][0]["schedule"]:
                skipped["without a schedule"] += 1
            elif not is_timed(kernel["tried"][0]):
                skipped["not timed"] += 1
            else:
                kernels.setdefault(kernel["tried"][0]["key"], (report["name"], kernel))
    if len(kernels) < 2:
        raise Failure(f"{len(kernels)} kernels were timed, which say nothing about prices")
    rows = [(name, kernel["name"], kernel["tried"][0], kernel.get("bytes", 0)) for name, kernel in kernels.values()]
    predicted = [tried["predicted_seconds"] for _, _, tried, _ in rows]
    seconds = [tried["seconds"] for _, _, tried, _ in rows]
    rank = spearman(predicted, seconds)
    error = statistics.median(abs(p / s - 1) for p, s in zip(predicted, seconds))
    bias = math.exp(statistics.fmean(math.log(p / s) for p, s in zip(predicted, seconds)))
    print(f"{len(rows)} distinct kernels of {len(reports)} programs" +
          "".join(f", {count} {what}" for what, count in skipped.items() if count))
    print(f"rank correlation {rank if rank is not None else math.nan:.3f}, median error {100 * error:.1f} %, "
          f"geometric mean of price / time {bias:.2f}")
    rows.sort(key=lambda row: -abs(math.log(row[2]["predicted_seconds"] / row[2]["seconds"])))
    print_table([["furthest off", "kernel", "us", "predicted", "ratio", "KB", "parts of the price, us"]] +
                [[name, kernel, us(tried["seconds"]), us(tried["predicted_seconds"]),
                  f"{tried['predicted_seconds'] / tried['seconds']:.2f}", f"{size / 1e3:.0f}", reason(tried)]
                 for name, kernel, tried, size in rows[:worst]])
    misses = []
    if rank is None or rank < LEAST_RANK:
        misses.append(f"rank correlation below {LEAST_RANK}")
    if error > MOST_ERROR:
        misses.append(f"median error above {100 * MOST_ERROR:.0f} %")
    if skipped["not timed"]:
        misses.append("kernels that were not timed")
    return misses


def least_sum(search):
    """The fastest schedules of each kernel, together."""
    return sum(kernel["count"] * min(t["seconds"] for t in kernel["tried"] if "seconds" in t)
               for kernel in search["kernels"])


def report_schedules(reports, worst):
    """Rank correlation within each kernel, and regrets."""
    within, regrets, found, rows = [], [], [], []
    programs = [["program", "kernels", "schedules", "us", "static", "found"]]
    seen = set()
    for report in reports:
        kernels = [k for k in report["static"]["kernels"] if k["tried"] and "seconds" in k["tried"][0]]
        if len(kernels) != len(report["static"]["kernels"]):
            raise Failure(f"{report['name']}: has kernels that were not timed")
        static = sum(k["count"] * k["tried"][0]["seconds"] for k in kernels)
        least = least_sum(report["static"])
        search = report.get("search")
        if search:
            least = min(least, search["least_sum_of_kernels"])
            found.append(search["sum_of_kernels"] / least)
        regrets.append(static / least)
        programs.append([report["name"], str(len(kernels)), str(sum(len(k["tried"]) for k in kernels)), us(least),
                         f"{static / least:.3f}", f"{found[-1]:.3f}" if search else ""])
        for kernel in kernels:
            tried = [t for t in kernel["tried"] if is_timed(t)]
            if kernel["tried"][0]["key"] in seen or len(tried) < 2:
                continue
            seen.add(kernel["tried"][0]["key"])
            seconds = [t["seconds"] for t in tried]
            best = min(tried, key=lambda t: t["seconds"])
            rank = None
            if len(tried) >= 4 and max(seconds) > ALL_SAME * min(seconds):
                rank = spearman(merged([t["predicted_seconds"] for t in tried]), merged(seconds))
                within.append(-1.0 if rank is None else rank)
            rows.append((seconds[0] / min(seconds), rank, report["name"], kernel["name"], tried, best))
    print_table(programs)
    if not rows:
        raise Failure("no kernel has two schedules")
    misses = []
    if within:
        low = sum(rank < LEAST_WITHIN for rank in within)
        print(f"rank correlation within a kernel: median {statistics.median(within):.3f}, least {min(within):.3f}, "
              f"{low} of {len(within)} below {LEAST_WITHIN}")
        if statistics.median(within) < LEAST_WITHIN:
            misses.append(f"rank correlation within a kernel below {LEAST_WITHIN}")
    kernel_regrets = [row[0] for row in rows]
    mean = lambda values: math.exp(statistics.fmean(map(math.log, values)))
    print(f"regret of {len(rows)} kernels: geometric mean {mean(kernel_regrets):.3f}, most {max(kernel_regrets):.3f}; of "
          f"{len(regrets)} programs: {mean(regrets):.3f}, most {max(regrets):.3f}" +
          (f"; after the search: {mean(found):.3f}, most {max(found):.3f}" if found else ""))
    if max(regrets) > MOST_REGRET:
        misses.append(f"regret of the static choice above {MOST_REGRET}")
    rows.sort(key=lambda row: -row[0])
    print_table([["most regret", "kernel", "schedules", "rank", "us", "predicted", "best us", "predicted", "static; best"]] +
                [[name, kernel, str(len(tried)), "-" if rank is None else f"{rank:.2f}", us(tried[0]["seconds"]),
                  us(tried[0]["predicted_seconds"]), us(best["seconds"]), us(best["predicted_seconds"]),
                  f"{tried[0]['schedule'].removeprefix('#llir.loops')}; {best['schedule'].removeprefix('#llir.loops')}"]
                 for regret, rank, name, kernel, tried, best in rows[:worst]])
    return misses


# --- Entry --------------------------------------------------------------------------------------------------------------


def calibrate(args, folder):
    """The file with the model of this machine: measured, or the one that compiles use, or none."""
    if args.machine or args.target != "cpu":
        return args.machine
    done = subprocess.run([args.bin / "luminal-compile", "--calibrate", f"--plan-cache={folder}"], capture_output=True, text=True)
    if done.returncode:
        raise Failure(done.stderr.strip())
    return pathlib.Path(folder) / "machine.json"


def find_bin():
    places = [ROOT / "build/release/bin", ROOT / "build/bin"]  # Of a build; of what gpu-bundle.sh wrote.
    return next((p for p in places if (p / "luminal-compile").exists()), places[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--arch", default="native")
    parser.add_argument("--schedules", action="store_true", help="time all legal schedules of each kernel")
    parser.add_argument("--search", type=float, default=0, metavar="SECONDS", help="with --schedules: search beside it")
    parser.add_argument("--machine", type=pathlib.Path, help="file of --calibrate (default: measures the machine)")
    parser.add_argument("--bin", type=pathlib.Path, default=find_bin(), help="folder of the tools")
    parser.add_argument("--models", type=pathlib.Path, nargs="*", default=[ROOT / "build/release/models", ROOT / "build/models"],
                        help="where export_models.py wrote archives")
    parser.add_argument("--archives", type=pathlib.Path, help="where other archives are kept")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="of one compile")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="programs that have not begun by then are left out")
    parser.add_argument("--worst", type=int, default=10, help="rows of what is furthest off")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE", help="write the reports there")
    parser.add_argument("--reports", type=pathlib.Path, metavar="FILE", help="read what --keep wrote, and measure nothing")
    parser.add_argument("--check", action="store_true", help="exit code 1 where a figure misses what is stated")
    args = parser.parse_args()
    if args.search and not args.schedules:
        parser.error("--search is beside --schedules")
    if args.archives:
        args.archives.mkdir(parents=True, exist_ok=True)
    failed = False
    try:
        if args.reports:
            reports = json.loads(args.reports.read_text())
        else:
            reports = []
            with tempfile.TemporaryDirectory() as folder:
                machine = calibrate(args, folder)
                began = time.monotonic()
                for name in args.programs or (SAMPLES[args.target] if args.schedules else all_names(args.target)):
                    if args.budget is not None and time.monotonic() - began >= args.budget:
                        print(f"left out: {name}", flush=True)
                        continue
                    try:
                        reports.append(measure(name, args, machine))
                    except Failure as e:
                        failed = True
                        print(f"{name}: {e}", file=sys.stderr, flush=True)
            if args.keep:
                args.keep.write_text(json.dumps(reports))
        misses = report_prices(reports, args.worst)
        if args.schedules:
            misses += report_schedules(reports, args.worst)
    except Failure as e:
        sys.exit(f"price_check.py: error: {e}")
    if args.check and misses:
        print(f"missed: {'; '.join(misses)}")
        failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
