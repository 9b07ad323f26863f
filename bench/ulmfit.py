#!/usr/bin/env python3
"""ULMFiT against the same classifier from scratch: accuracy after the same steps on the same few labeled reviews.

bench/ulmfit.py IMDB [--work FOLDER] [--epochs 2] [--labeled 2000] [--seeds 3] [--threads 1] [--as-shipped] [--build build]

1. recipes/ulmfit-general.yaml learns from IMDB's training reviews, their labels unread (none of the test reviews), --epochs epochs.
2. recipes/ulmfit-imdb.yaml begins with that run's encoder and learns from --labeled of the training reviews, 5 epochs in its four stages
   (gradual unfreezing, discriminative rates). The recipe's durations and rates are for a network 20 times as large and 25,000
   reviews; here the first three stages have 50 steps each, and the rates go to 1e-2. --as-shipped leaves them as they are.
3. The same recipe without weights: all layers from the first step, one cycle at 5e-3, as many steps.
Both are scored on as many test reviews; figures are of the last weights. The network is a small AWD-LSTM (width 128, two hidden layers
of 256), the vocabulary has 8,000 words, cut at spaces by fastai's rules. --work keeps the runs; a language model found there is used.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SMALL = ["data.tokenizer={type: fastai, split: spaces}", "data.vocabulary.max_vocab=8000", "model.emb_sz=128", "model.n_hid=256",
         "parallel.device=cpu"]
ONE_CYCLE = "schedule: {type: one_cycle, pct_start: 0.25, moms: [0.8, 0.7, 0.8]}"
FROM_SCRATCH = ["~model.weights", "~train.stages", "train.duration=5 epochs", "optimizer.lr=5e-3",
                "schedule={type: one_cycle, pct_start: 0.25, moms: [0.8, 0.7, 0.8]}"]


def stages(steps):
    """Gradual unfreezing of a small network in as many steps."""
    return ("train.stages=["
            f"{{duration: 50 steps, freeze_to: -1, lr: 2e-2, {ONE_CYCLE}}}, "
            f"{{duration: 50 steps, freeze_to: -2, lr: {{from: 4e-3, to: 1e-2}}, {ONE_CYCLE}}}, "
            f"{{duration: 50 steps, freeze_to: -3, lr: {{from: 4e-3, to: 1e-2}}, {ONE_CYCLE}}}, "
            f"{{duration: {steps - 150} steps, lr: {{from: 4e-3, to: 1e-2}}, {ONE_CYCLE}}}]")


def copy_part(imdb, folder, count):
    """Of each split and class count / 2 reviews, evenly over the sorted names."""
    for split in ("train", "test"):
        for label in ("neg", "pos"):
            names = sorted(os.listdir(os.path.join(imdb, split, label)))
            target = os.path.join(folder, split, label)
            os.makedirs(target)
            for i in range(count // 2):
                name = names[i * len(names) // (count // 2)]
                shutil.copy(os.path.join(imdb, split, label, name), target)


def run(recipe, words, folder, options):
    """Trains, and gives the run's folder and the last evaluation."""
    command = [os.path.join(options.build, "ddptrain"), "run", os.path.join(ROOT, "recipes", recipe), *SMALL, *words,
               f"train.threads={options.threads}", f"output.dir={folder}"]
    with open(folder + ".log", "w") as log:
        if subprocess.run(command, stdout=log, stderr=log).returncode != 0:
            sys.exit(f"{' '.join(command)}\nfailed: {folder}.log")
    return last_run(folder)


def last_run(folder):
    name = os.path.join(folder, os.listdir(folder)[0])
    path = os.path.join(name, max(entry for entry in os.listdir(name) if entry.isdigit()))
    with open(os.path.join(path, "events.jsonl")) as lines:
        events = [json.loads(line) for line in lines]
    return path, [event for event in events if event["event"] == "evaluation"][-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("imdb")
    parser.add_argument("--work")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--labeled", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--as-shipped", action="store_true")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp()
    part = os.path.join(work, f"labeled-{options.labeled}")
    if not os.path.isdir(part):
        copy_part(options.imdb, part, options.labeled)
    model = os.path.join(work, f"language-model-{options.epochs}")
    if os.path.isdir(model):
        weights, score = last_run(model)
    else:
        weights, score = run("ulmfit-general.yaml",
                             [f"data.root={options.imdb}", "data.train=train", "data.valid={fraction: 0.02}", "model.drop_mult=0.2",
                              "batch.global=32", "eval.batch=32", f"train.duration={options.epochs} epochs", "optimizer.lr=1e-2"],
                             model, options)
    print(f"language model: step {score['step']}, perplexity {score['valid/perplexity']:.1f} of "
          f"{score['valid/perplexity/tokens']:.0f} tokens of validation reviews", flush=True)
    found = {"ULMFiT": [], "from scratch": []}
    adapted = [] if options.as_shipped else [stages(5 * options.labeled // 16)]
    for seed in range(options.seeds):
        for name, extra in (("ULMFiT", [f"model.weights={weights}", *adapted]), ("from scratch", FROM_SCRATCH)):
            folder = os.path.join(work, f"{name.replace(' ', '-')}-{options.labeled}-{seed}")
            shutil.rmtree(folder, ignore_errors=True)
            score = run("ulmfit-imdb.yaml", [f"data.root={part}", "~data.source", "batch.global=16", f"seed={seed}", *extra], folder,
                        options)[1]
            found[name].append(score["valid/accuracy"])
            print(f"{name}, seed {seed}: accuracy {found[name][-1]:.4f} after {score['step']} steps", flush=True)
    for name, values in found.items():
        print(f"{name}: {statistics.mean(values):.4f} ± {statistics.stdev(values) if len(values) > 1 else math.nan:.4f}, "
              f"{len(values)} seeds; {options.labeled} labeled reviews, {options.labeled} test reviews, last weights")


if __name__ == "__main__":
    main()
