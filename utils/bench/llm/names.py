# ===- names.py - Names of rows, and what is compared --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the command line and the pages know of models and backends without PyTorch."""
import history

MODELS = ("tiny", "tiny-moe", "llama-160m", "qwen2.5-0.5b", "llama-3.2-1b", "llama-3-8b", "qwen3-4b", "gemma-3-4b", "qwen3-30b-a3b",
          "gemma-4-26b", "deepseek-v3-cut")
# Batches by tables.
DLRM = [f"dlrm-{batch}x{tables}" for batch in (256, 1024, 2048, 4096) for tables in (3, 8, 16)]
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
"""Of torch.compile; "default" is none."""
OURS = ("luminal", "engine")
BY_ONNX = ("onnxruntime", "openvino")
"""On the CPU."""
BACKENDS = ("eager", *MODES, *BY_ONNX, *OURS)


def grouped(rows):
    """Rows that are compared, by what they have in common."""
    found = {}
    for row in rows:
        found.setdefault(history.group(row), []).append(row)
    return found


def ratios(rows):
    """Of our rows in a group: the title of a figure, how often the best peer's it is, and which peer that is; also by the fastest
    calls, which say more on a busy machine."""
    for row in rows:
        if row["backend"] not in OURS or "failure" in row:
            continue
        found = []
        for name, title in (("ttft_ms", "TTFT"), ("step_ms", "TPOT" if row["prompt"] else "a call")):
            for value, which in ((lambda each: each[name], title), (lambda each: fastest(each, name), f"{title} of the fastest")):
                peers = [peer for peer in rows if peer["backend"] not in OURS and "failure" not in peer and name in peer]
                if peers and name in row:
                    best = min(peers, key=value)
                    found.append((which, value(row) / value(best), best["backend"]))
        if found:
            yield row, found


def fastest(row, name):
    """The least sample of a figure."""
    samples = row.get("samples", {}).get(name, [])
    flat = [ms for each in samples for ms in (each if isinstance(each, list) else [each])]
    return min(flat, default=row[name])
