#!/usr/bin/env python3
"""ddptrain next to PyTorch on one GPU, interleaved in one run: images (rows) per second in steady state, and their ratio.

bench/gpu.py [ROW...] [--device cuda|cpu] [--small] [--pairs 3] [--seconds 480] [--program build/ddptrain] [--data FOLDER]

Run it with a Python that has torch 2.11 and torchvision; ddptrain uses that torch's libraries through LD_LIBRARY_PATH where
its own are not found. PyTorch is tuned: channels_last, bf16 autocast, fused optimizer, cudnn.benchmark, pinned memory; a second
peer adds torch.compile. Rows: resnet50, resnet18, mnist, adult, imagenette (from JPEG files; --data holds imagenette2-160,
without it synthetic JPEGs are made). The figures go to bench/gpu-results.md with device and date, except with --small, a
rehearsal at tiny sizes, for which `--device cpu` is enough. --seconds ends the rows that have not begun by then.
"""
import argparse
import dataclasses
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = [("build/ddptrain", "build/bench/bench_step"), ("bin/ddptrain", "bin/bench_step")]  # of a build, of a bundle
PEER = os.path.join(ROOT, "bench", "peers", "gpu_steps.py")


@dataclasses.dataclass
class Row:
    """What both train: `words` are ddptrain's, `peer` the options of peers/gpu_steps.py."""
    recipe: str
    words: list
    peer: list
    batch: int
    steps: int
    eager_goal: float  # ours / PyTorch tuned
    compiled_goal: float | None = None
    random_size: int | None = None  # px of one random batch for bench_step, instead of a run on files


def scaled(options, full, small):
    return small if options.small else full


def image_words(size, model):
    crop = f"[{{type: random_resized_crop, size: {size}}}, {{type: horizontal_flip}}, {{type: normalize, preset: imagenet}}]"
    valid = f"[{{type: resize, size: {size}}}, {{type: center_crop, size: {size}}}, {{type: normalize, preset: imagenet}}]"
    return [f"model={{type: {model}, num_classes: auto}}", f"data.transforms={{train: {crop}, valid: {valid}}}"]


def rows(options):
    half = "bf16" if options.device == "cuda" else "fp32"
    jpeg = ["data.root=" + options.images, "data.train=train", "data.valid=val"]
    large, middle = scaled(options, (224, 256, 60), (32, 4, 3)), scaled(options, (128, 64, 200), (32, 4, 3))
    imagenette = os.path.join(ROOT, "recipes", "imagenette-resnet18.yaml")

    def images(model, sizes, data, source, eager, compiled):
        size, batch, steps = sizes
        return Row(imagenette, [*image_words(size, model), *data, f"train.precision={half}"],
                   ["--model", model, "--size", str(size), "--input", source, "--precision", half], batch, steps, eager,
                   compiled, size if source == "random" else None)

    digits, table = scaled(options, (256, 400), (16, 3)), scaled(options, (64, 2000), (16, 3))
    return {
        "resnet50": images("resnet50", large, [], "random", 1.0, 0.95),
        "resnet18": images("resnet18", middle, [], "random", 1.5, None),
        "mnist": Row(os.path.join(ROOT, "recipes", "mnist.yaml"), ["data.root=" + os.path.join(options.work, "mnist")],
                     ["--model", "mnist", "--input", "memory"], digits[0], digits[1], 3.0),
        "adult": Row(os.path.join(ROOT, "recipes", "adult.yaml"), ["data.file=" + os.path.join(options.work, "adult.csv")],
                     ["--model", "adult", "--input", "memory"], table[0], table[1], 10.0),
        "imagenette": images("resnet18", middle, jpeg, options.images, 1.0, None),
    }


def make_data(options):
    """Synthetic data: a row of steps reads them, and what is on them does not matter."""
    sys.path.insert(0, os.path.join(ROOT, "scripts"))
    from gpu_check import made_data

    count = 40 if options.small else 400
    subprocess.run([options.program, "data", "make", "shapes", options.work + "/shapes", "--train", str(count), "--val", "4",
                    "--size", "32" if options.small else "160"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=options.variables)
    made_data.make_digits(options.work, 60 if options.small else 6000)
    made_data.make_people(options.work, 200 if options.small else 40000)
    found = os.path.join(options.data, "imagenette2-160") if options.data else ""
    options.images = found if os.path.isdir(found) and not options.small else options.work + "/shapes"


def steady_speed(events, batch, skip):
    """Samples per second between the end of step `skip` and the last."""
    steps = [event for event in events if event["event"] == "step" and event["step"] >= skip]
    if len(steps) < 2:
        raise RuntimeError(f"{len(steps)} steps behind the {skip} of warm-up")
    samples = (steps[-1]["step"] - steps[0]["step"]) * batch
    return samples / (steps[-1]["seconds"] - steps[0]["seconds"])


def run_ours(options, row):
    skip = max(1, row.steps // 4)
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", row.recipe, *row.words, f"batch.global={row.batch}", "batch.micro=" + str(row.batch),
                 f"train.duration={row.steps} steps", f"log.every={max(1, row.steps // 20)} steps", "log.tensorboard=false",
                 "eval.every=1000000 steps", "checkpoint.every=1000000 steps", "checkpoint.keep_best=null",
                 "parallel.mode=none", "parallel.device=" + options.device, "schedule={type: constant}",
                 f"output.dir={folder}"]
        ended = subprocess.run([options.program, *words], capture_output=True, text=True, check=False, env=options.variables)
        if ended.returncode:
            raise RuntimeError(f"ddptrain ended with {ended.returncode}: {ended.stderr.strip()[-800:]}")
        path = glob.glob(f"{folder}/**/events.jsonl", recursive=True)[0]
        with open(path, encoding="utf-8") as file:
            return steady_speed([json.loads(line) for line in file], row.batch, skip)


def run_step(options, row):
    """bench_step: one random batch, copied to the device in every step as the peer's is."""
    words = [options.step, f"{row.steps}@{row.random_size}", row.recipe, *row.words, "model.num_classes=10",
             f"batch.global={row.batch}", f"batch.micro={row.batch}", "parallel.mode=none", "parallel.device=" + options.device]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, env=options.variables)
    if ended.returncode:
        raise RuntimeError(f"bench_step ended with {ended.returncode}: {ended.stderr.strip()[-800:]}")
    return json.loads(ended.stdout.strip().splitlines()[-1])["images_per_second"]


