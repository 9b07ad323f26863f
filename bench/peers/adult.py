"""Adult census income, as fastai's train_tabular.py has it: rows per second of training, and accuracy.

python bench/peers/adult.py ADULT.CSV [--peer fastai|torch] [--epochs 3] [--seed 0] [--batch 64] [--threads 1] [--random] [--compile]
Rows of which the column 'split' says 'valid' are held out; without that column every fifth is, with --random a fifth that
fastai's RandomSplitter draws, as train_tabular.py has it. The first epoch is left out of the speed where there are more.
torch: whole tensors, batches by index, fused AdamW; with --compile its model is compiled.
"""
import argparse
import time

import pandas
import torch
from fastai.tabular.all import (Callback, Categorify, FillMissing, Normalize, RandomSplitter, TabularDataLoaders,
                                accuracy, set_seed, tabular_learner)
from measure import report

CATEGORIES = ["workclass", "education", "marital-status", "occupation", "relationship", "race"]
NUMBERS = ["age", "fnlwgt", "education-num"]

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--peer", choices=["fastai", "torch"], default="fastai")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--random", action="store_true")
parser.add_argument("--compile", action="store_true")
args = parser.parse_args()
torch.set_num_threads(args.threads)
set_seed(args.seed)

table = pandas.read_csv(args.file)
held_out = table["split"] == "valid" if "split" in table else pandas.Series(table.index % 5 == 4)
valid = RandomSplitter()(table)[1] if args.random else list(table.index[held_out])
data = TabularDataLoaders.from_df(table, procs=[Categorify, FillMissing, Normalize], cat_names=CATEGORIES,
                                  cont_names=NUMBERS, y_names="class", valid_idx=valid,
                                  bs=args.batch, val_bs=256)
learner = tabular_learner(data, layers=[200, 100], metrics=accuracy)
seconds = []


class Timer(Callback):
    def before_train(self):
        self.began = time.perf_counter()

    def after_train(self):
        seconds.append(time.perf_counter() - self.began)


def fastai():
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(args.epochs, 1e-3, cbs=[Timer()])
    return [row[2] for row in learner.recorder.values]


def plain():
    train, valid = data.train.dataset, data.valid.dataset
    columns = [torch.tensor(train.cats.values).long(), torch.tensor(train.conts.values).float(),
               torch.tensor(train.ys.values).long().flatten()]
    model, rows = learner.model, len(train)
    run = torch.compile(model) if args.compile else model
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    for _ in range(args.epochs):
        began = time.perf_counter()
        order = torch.randperm(rows)
        for first in range(0, rows - args.batch + 1, args.batch):
            codes, numbers, labels = (column[order[first:first + args.batch]] for column in columns)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(run(codes, numbers), labels).backward()
            optimizer.step()
        seconds.append(time.perf_counter() - began)
    model.eval()
    with torch.no_grad():
        output = model(torch.tensor(valid.cats.values).long(), torch.tensor(valid.conts.values).float())
    return [(output.argmax(1) == torch.tensor(valid.ys.values).long().flatten()).float().mean().item()]


scores = fastai() if args.peer == "fastai" else plain()
rows = len(data.train.dataset) // args.batch * args.batch
used = seconds[1:] or seconds
report(rows_per_second=rows * len(used) / sum(used), accuracy=scores, seed=args.seed)
