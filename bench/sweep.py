#!/usr/bin/env python3
"""Does halving find the best of a grid with fewer steps? Trains both with ddptrain sweep, and prints which setting each found.

bench/sweep.py [adult|shapes ...] [--epochs 9] [--train 100] [--rows 0] [--schedule constant] [--parallel 1] [--build build] [--json FILE]

Each grid has 27 settings. Both sweeps train the same trials on the same seed; the grid trains each of them to the end, halving (factor 3,
from a ninth of the run) stops the worse ones. 'rank in the grid' is where halving's choice stands in the grid's table, 1 the best; 'steps'
are optimizer steps that were made, in per cent of the grid's. adult reads DDPTRAIN_DATA/adult.csv; shapes are made (ddptrain data make).
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command, folder):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def first_rows(path, rows, folder):
    """The header and the first rows of a CSV file; 0 rows: all."""
    with open(path, newline="") as file:
        table = list(csv.reader(file))
    small = os.path.join(folder, os.path.basename(path))
    with open(small, "w", newline="") as file:
        csv.writer(file).writerows(table[:rows + 1] if rows else table)
    return small


def adult(program, folder, options):
    data = os.environ.get("DDPTRAIN_DATA", os.path.join(ROOT, "data"))
    table = first_rows(os.path.join(data, "adult.csv"), options.rows, folder)
    return [os.path.join(ROOT, "recipes/adult.yaml"), f"data.file={table}", "optimizer.lr=1e-5,1e-4,1e-3",
            "model.layers=[200, 100],[8],[2]", "model.embed_p=0,0.3,0.8", f"schedule={{type: {options.schedule}}}",
            "sweep.metric=roc_auc_binary"]


def shapes(program, folder, options):
    run([program, "data", "make", "shapes", "shapes", "--train", str(options.train), "--val", "20", "--size", "32"], folder)
    return [os.path.join(ROOT, "recipes/shapes.yaml"), f"data.root={folder}/shapes",
            "data.transforms.train[random_resized_crop].size=32", "data.transforms.valid[resize].size=32",
            "optimizer.lr=5e-5,5e-3,5e-1", "optimizer.weight_decay=0,5e-2,0.5", "batch.global=32,64,128", "sweep.metric=loss"]


def sweep(program, words, method, folder, options):
    out = os.path.join(folder, method)
    run([program, "sweep", *words, f"train.duration={options.epochs} epochs", "eval.every=1 epoch", f"sweep.method={method}",
         f"sweep.halving.min={options.epochs // 9} epochs" if method == "halving" else "sweep.trials=null",
         "checkpoint.every=9 epochs", "log.tensorboard=false", f"sweep.parallel={options.parallel}", "parallel.device=cpu",
         f"output.dir={out}"], folder)
    name = os.listdir(out)[0]
    with open(os.path.join(out, name, "sweep-001", "trials.json")) as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="adult|shapes")
    parser.add_argument("--epochs", type=int, default=9, help="of a whole run, a multiple of 9")
    parser.add_argument("--train", type=int, default=100, help="training images of each class of shapes")
    parser.add_argument("--rows", type=int, default=0, help="of adult.csv; 0: all")
    parser.add_argument("--schedule", default="constant", help="of adult; one_cycle warms up during the first rungs")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.epochs % 9:
        parser.error("--epochs: halving's rungs are a ninth and a third of a run; write a multiple of 9")
    program = os.path.join(os.path.abspath(options.build), "ddptrain")
    figures = {}
    for task in options.tasks or ["adult", "shapes"]:
        with tempfile.TemporaryDirectory() as folder:
            words = {"adult": adult, "shapes": shapes}[task](program, folder, options)
            grid, halving = (sweep(program, words, method, folder, options) for method in ("grid", "halving"))
        order = [trial["trial"] for trial in grid["trials"]]
        steps = [sum(trial["steps"] for trial in found["trials"]) for found in (grid, halving)]
        chosen = halving["trials"][0]
        figures[task] = {"settings": len(order), "metric": grid["metric"], "best": grid["trials"][0]["value"],
                         "chosen": chosen["value"], "rank in the grid": order.index(chosen["trial"]) + 1, "setting": chosen["values"],
                         "grid steps": steps[0], "halving steps": steps[1], "steps %": round(100 * steps[1] / steps[0], 1)}
        print(task, json.dumps(figures[task]), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
