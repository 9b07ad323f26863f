#!/usr/bin/env python3
"""ULMFiT against the same classifier from scratch: accuracy after the same steps on the same few labeled reviews.

bench/ulmfit.py IMDB PART [--work FOLDER] [--epochs 2] [--seeds 3] [--threads 1] [--as-shipped] [--build build]

1. recipes/ulmfit-general.yaml learns from IMDB's training reviews, their labels unread (none of the test reviews), --epochs epochs.
2. recipes/ulmfit-imdb.yaml begins with that run's encoder and learns from PART's training reviews, 5 epochs in its four stages
   (gradual unfreezing, discriminative rates). The recipe's durations and rates are for a network 20 times as large and 25,000
   reviews; here the first three stages have 50 steps each, and the rates go to 1e-2. --as-shipped leaves them as they are.
3. The same recipe without weights: all layers from the first step, one cycle at 5e-3, as many steps.
PART is made by bench/peers/imdb_awd_lstm.py IMDB --subset PART --documents 2000. Both are scored on its test reviews; figures are of the
last weights. The network is a small AWD-LSTM (width 128, two hidden layers of 256), the vocabulary has 8,000 words, cut at spaces by
fastai's rules. --work keeps the runs; a finished language model found there is used.
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
BATCH, EPOCHS, SHORT_STAGE = 16, 5, 50  # SHORT_STAGE in steps
ONE_CYCLE = "{type: one_cycle, pct_start: 0.25, moms: [0.8, 0.7, 0.8]}"
FROM_SCRATCH = ["~model.weights", "~train.stages", f"train.duration={EPOCHS} epochs", "optimizer.lr=5e-3", f"schedule={ONE_CYCLE}"]


def stages(steps):
    """Gradual unfreezing of a small network in as many steps."""
    last = steps - 3 * SHORT_STAGE
    each = [(SHORT_STAGE, "freeze_to: -1, lr: 2e-2"), *((SHORT_STAGE, f"freeze_to: {i}, lr: {{from: 4e-3, to: 1e-2}}") for i in (-2, -3)),
            (last, "lr: {from: 4e-3, to: 1e-2}")]
    return "train.stages=[" + ", ".join(f"{{duration: {n} steps, {what}, schedule: {ONE_CYCLE}}}" for n, what in each) + "]"


def run(recipe, words, folder, options):
    """Trains, and gives the run's folder and the last evaluation."""
    command = [os.path.join(options.build, "ddptrain"), "run", os.path.join(ROOT, "recipes", recipe), *SMALL, *words,
               f"train.threads={options.threads}", f"output.dir={folder}"]
    with open(folder + ".log", "w") as log:
        if subprocess.run(command, stdout=log, stderr=log).returncode != 0:
            sys.exit(f"{' '.join(command)}\nfailed: {folder}.log")
    return last_run(folder)


def count_texts(folder):
    return sum(name.endswith(".txt") for _, _, names in os.walk(folder) for name in names)


def last_run(folder):
    name = os.path.join(folder, os.listdir(folder)[0])
    path = os.path.join(name, max(entry for entry in os.listdir(name) if entry.isdigit()))
    with open(os.path.join(path, "events.jsonl")) as lines:
        events = [json.loads(line) for line in lines]
    return path, [event for event in events if event["event"] == "evaluation"][-1]


def compare(work, steps, options):
    model = os.path.join(work, f"language-model-{options.epochs}")
    if os.path.exists(model + ".done"):
        weights, score = last_run(model)
    else:
        weights, score = run("ulmfit-general.yaml",
                             [f"data.root={options.imdb}", "data.train=train", "data.valid={fraction: 0.02}", "model.drop_mult=0.2",
                              "batch.global=32", "eval.batch=32", f"train.duration={options.epochs} epochs", "optimizer.lr=1e-2"],
                             model, options)
        open(model + ".done", "w").close()
    print(f"language model: step {score['step']}, perplexity {score['valid/perplexity']:.1f} of "
          f"{score['valid/perplexity/tokens']:.0f} tokens of validation reviews", flush=True)
    found = {"ULMFiT": [], "from scratch": []}
    adapted = [] if options.as_shipped else [stages(steps)]
    for seed in range(options.seeds):
        for name, extra in (("ULMFiT", [f"model.weights={weights}", *adapted]), ("from scratch", FROM_SCRATCH)):
            folder = os.path.join(work, f"{name.replace(' ', '-')}-{seed}")
            shutil.rmtree(folder, ignore_errors=True)
            score = run("ulmfit-imdb.yaml", [f"data.root={options.part}", "~data.source", f"batch.global={BATCH}", f"seed={seed}", *extra], folder,
                        options)[1]
            found[name].append(score["valid/accuracy"])
            print(f"{name}, seed {seed}: accuracy {found[name][-1]:.4f} after {score['step']} steps", flush=True)
    labeled, scored = (count_texts(os.path.join(options.part, split)) for split in ("train", "test"))
    for name, values in found.items():
        print(f"{name}: {statistics.mean(values):.4f} ± {statistics.stdev(values) if len(values) > 1 else math.nan:.4f}, "
              f"{len(values)} seeds; {labeled} labeled reviews, {scored} test reviews, last weights")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("imdb")
    parser.add_argument("part")
    parser.add_argument("--work")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--as-shipped", action="store_true")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    options = parser.parse_args()
    labeled = count_texts(os.path.join(options.part, "train"))
    steps = EPOCHS * (labeled // BATCH)  # the last batch of an epoch is left out where it is not whole
    if steps <= 4 * SHORT_STAGE:
        parser.error(f"{labeled} reviews give {steps} steps, too few for four stages")
    with tempfile.TemporaryDirectory() as folder:
        compare(options.work or folder, steps, options)


if __name__ == "__main__":
    main()
