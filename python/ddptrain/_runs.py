"""What a run leaves in its folder, read without the program: docs/training.md lists the files, docs/trackers.md the
fields of events.jsonl."""

import csv
import json
import math
import os

from ._curves import Page, curves_page, frame_page, summary_page

_NUMBERS = {"step": int, "samples": int}


def table(rows):
    """A pandas.DataFrame, or the list of dicts itself where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def number(name, text):
    """A cell of metrics.csv; nan where it is empty."""
    if not text:
        return math.nan
    try:
        return _NUMBERS.get(name, float)(text)
    except ValueError:
        return math.nan


def lines_of(path):
    """Whole lines; a run may be writing the last one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line[:-1] for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []


class Run:
    """A run folder, finished or not. Every attribute reads the files again, so a running run can be watched."""

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)  # runs/NAME/latest is a link that moves
        if not os.path.isfile(os.path.join(self.folder, "run.json")):
            raise FileNotFoundError(f"{folder} is no run folder: it has no run.json")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    @property
    def record(self):
        """run.json: versions, devices, seed, result, exit code, times, last and best metrics."""
        with open(self.path("run.json"), encoding="utf-8") as file:
            return json.load(file)

    @property
    def recipe(self):
        """The resolved recipe, as YAML."""
        with open(self.path("recipe.yaml"), encoding="utf-8") as file:
            return file.read()

    @property
    def events(self):
        """The objects of events.jsonl."""
        found = []
        for line in lines_of(self.path("events.jsonl")):
            try:
                found.append(json.loads(line))
            except ValueError:  # torn by a crash
                continue
        return found

    def metric_rows(self):
        rows = list(csv.reader(lines_of(self.path("metrics.csv"))))
        return [{name: number(name, cell) for name, cell in zip(rows[0], row)} for row in rows[1:]
                if len(row) == len(rows[0])]

    def step_rows(self):
        left_out = ("event", "time", "device_memory")
        return [{name: value for name, value in event.items() if name not in left_out}
                for event in self.events if event.get("event") == "step"]

    @property
    def metrics(self):
        """A row per evaluation, as metrics.csv."""
        return table(self.metric_rows())

    @property
    def steps(self):
        """A row per log period: loss, rate, samples per second."""
        return table(self.step_rows())

    @property
    def best(self):
        """The step and metrics of the best evaluation; None before the first."""
        return self.record.get("best")

    def log(self, rank=0, lines=None):
        """The log of a rank, or its last lines; that of all ranks of a node is log.HOST.txt."""
        name = "log.txt" if rank == 0 else f"log.rank{rank}.txt"
        if not os.path.exists(self.path(name)):
            logs = ", ".join(sorted(each for each in os.listdir(self.folder) if each.startswith("log.")))
            raise FileNotFoundError(f"{self.folder} has no {name}; it has {logs or 'no logs'}")
        found = lines_of(self.path(name))
        return "\n".join(found[-lines:] if lines else found)

    def curves(self):
        """Training and validation values over the steps, drawn where it is the last value of a cell."""
        return Page(curves_page(self.step_rows(), self.metric_rows()))

    def report(self, height=700):
        """report.html, shown inline."""
        try:
            with open(self.path("report.html"), encoding="utf-8") as file:
                return Page(frame_page(file.read(), height))
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.folder} has no report.html: ddptrain report {self.folder}") from None

    def __repr__(self):
        record = self.record
        result = record.get("result") or "running or killed"
        numbers = "  ".join(f"{name} {value:.4g}" for name, value in (record.get("metrics") or {}).items()
                            if isinstance(value, (int, float)))
        return f"<ddptrain.Run {self.folder}: {result}{'  ' + numbers if numbers else ''}>"

    def _repr_html_(self):
        return summary_page(self.folder, self.record) + curves_page(self.step_rows(), self.metric_rows())


def load_run(folder):
    """The run in a folder such as "runs/shapes/001" or "runs/shapes/latest"."""
    return Run(os.fspath(folder))
