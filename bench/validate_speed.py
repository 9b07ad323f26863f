#!/usr/bin/env python3
"""How long verbs without tensors take, compared with Lightning's parser, a bare YAML reader and ruff.

    bench/validate_speed.py --program build/ddptrain [--before OLDER/ddptrain] --peer PYTHON [--ruff RUFF]

PYTHON is an interpreter with lightning and jsonargparse. Each command runs --times times, interleaved with the others; the table
shows the medians of CPU time, which other programs disturb least, and of wall time.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
RECIPE = REPOSITORY / "recipes/imagenette.yaml"
VERBS = [
    ["version"],
    ["help"],
    ["validate", "recipes/imagenette.yaml"],
    ["show", "recipes/imagenette.yaml"],
    ["plan", "recipes/imagenette.yaml", "--samples", "9469"],
    ["init", "imagenette", "-"],
    ["runs", "runs"],
    ["list", "optimizer"],
    ["describe", "optimizer", "sgd"],
    ["weights", "list"],
    ["schema"],
    ["completion", "bash"],
]
YAML_READER = "import sys, yaml; yaml.safe_load(open(sys.argv[1]))"


def hundred_recipes(folder):
    """The same recipe under a hundred names and seeds, each extending the one base."""
    text = RECIPE.read_text().replace("base/", f"{RECIPE.parent}/base/")
    files = [pathlib.Path(folder) / f"recipe{i}.yaml" for i in range(100)]
    for i, file in enumerate(files):
        file.write_text(text + f"\nseed: {i}\n")
    return files


def commands(arguments, folder):
    hundred = hundred_recipes(folder)
    for name in ("program", "before"):
        program = getattr(arguments, name)
        if program:
            for words in VERBS:
                yield f"{name}: {' '.join(words)}", [program, *words]
            yield f"{name}: validate 100 recipes", [program, "validate", *hundred]
    if arguments.ruff:
        yield "ruff: --version", [arguments.ruff, "--version"]
    yield "python: a YAML reader reads one recipe", [sys.executable, "-c", YAML_READER, RECIPE]
    if arguments.peer:
        script = REPOSITORY / "bench/peers/validate_lightning.py"
        yield "lightning: jsonargparse reads a Trainer's options", [arguments.peer, script]


def seconds(command):
    """CPU and wall time; a command that fails ends it all."""
    begin = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, cwd=REPOSITORY)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--program", "--before", "--peer", "--ruff"):
        parser.add_argument(flag)
    parser.add_argument("--times", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = list(commands(arguments, folder))
        taken = {name: [] for name, _ in rows}
        for _ in range(arguments.times):
            for name, command in rows:
                taken[name].append(seconds(command))
    print(f"{'':52}{'CPU s':>8}{'wall s':>8}")
    for name, times in taken.items():
        cpu, wall = (statistics.median(column) for column in zip(*times))
        print(f"{name:52}{cpu:8.3f}{wall:8.3f}")


if __name__ == "__main__":
    main()
