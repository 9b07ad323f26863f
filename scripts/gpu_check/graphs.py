"""Slot 11: steps that a graph repeats have the bits of steps that the host makes, and their pace."""
import os

from .checks import events_of, expect
from .numbers import SHAPES, start_ranks, wait_for_ranks
from .recipes import difference, train, weights_of

EXACT = ["train.deterministic=true", "train.precision=fp32", "eval.every=1000000 steps"]


def pace(run):
    """Steps a second of the second half, in which graphs are replayed."""
    seconds = [event["seconds"] for event in events_of(run, "step")]
    half = len(seconds) // 2
    return (len(seconds) - 1 - half) / (seconds[-1] - seconds[half])


def expect_equal(runs):
    """Of a run with a graph and one without: losses and weights; returns both paces in words."""
    with_graph, without = ([event["train/loss"] for event in events_of(run, "step")] for run in runs)
    expect(with_graph == without, f"losses with a graph {with_graph[-3:]}, without {without[-3:]}")
    weights = [weights_of(run) for run in runs]
    expect(weights[0] == weights[1], f"weights differ by {difference(*weights):.1e}")
    return f"{len(without)} steps, {pace(runs[0]):.1f} a second with a graph, {pace(runs[1]):.1f} without"


def one_process(bench):
    steps = 600 if bench.on_cuda else 30
    return expect_equal([train(bench, SHAPES, bench.device, "graph-" + graph, "train.graph=" + graph, *EXACT, steps=steps)
                         for graph in ("true", "false")])


def two_ranks(bench):
    """Where a graph holds the reduction of gradients: by NCCL on CUDA."""
    runs = []
    for graph in ("true", "false"):
        ranks, folder = start_ranks(bench, "two-graph-" + graph, "train.graph=" + graph, "parallel.sync_bn=true", *EXACT)
        for ended in wait_for_ranks(bench, ranks, 200):
            expect(ended.code == 0, f"exit code {ended.code}: {ended.err[-600:]}")
        runs.append(os.path.join(folder, sorted(os.listdir(folder))[0]))
    return expect_equal(runs)
