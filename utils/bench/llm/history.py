# ===- history.py - All rows that were measured on this machine ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A SQLite file of runs and their rows; the only place where results are kept. Needs no PyTorch."""
import datetime
import importlib.metadata
import json
import pathlib
import platform
import shutil
import sqlite3
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]

# What a row is of, with the value that it has where nothing is said.
SETTINGS = {"model": "", "layers": 0, "checkpoint": "", "backend": "", "budget": 0.0, "prompt": 0, "tokens": 0, "batch": 1,
            "dtype": "float32", "device": "cpu", "cache": 0, "threads": 0, "seed": 0}
# Figures and their units.
FIGURES = {"ttft_ms": "REAL", "step_ms": "REAL", "step_p99_ms": "REAL", "tokens_per_second": "REAL", "compile_seconds": "REAL",
           "load_seconds": "REAL", "host_bytes": "INTEGER", "device_bytes": "INTEGER", "launches": "INTEGER", "logits_error": "REAL",
           "reference": "TEXT", "parameters": "INTEGER", "step_bytes": "INTEGER", "all_layers": "INTEGER", "samples": "TEXT", "note": "TEXT", "failure": "TEXT"}
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, started TEXT NOT NULL, "commit" TEXT NOT NULL, machine TEXT NOT NULL,
                                 driver TEXT NOT NULL, versions TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(run), key TEXT NOT NULL,
                                 finished TEXT NOT NULL, turns INTEGER NOT NULL, settings TEXT NOT NULL,
                                 {", ".join(f"{name} {kind}" for name, kind in FIGURES.items())});
CREATE INDEX IF NOT EXISTS rows_by_key ON rows(key);
"""


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds")


def _output(*command):
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def commit():
    """Of the tree, with a + where it differs from that; of a bundle, what it was made of."""
    if _output("git", "rev-parse", "--show-toplevel") == str(ROOT):
        return _output("git", "rev-parse", "--short=12", "HEAD") + ("+" if _output("git", "status", "--porcelain") else "")
    made_of = ROOT / "COMMIT"
    return made_of.read_text().strip() if made_of.is_file() else "unknown"


def machine(device):
    """The processor or the first GPU, and the driver of that."""
    if device != "cpu" and shutil.which("nvidia-smi"):
        name, _, driver = _output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0").partition(", ")
        if name:
            return name, driver
    if device != "cpu":
        return device, ""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine()), ""


def versions():
    found = {"python": platform.python_version()}
    for name in ("torch", "transformers", "triton"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


class History:
    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.executescript(_SCHEMA)
        there = {row["name"] for row in self._db.execute("PRAGMA table_info(rows)")}
        for name in FIGURES.keys() - there:  # a file of an older version
            self._db.execute(f"ALTER TABLE rows ADD COLUMN {name} {FIGURES[name]}")

    def close(self):
        self._db.close()

    def begin(self, device):
        """A new run; returns its id."""
        started = now()
        name, driver = machine(device)
        with self._db:
            self._db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)",
                             (started, started, commit(), name, driver, json.dumps(versions(), sort_keys=True)))
        return started

    def put(self, run, settings, figures, turns=False):
        """A row, which is on the disk when this returns."""
        unknown = set(figures) - set(FIGURES)
        if unknown or set(settings) != set(SETTINGS):
            raise ValueError(f"no row: {sorted(unknown) or sorted(settings)}")
        values = {"run": run, "key": key(settings), "finished": now(), "turns": int(turns), "settings": json.dumps(settings)}
        values |= {name: json.dumps(value) if name == "samples" else value for name, value in figures.items()}
        with self._db:
            self._db.execute(f"INSERT INTO rows ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", list(values.values()))

    def has(self, run, settings, with_failures=True):
        """Whether the same was measured by the same program on the same machine."""
        # IS: a version that is NULL is equal to itself.
        found = self._db.execute(
            'SELECT 1 FROM rows JOIN runs AS r USING (run) JOIN runs AS own ON own.run = ? WHERE key = ? AND r."commit" IS own."commit"'
            ' AND r.machine = own.machine AND r.driver = own.driver AND r.versions = own.versions'
            + ("" if with_failures else " AND failure IS NULL") + " LIMIT 1", (run, key(settings))).fetchone()
        return found is not None

    def runs(self):
        """First to last."""
        return [dict(row) | {"versions": json.loads(row["versions"])} for row in self._db.execute("SELECT * FROM runs ORDER BY started")]

    def rows(self, run=None):
        """In the order in which they were measured, with their settings; figures that there are not are left out."""
        where, values = ("WHERE run = ?", (run,)) if run else ("", ())
        found = []
        for row in self._db.execute(f"SELECT * FROM rows {where} ORDER BY id", values):
            figures = {name: row[name] for name in row.keys() if row[name] is not None and name != "settings"}
            if "samples" in figures:
                figures["samples"] = json.loads(figures["samples"])
            found.append(SETTINGS | json.loads(row["settings"]) | figures)
        return found


def key(settings):
    return json.dumps({name: settings[name] for name in sorted(SETTINGS)})


def group(row):
    """What rows have in common that are compared."""
    return tuple((name, row[name]) for name in SETTINGS if name not in ("backend", "budget"))


def backend(row):
    return f"{row['backend']}, {row['budget']:g} s of search" if row["budget"] else row["backend"]
