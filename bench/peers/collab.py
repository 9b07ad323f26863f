"""Collaborative filtering as fastai's tutorial has it: rows per second of training, and the root of the mean squared error.

python bench/peers/collab.py RATINGS.CSV [--network] [--epochs 5] [--seed 0] [--batch 64] [--threads 1]
fastai 2.8 draws training rows with replacement (its TabWeightedDL); here each is seen once an epoch (its TabDataLoader), as ours does.
The first three columns are users, items and ratings. The first epoch is left out of the speed where there are more.
--network: collab_nn instead of embedding_dot_bias.
"""
import argparse
import time

import pandas
import torch
from fastai.collab import CollabDataLoaders, collab_learner
from fastai.tabular.all import Callback, TabDataLoader, rmse, set_seed
from measure import report

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--network", action="store_true")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--threads", type=int, default=1)
args = parser.parse_args()
torch.set_num_threads(args.threads)
set_seed(args.seed)

data = CollabDataLoaders.from_df(pandas.read_csv(args.file), valid_pct=0.2, seed=42, bs=args.batch,
                                  dl_type=TabDataLoader)
network = dict(use_nn=True, layers=[50], config={"ps": [0.1]}) if args.network else {}
learner = collab_learner(data, n_factors=50, y_range=(0, 5.5), metrics=rmse, **network)
seconds = []


class Timer(Callback):
    def before_train(self):
        self.began = time.perf_counter()

    def after_train(self):
        seconds.append(time.perf_counter() - self.began)


with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(args.epochs, 5e-3, wd=0.1, cbs=[Timer()])
rows = len(data.train.dataset) // args.batch * args.batch
used = seconds[1:] or seconds
report(rows_per_second=rows * len(used) / sum(used), rmse=[row[2] for row in learner.recorder.values], seed=args.seed)
