#!/usr/bin/env python3
"""How long checking recipes takes: both programs, compared with Lightning's parser and a bare YAML reader.

    bench/validate_speed.py --full build/ddptrain --checker build-checker/ddptrain --peer PYTHON

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
    for name in ("checker", "full"):
        program = getattr(arguments, name)
        if program:
            yield f"{name}: start", [program, "version"]
            yield f"{name}: validate one recipe", [program, "validate", RECIPE]
            yield f"{name}: validate 100 recipes", [program, "validate", *hundred]
    yield "python: a YAML reader reads one recipe", [sys.executable, "-c", YAML_READER, RECIPE]
    if arguments.peer:
        script = REPOSITORY / "bench/peers/validate_lightning.py"
        yield "lightning: jsonargparse reads a Trainer's options", [arguments.peer, script]


def seconds(command):
    """CPU and wall time; a command that fails ends it all."""
    begin = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--full", "--checker", "--peer"):
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
