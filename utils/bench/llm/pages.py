# ===- pages.py - One run, and all of them, as pages ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Self-contained HTML from the history. Each page names the runs that it shows."""
import html

import charts
import history
import names

# Figure, what it is called of language models and of others, its unit, and what the stored value is multiplied with.
METRICS = (("ttft_ms", "Time to the first token (TTFT)", None, "ms", 1), ("step_ms", "Time of each later token (TPOT, median)", "Time of a call (median)", "ms", 1),
           ("tokens_per_second", "Tokens a second", None, "tokens/s", 1), ("compile_seconds", "Compile and search", "Compile and search", "s", 1),
           ("device_bytes", "Peak memory of the device", "Peak memory of the device", "GB", 1e-9),
           ("host_bytes", "Peak memory of the host", "Peak memory of the host", "GB", 1e-9))
_COLUMNS = (("backend", None), ("TTFT, ms", "ttft_ms"), ("TPOT, ms", "step_ms"), ("p99, ms", "step_p99_ms"), ("tokens/s", "tokens_per_second"),
            ("compile, s", "compile_seconds"), ("load, s", "load_seconds"), ("device, GB", "device_bytes"), ("host, GB", "host_bytes"),
            ("weights, GB/s", "rate"), ("launches a step", "launches"), ("error of logits", "logits_error"))
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1240px; padding: 0 20px 60px; }
nav { position: sticky; top: 0; background: Canvas; padding: 10px 0; border-bottom: 1px solid #8886; }
nav a { margin-right: 16px; }
.charts { display: flex; flex-wrap: wrap; gap: 12px 16px; }
figure { margin: 0; max-width: 100%; overflow-x: auto; }
figcaption { font-weight: 600; }
table { border-collapse: collapse; margin: 12px 0; display: block; overflow-x: auto; }
th, td { padding: 3px 10px; text-align: right; border-bottom: 1px solid #8884; white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child, td.said { text-align: left; }
td.said { white-space: normal; min-width: 18em; }
td.said:empty { min-width: 0; }
tr.failed { background: #e5393522; }
.legend span { margin-right: 18px; white-space: nowrap; }
.legend i { display: inline-block; width: 12px; height: 12px; margin-right: 6px; }
"""


def title_of(rows):
    row = rows[0]
    parts = [row["model"]]
    if row["layers"]:
        every = next((each["all_layers"] for each in rows if "all_layers" in each), None)
        parts.append(f"cut to {row['layers']} layers" if every is None or every == row["layers"] else f"{row['layers']} layers")
    if row["prompt"]:
        parts.append(f"{row['batch']} x {row['prompt']} + {row['tokens']} tokens, cache of {row['cache']}")
    parts += [row["dtype"], row["device"] + (f" ({row['threads']} threads)" if row["threads"] else "")]
    return ", ".join(parts)


def _page(title, sections, lead):
    links = "".join(f'<a href="#s{i}">{html.escape(name)}</a>' for i, (name, _) in enumerate(sections))
    body = "".join(f'<section id="s{i}"><h2>{html.escape(name)}</h2>{text}</section>' for i, (name, text) in enumerate(sections))
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body><h1>{html.escape(title)}</h1>{lead}"
            f"<nav>{links}</nav>{body or '<p>Nothing was measured.</p>'}</body></html>\n")


def _figure(caption, svg):
    return f"<figure><figcaption>{html.escape(caption)}</figcaption>{svg}</figure>"


def _caption(metric, row):
    return metric[1] if row["prompt"] else metric[2]


def _about(run):
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    driver = f", driver {run['driver']}" if run["driver"] else ""
    return f"run {run['run']}, commit {run['commit']}, {run['machine']}{driver}; {versions}"


def _weights(rows):
    checkpoints = {row["checkpoint"] for row in rows if row["checkpoint"]}
    drawn = sorted({row["seed"] for row in rows if not row["checkpoint"]})
    said = [f"weights are random (seed {', '.join(map(str, drawn))})"] if drawn else []
    said += [f"weights are those of {len(checkpoints)} checkpoint{'s' if len(checkpoints) > 1 else ''}"] if checkpoints else []
    text = "; ".join(said)
    return text[:1].upper() + text[1:] + "." if text else ""


def _cell(row, name):
    if name == "rate" and row["batch"] == 1 and {"step_bytes", "step_ms"} <= row.keys():
        return charts.number(row["step_bytes"] / row["step_ms"] / 1e6)
    if name not in row:
        return "-"
    value = row[name] * (1e-9 if name.endswith("_bytes") else 1)
    return charts.number(value) if name != "logits_error" else f"{value:.1e}" + ("" if row.get("reference") == "float64" else f" ({row.get('reference')})")


def _table(rows):
    # What no row has is left out.
    columns = [(title, name) for title, name in _COLUMNS if name is None or any(_cell(row, name) != "-" for row in rows)]
    head = "".join(f"<th>{html.escape(title)}</th>" for title, _ in columns) + "<th></th>"
    body = []
    for row in rows:
        cells = "".join(f"<td>{html.escape(history.backend(row) if name is None else _cell(row, name))}</td>" for _, name in columns)
        said = "; ".join(text for text in (row.get("failure", ""), row.get("note", "")) if text)
        body.append(f"<tr{' class=' + chr(34) + 'failed' + chr(34) if 'failure' in row else ''}>{cells}<td class=\"said\">{html.escape(said)}</td></tr>")
    turns = [history.backend(row) for row in rows if row["turns"]]
    beside = [f"{history.backend(row)} beside the best peer: " + ", ".join(f"{title} {ratio:.2f} x {peer}" for title, ratio, peer in found)
              for row, found in names.ratios(rows)] + ([f"Measured in turns, in one process: {', '.join(turns)}"] if turns else [])
    return (f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
            + (f"<ul>{''.join(f'<li>{html.escape(text)}</li>' for text in beside)}</ul>" if beside else ""))


def report(store, run):
    """One run: for each shape of work a bar for each backend, and a table of all figures."""
    rows, sections = store.rows(run), []
    for found in names.grouped(rows).values():
        figures = []
        for metric in METRICS:
            name, *_, unit, scale = metric
            if not _caption(metric, found[0]) or not any(name in row for row in found):
                continue
            bars = []
            for row in found:
                label = history.backend(row)
                if name in row:
                    value = row[name] * scale
                    bars.append((label, row["backend"], value, f"{label}: {charts.number(value)} {unit}"))
                elif "failure" in row:
                    bars.append((label, row["backend"], None, "failed"))
            figures.append(_figure(_caption(metric, found[0]), charts.bars(_caption(metric, found[0]), unit, bars)))
        sections.append((title_of(found), f'<div class="charts">{"".join(figures)}</div>{_table(found)}'))
    about = next(known for known in store.runs() if known["run"] == run)
    lead = f"<p>{html.escape(_about(about))}. {html.escape(_weights(rows))}</p>"
    return _page("Language models beside PyTorch", sections, lead)


def dashboard(store):
    """All runs: for each shape of work and figure a line for each backend."""
    runs = {run["run"]: run for run in store.runs()}
    sections = []
    groups = {}
    for row in store.rows():
        groups.setdefault((history.group(row), runs[row["run"]]["machine"]), []).append(row)
    for (_, machine), found in groups.items():
        own = [run for run in runs if any(row["run"] == run for row in found)]
        labels = [f"{run[5:10]} {run[11:16]} {runs[run]['commit'][:9]}" for run in own]
        lines = list(dict.fromkeys((row["backend"], row["budget"]) for row in found))
        figures = []
        for metric in METRICS:
            name, *_, unit, scale = metric
            caption = _caption(metric, found[0])
            if not caption or not any(name in row for row in found):
                continue
            series = []
            for backend, budget in lines:
                values = []
                for run in own:
                    # The last one, where a row was measured again.
                    of_run = [row for row in found if (row["run"], row["backend"], row["budget"]) == (run, backend, budget) and name in row]
                    value = of_run[-1][name] * scale if of_run else None
                    values.append((value, f"{backend}, {run}, {runs[run]['commit']}: "
                                          f"{charts.number(value)} {unit}" if of_run else ""))
                series.append((backend, backend, budget > 0, values))
            figures.append(_figure(caption, charts.lines(caption, unit, labels, series)))
        legend = "".join(f'<span><i style="background:{charts.colour(backend)}"></i>{html.escape(history.backend({"backend": backend, "budget": budget}))}'
                         f"{' (dashed)' if budget else ''}</span>" for backend, budget in lines)
        failures = "".join(f"<li>{html.escape(row['run'])}, {html.escape(history.backend(row))}: {html.escape(row['failure'])}</li>"
                           for row in found if "failure" in row)
        sections.append((f"{title_of(found)}, {machine}", f'<p class="legend">{legend}</p><div class="charts">{"".join(figures)}</div>'
                                          + (f"<p>Failed:</p><ul>{failures}</ul>" if failures else "")))
    last = next(reversed(runs.values()), None)
    lead = f"<p>{len(runs)} runs" + (f", the last one: {html.escape(_about(last))}" if last else "") + f". {html.escape(_weights(store.rows()))}</p>"
    return _page("Language models over time", sections, lead)
