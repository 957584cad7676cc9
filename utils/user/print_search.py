#!/usr/bin/env python3
# ===- print_search.py - The report of a search as a table ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints "search" of a report of luminal-compile: the programs looked at, and the kernels by their part of a call."""
import argparse
import json
import pathlib
import sys


def microseconds(seconds):
    return "-" if seconds is None else f"{1e6 * seconds:.2f}"


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        # The first column is text, the others are numbers.
        print("  ".join([row[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(row[1:], widths[1:])]))


def best_of(kernel):
    return min((tried["seconds"] for tried in kernel["tried"] if "seconds" in tried), default=None)


def print_search(search, schedules):
    print(f"ended by {search['ended']} after {search['seconds']:.1f} s: {search['kernels_timed']} kernels timed, "
          f"{search['cache_hits']} from the cache")
    print("seconds: " + ", ".join(f"{1.0 * seconds:.1f} {part}" for part, seconds in search["phases"].items()))
    print_table([["us", "static", "found"],
                 ["sum of kernels", microseconds(search["sum_of_static_kernels"]), microseconds(search["sum_of_kernels"])],
                 ["whole program", microseconds(search.get("static_seconds")), microseconds(search.get("program_seconds"))],
                 ["least of all programs", "", microseconds(search["least_sum_of_kernels"])],
                 ["roofline", "", microseconds(search["roofline_seconds"])]])
    print()
    print_table([["program", "sum of kernels", "whole", ""]] +
                [[c["title"], microseconds(c["sum_of_kernels"]), microseconds(c.get("seconds")),
                  "won" if c["won"] else "kept" if c["kept"] else ""] for c in search["candidates"]])
    won = next((c for c in search["candidates"] if c["won"]), None)
    if won is not None and any(c["sum_of_kernels"] < won["sum_of_kernels"] for c in search["candidates"]):
        print("A program with a lesser sum did not win: whole programs are timed, and decide.")
    print()
    rows = [["kernel", "count", "us", "predicted", "static", "best", "tried", "GB/s", "GFLOP/s", "of roofline"]]
    kernels = sorted(search["kernels"], key=lambda k: -k["count"] * k.get("seconds", k["predicted_seconds"]))
    for kernel in kernels:
        seconds = kernel.get("seconds")
        static = kernel["tried"][0].get("seconds") if kernel["tried"] else None
        rate = (lambda amount: f"{amount / seconds / 1e9:.1f}") if seconds else (lambda amount: "-")
        rows.append([kernel["name"], str(kernel["count"]), microseconds(seconds),
                     microseconds(kernel["predicted_seconds"]), microseconds(static), microseconds(best_of(kernel)),
                     str(len(kernel["tried"])), rate(kernel.get("bytes", 0)), rate(kernel.get("flops", 0)),
                     f"{kernel['roofline_share']:.2f}" if "roofline_share" in kernel else "-"])
    print_table(rows)
    if schedules:
        for kernel in kernels:
            print(f"\n{kernel['name']}: {kernel['schedule']}")
            for tried in kernel["tried"]:
                print(f"  {microseconds(tried.get('seconds')):>10}  {tried['schedule']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--schedules", action="store_true", help="list what was tried for each kernel")
    args = parser.parse_args()
    searches = {key: search for key, search in json.loads(args.report.read_text()).items() if key.startswith("search")}
    if not searches:
        sys.exit(f"{args.report}: is no report of a compile with --search-budget")
    for key, search in searches.items():
        # One for each variant, then that of the program.
        if len(searches) > 1:
            print(key)
        print_search(search, args.schedules)


if __name__ == "__main__":
    main()
