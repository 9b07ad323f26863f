"""Golden values of torch's powerSGD_hook: python tests/golden/power_sgd.py (torch 2.11).

Writes tests/golden/power_sgd.json: two gloo processes in double precision hand one bucket of three
gradients to the hook, several times. Each case has the random directions that the hook drew first,
and what it gave at each step.
"""
import json
import os
import random
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as hook

ABOUT = ("torch 2.11's powerSGD_hook with 2 gloo processes in double: what a bucket of three gradients "
         "becomes at each of four steps, from the directions that it drew first.")
SHAPES = [[6, 5], [4], [3, 2, 2]]
STEPS = 4
CASES = [
    {"rank": 1, "min_compression_rate": 2, "error_feedback": True, "epsilon": 0},
    {"rank": 1, "min_compression_rate": 0.5, "error_feedback": True, "epsilon": 1e-3},
    {"rank": 2, "min_compression_rate": 0.5, "error_feedback": True, "epsilon": 0},
    {"rank": 2, "min_compression_rate": 0.5, "error_feedback": False, "epsilon": 0},
    {"rank": 3, "min_compression_rate": 0.5, "error_feedback": True, "epsilon": 0},
]


class Bucket:
    def __init__(self, flat):
        self.flat = flat

    def buffer(self):
        return self.flat

    def index(self):
        return 0

    def is_last(self):
        return True

    def gradients(self):
        views, first = [], 0
        for shape in SHAPES:
            count = torch.Size(shape).numel()
            views.append(self.flat[first:first + count].view(shape))
            first += count
        return views


def gradients(step, rank):
    count = sum(torch.Size(shape).numel() for shape in SHAPES)
    i = torch.arange(count, dtype=torch.float64)
    return torch.sin(i * (1.3 + rank) + 0.7 * step) + 0.1 * torch.cos(i * i + rank)


def compresses(case, shape):
    n, m = shape[0], torch.Size(shape).numel() // shape[0]
    return hook._should_compress(n, m, min(n, m, case["rank"]), case["min_compression_rate"])[0]


def run(rank, path):
    dist.init_process_group("gloo", init_method=f"file://{path}.store", rank=rank, world_size=2)
    cases = []
    for case in CASES:
        drawn = []
        plain = torch.randn

        def recorded(*shape, **options):
            made = plain(*shape, **options)
            drawn.append(made.tolist())
            return made

        torch.randn = recorded
        state = hook.PowerSGDState(
            process_group=None, matrix_approximation_rank=case["rank"], start_powerSGD_iter=2,
            min_compression_rate=case["min_compression_rate"], use_error_feedback=case["error_feedback"],
            warm_start=True, orthogonalization_epsilon=case["epsilon"], random_seed=7)
        state.iter = 2
        results = []
        for step in range(STEPS):
            future = hook.powerSGD_hook(state, Bucket(gradients(step, rank)))
            results.append(future.wait().tolist())
        torch.randn = plain
        # The hook draws for all matrices of one shape at once; here every shape is there once.
        order = [s for s in SHAPES if compresses(case, s)]
        directions = {str(SHAPES.index(s)): d[0] for s, d in zip(order, drawn)}
        given = {"kind": "mean", **case, "shapes": SHAPES, "directions": directions,
                 "gradients": [[gradients(s, r).tolist() for r in range(2)] for s in range(STEPS)]}
        name = f"mean/{len(cases)}_rank_{case['rank']}"
        cases.append({"name": name, "input": given, "expect": {"means": results}})
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        with open(path, "w") as file:
            json.dump({"about": ABOUT, "cases": cases}, file)
            file.write("\n")


if __name__ == "__main__":
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "power_sgd.json")
    multiprocessing.spawn(run, args=(here,), nprocs=2)
