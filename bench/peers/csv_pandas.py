"""A CSV file to one tensor for each column with pandas.read_csv on one thread: best of some passes, import left out.

python bench/peers/csv_pandas.py FILE [--passes 9] [--threads 1]
Names become codes in order of their first row (pandas.factorize), the cheapest of its ways.
"""
import argparse
import time

import pandas
import torch
from measure import report

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--passes", type=int, default=9)
parser.add_argument("--threads", type=int, default=1)
args = parser.parse_args()
torch.set_num_threads(1)
if hasattr(pandas.options.mode, "max_threads"):  # pandas 3.1 reads files above 5 MB with several
    pandas.options.mode.max_threads = args.threads


def tensor_of(column):
    if column.dtype.kind in "if":
        return torch.tensor(column.to_numpy(), dtype=torch.float64)
    return torch.tensor(pandas.factorize(column)[0])


best = float("inf")
for _ in range(args.passes):
    began = time.perf_counter()
    table = pandas.read_csv(args.file)
    tensors = [tensor_of(table[name]) for name in table]
    best = min(best, time.perf_counter() - began)
report(seconds=best)
