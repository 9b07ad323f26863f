#!/usr/bin/env python3
"""Adds what runs came to to bench/records, from which docs/recipes.md is made.

bench/record.py RUN [--cpu-seconds S]
bench/record.py --peer RECIPE --command TEXT --seed N --metric valid/accuracy=0.84 [--cpu-seconds S]

A run gives a line of bench/records/RECIPE.jsonl: seed, steps, the metrics of its last and of its best weights, and the settings
that bench/recipes.yaml names for the recipe, as the run had them. CPU seconds are user and system time, as /usr/bin/time prints
them: they say more than the clock where a machine does other work too. Then DDPTRAIN_REWRITE=1 build/tests/test_cli
--gtest_filter='RecipesDocument*' writes the page. Needs python3-yaml.
"""
import argparse
import csv
import datetime
import json
import os
import re

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = re.compile(r"^(seed|parallel|output|log|train\.threads|data\.(root|file|cache|valid\.seed))\b")  # what changes no result


def value_of(tree, path):
    for part in re.findall(r"[^.\[\]]+", path):
        tree = tree[int(part)] if isinstance(tree, list) else tree[part]
    return tree


def row_of(recipe, overrides):
    with open(os.path.join(ROOT, "bench/recipes.yaml"), encoding="utf-8") as file:
        rows = yaml.safe_load(file)["rows"]
    found = [row for row in rows if row["recipe"] == recipe and row.get("overrides", []) == overrides]
    if not found:
        raise SystemExit(f"bench/recipes.yaml has no row for {recipe} {' '.join(overrides)}")
    return found[0]


def flow(value):
    """As a recipe writes it on one line."""
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    return value


def record_of(folder):
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
        run = json.load(file)
    if run["result"] != "done":
        raise SystemExit(f"{folder} is not complete")
    with open(os.path.join(folder, "recipe.yaml"), encoding="utf-8") as file:
        tree = yaml.load(file, yaml.BaseLoader)
    with open(os.path.join(folder, "metrics.csv"), encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    words = run["command"][2:]
    overrides = [word for word in words[1:] if not PLACE.match(word)]
    row = row_of(run["name"], overrides)
    return run["name"], {
        "overrides": overrides, "seed": run["seed"], "steps": int(last["step"]), "last": run["metrics"],
        "best": {"step": run["best"]["step"], "metrics": run["best"]["metrics"]} if run.get("best") else None,
        "settings": {key: flow(value_of(tree, key)) for key in row["settings"]},
        "command": " ".join(["ddptrain", "run", *words]), "device": run["device"], "threads": run["threads"],
        "ranks": run["ranks"], "ddptrain": run["ddptrain"], "date": run["ended"][:10]}


def peer_of(options):
    metrics = dict(metric.split("=") for metric in options.metric)
    return options.peer, {"peer": True, "overrides": [], "seed": options.seed,
                          "last": {name: float(value) for name, value in metrics.items()}, "command": options.command,
                          "date": datetime.date.today().isoformat()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?")
    parser.add_argument("--peer")
    parser.add_argument("--command")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--cpu-seconds", type=float)
    parser.add_argument("--metric", action="append", default=[])
    options = parser.parse_args()
    name, record = peer_of(options) if options.peer else record_of(options.run)
    if options.cpu_seconds:
        record["cpu_seconds"] = options.cpu_seconds
    os.makedirs(os.path.join(ROOT, "bench/records"), exist_ok=True)
    with open(os.path.join(ROOT, "bench/records", name + ".jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


main()