def run_peer(options, row, compiled):
    words = [sys.executable, PEER, *row.peer, "--device", options.device, "--batch", str(row.batch), "--steps",
             str(row.steps)] + (["--compile"] if compiled else [])
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"{os.path.basename(PEER)} ended with {ended.returncode}: {ended.stderr.strip()[-800:]}")
    return json.loads(ended.stdout.strip().splitlines()[-1])["samples_per_second"]


def measure(options, row):
    """Medians of interleaved runs: ours, PyTorch, PyTorch compiled."""
    speeds = {"ours": [], "eager": [], "compiled": []}
    for _ in range(options.pairs):
        speeds["ours"].append((run_step if row.random_size else run_ours)(options, row))
        speeds["eager"].append(run_peer(options, row, False))
        if row.compiled_goal is not None:
            speeds["compiled"].append(run_peer(options, row, True))
    return {name: statistics.median(values) for name, values in speeds.items() if values}


def line_of(name, row, speeds):
    def against(peer, goal):
        if goal is None:
            return "-"
        ratio = speeds["ours"] / speeds[peer]
        return f"{ratio:.2f}x, wanted {goal:g}x" + ("" if ratio >= goal else " (missed)")
    compiled = f"{speeds['compiled']:.0f}" if "compiled" in speeds else "-"
    return (f"| {name} | {speeds['ours']:.0f} | {speeds['eager']:.0f} | {against('eager', row.eager_goal)} | {compiled} | "
            f"{against('compiled', row.compiled_goal)} |")


HEADER = ("| row | ddptrain, samples/s | PyTorch tuned | ratio | torch.compile | ratio |\n"
          "|---|---|---|---|---|---|")


def device_name(options):
    import torch

    return torch.cuda.get_device_name(0) if options.device == "cuda" else "CPU"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=480)
    program, step = next((each for each in PROGRAMS if os.path.exists(os.path.join(ROOT, each[0]))), PROGRAMS[0])
    parser.add_argument("--program", default=os.path.join(ROOT, program))
    parser.add_argument("--step", default=os.path.join(ROOT, step), help="'make bench' builds it")
    parser.add_argument("--data", default=os.environ.get("DDPTRAIN_DATA"))
    options = parser.parse_args()
    options.program, options.step = os.path.abspath(options.program), os.path.abspath(options.step)
    import torch

    libraries = os.path.join(os.path.dirname(torch.__file__), "lib")
    path = os.environ.get("LD_LIBRARY_PATH")
    options.variables = dict(os.environ, LD_LIBRARY_PATH=libraries + (":" + path if path else ""))
    return options


def append(options, lines):
    with open(os.path.join(ROOT, "bench", "gpu-results.md"), "a", encoding="utf-8") as file:
        file.write(f"\n## {device_name(options)}, {time.strftime('%Y-%m-%d', time.gmtime())}\n\n"
                   f"Medians of {options.pairs} interleaved runs.\n\n{HEADER}\n" + "\n".join(lines) + "\n")


def main():
    options, begun, lines = arguments(), time.monotonic(), []
    with tempfile.TemporaryDirectory(prefix="gpu-bench-") as options.work:
        make_data(options)
        known = rows(options)
        unknown = set(options.rows) - set(known)
        if unknown:
            sys.exit(f"there is no row {', '.join(sorted(unknown))}; they are {', '.join(known)}")
        print(f"{device_name(options)}\n{HEADER}", flush=True)
        for name in options.rows or known:
            if time.monotonic() - begun > options.seconds:
                print(f"| {name} | not begun: {options.seconds:.0f} s are over | | | | |", flush=True)
                continue
            if known[name].random_size and not os.path.exists(options.step):
                print(f"| {name} | not measured: {options.step} is not there ('make bench') | | | | |", flush=True)
                continue
            lines.append(line_of(name, known[name], measure(options, known[name])))
            print(lines[-1], flush=True)
    if lines and not options.small:
        append(options, lines)


if __name__ == "__main__":
    main()
