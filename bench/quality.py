#!/usr/bin/env python3
"""Trains ours and fastai's on the same data for the same steps, interleaved by seed, and prints mean ± deviation of both.

bench/quality.py [unet|points|points-resnet18|points-small|ratings|ratings-nn|lm ...] [--texts FOLDER] [--seeds 3] [--threads 1] [--build build] [--peers FOLDER] [--json FILE]

Nothing differs but the random numbers: no augmentation, fastai's optimizer, one-cycle, random first weights. 'gap' is the difference of
the means in units of its standard error: within 2 the two are alike. Data are synthetic, but those of lm: --texts is a part of IMDB, made
by bench/peers/imdb_awd_lstm.py; name@2 is a figure of the second evaluation.
"""
import argparse
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHAPES = ["ground", "circle", "square", "star"]


def tasks(folder, texts):
    """Name: kind of `data make` and its words, recipe and overrides, peer's script and words, figures (ours, the peer's)."""
    recipe = lambda name: os.path.join(ROOT, name)
    iou = {"jaccard_coeff_multi": "jaccard_coeff_multi", **{f"iou/{name}": name for name in SHAPES}}
    masks, points, ratings = (os.path.join(folder, kind) for kind in ("masks", "points", "ratings"))
    table = os.path.join(ratings, "ratings.csv")
    collab = [recipe("recipes/ratings.yaml"), f"data.file={table}", "data.valid.order=fastai"]
    network = ["model={type: collab_nn, layers: [50], ps: [0.1], y_range: [0, 5.5]}"]
    small = [recipe("recipes/biwi-tiny.yaml"), f"data.file={points}/points.csv", "train.duration=30 epochs",
             "data.transforms={train: [{type: normalize, preset: imagenet}], valid: [{type: normalize, preset: imagenet}]}",
             "optimizer={type: adam, lr: 5e-3, betas: [0.9, 0.99], eps: 1e-5, weight_decay: 1e-2, "
             "decoupled_weight_decay: true, no_decay: [norm, bias]}"]
    language_model = [recipe("recipes/ulmfit-general.yaml"), f"data.root={texts}", "data.train=train", "data.valid=test",
                      "data.tokenizer={type: fastai, split: spaces}", "model.emb_sz=64", "model.n_hid=128", "batch.global=8",
                      "eval.batch=8", "train.duration=4 epochs", "optimizer.lr=1e-2"]
    curve = {f"{figure}@{epoch}": f"{figure}@{epoch}" for epoch in range(1, 5) for figure in ("loss", "next_token_accuracy")}
    distance = {"point_distance": "point_distance", "rmse": "rmse"}
    return {
        "unet": (["masks", masks, "--size", "64"], [recipe("bench/quality_unet.yaml"), f"data.root={masks}"],
                 ["unet_shapes.py", masks], iou),
        "points": (["points", points, "--size", "64"], [recipe("bench/quality_points.yaml"), f"data.file={points}/points.csv"],
                   ["points_arrows.py", points], distance),
        "points-resnet18": (["points", points, "--size", "64"],
                            [recipe("bench/quality_points.yaml"), f"data.file={points}/points.csv",
                             "model={type: vision_learner, body: resnet18, y_range: [-1, 1]}"],
                            ["points_arrows.py", points, "--model", "resnet18"], distance),
        "points-small": (["points", points, "--size", "64"], small,
                         ["points_arrows.py", points, "--model", "small", "--epochs", "30"], distance),
        "ratings": (["ratings", ratings], collab, ["collab.py", table], {"rmse": "rmse"}),
        "ratings-nn": (["ratings", ratings], collab + network, ["collab.py", table, "--network"], {"rmse": "rmse"}),
        "lm": ([], language_model, ["imdb_lm.py", texts], curve),
    }


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def ours(words, seed, options):
    """Figures of the last evaluation, and as name@n those of the n-th."""
    with tempfile.TemporaryDirectory() as folder:
        run([os.path.join(options.build, "ddptrain"), "run", *words, f"seed={seed}", f"train.threads={options.threads}",
             "parallel.device=cpu", f"output.dir={folder}"])
        events = [json.loads(line) for path in glob.glob(f"{folder}/**/events.jsonl", recursive=True) for line in open(path)]
        evaluations = [event for event in events if event["event"] == "evaluation"]
        each = {f"{key}@{i}": value for i, event in enumerate(evaluations, 1) for key, value in event.items()}
        return each | evaluations[-1]


def peer(words, seed, options):
    script, *rest = words
    text = run([os.path.join(options.peers, "bin", "python"), os.path.join(ROOT, "bench", "peers", script), *rest,
                "--seed", str(seed), "--threads", str(options.threads)])
    found = json.loads(text.splitlines()[-1])
    return {key: value[-1] if isinstance(value, list) else value for key, value in found.items()}


def compare(name, task, options, folder):
    make, recipe, script, figures = task
    if make:
        run([os.path.join(options.build, "ddptrain"), "data", "make", *make])
    found = {key: ([], []) for key in figures}
    for seed in range(options.seeds):
        results = ours(recipe, seed, options), peer(script, seed, options)
        for key, theirs in figures.items():
            found[key][0].append(results[0]["valid/" + key])
            found[key][1].append(results[1][theirs])
        first = next(iter(figures))
        print(f"  {name} seed {seed}: {first} {found[first][0][-1]:.4f} and {found[first][1][-1]:.4f}", file=sys.stderr)
    return found


def show(name, found):
    text = lambda values: f"{statistics.mean(values):.4f} ± {statistics.stdev(values):.4f}"
    for key, (left, right) in found.items():
        if len(left) == 1:
            print(f"| {name} | {key} | {left[0]:.4f} | {right[0]:.4f} | | 1 |", flush=True)
            continue
        error = math.sqrt((statistics.variance(left) + statistics.variance(right)) / len(left))
        gap = (statistics.mean(left) - statistics.mean(right)) / error if error else 0
        print(f"| {name} | {key} | {text(left)} | {text(right)} | {gap:+.1f} | {len(left)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--texts", help="part of IMDB, for lm")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--peers", default=os.environ.get("DDPTRAIN_PEERS", os.path.join(ROOT, "..", "ddptrain-peers")))
    parser.add_argument("--json", help="write every seed's figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        known = tasks(folder, options.texts or "")
        for name in options.tasks:
            if name not in known:
                parser.error(f"no task is called '{name}'; there are {', '.join(known)}")
        print("| task | figure | ours | fastai | gap | seeds |\n|---|---|---|---|---|---|")
        every = {}
        for name in options.tasks or [name for name in known if name != "lm" or options.texts]:
            every[name] = compare(name, known[name], options, folder)
            show(name, every[name])
    if options.json:
        with open(options.json, "w") as file:
            json.dump(every, file, indent=2)


if __name__ == "__main__":
    main()
