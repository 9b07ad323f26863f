"""Slots 2, 4, 5 and 10: the device's numbers against the CPU's, against other modes, after a resume."""
import concurrent.futures
import csv
import os
import socket

from .checks import Skip, checkpoints_of, events_of, expect, kill_group, losses_of
from .recipes import RECIPES, difference, loss_difference, tensors_of, train, weights_of, words_of

SHAPES = "recipes/shapes.yaml"
# Losses relative to those of the CPU in fp64 (fp64) or fp32 (all others): of the first step, a forward pass alone, and of
# three steps, in which batch norm over few samples and the corners of ReLUs enlarge what rounding began.
TOLERANCES = {"fp64": (1e-9, 1e-9), "fp32": (1e-4, 2e-2), "tf32": (1e-2, 5e-2), "bf16": (2e-2, 1e-1), "fp16": (1e-2, 5e-2)}
# Where they are compared: fp64 and fp32 everywhere, the others where arithmetic differs by kind of model.
SOME = ["recipes/shapes.yaml", "recipes/imagenette.yaml", "recipes/adult.yaml", "recipes/imdb-transformer.yaml",
        "recipes/imdb.yaml"]


def precision(name):
    def compared(bench, file):
        stem = os.path.basename(file)[:-5]
        reference = name if name == "fp64" else "fp32"
        cpu = losses_of(train(bench, file, "cpu", f"{stem}-{name}-cpu", f"train.precision={reference}"))
        device = losses_of(train(bench, file, bench.device, f"{stem}-{name}", f"train.precision={name}"))
        return stem, loss_difference(device[:1], cpu[:1]), loss_difference(device, cpu)

    def check(bench):
        if name == "tf32":
            bench.cuda_only("the CPU's kernels have no TF32")
        if name == "fp16" and not bench.on_cuda:
            raise Skip("the CPU's kernels are the simulated device's, and fp16 is slow on them")
        files = [file for file in RECIPES if name in ("fp64", "fp32") or file in SOME]
        with concurrent.futures.ThreadPoolExecutor(bench.parallel) as pool:
            found = list(pool.map(lambda file: compared(bench, file), files))
        first, three = TOLERANCES[name]
        wrong = [f"{stem} {one:.1e} and {all_:.1e}" for stem, one, all_ in found if not (one <= first and all_ <= three)]
        expect(not wrong, f"losses of the first step and of three differ by more than {first:g} and {three:g}: "
               + ", ".join(wrong))
        return (f"{len(found)} recipes, first losses within {max(one for _, one, _ in found):.1e} (allowed {first:g}), "
                f"three within {max(all_ for _, _, all_ in found):.1e} ({three:g})")
    return check


# Every metric of the catalog with a recipe whose targets it takes.
METRICS = {
    SHAPES: ["accuracy", "balanced_accuracy", "cohen_kappa", "confusion_matrix", "error_rate", "hamming_loss", "loss",
             "mcc", "per_class_accuracy", "perplexity", "roc_auc", "top_k", "{type: f1, average: macro}",
             "{type: fbeta, beta: 2, average: macro}", "{type: jaccard, average: macro}",
             "{type: precision, average: macro}", "{type: recall, average: macro}"],
    "recipes/adult.yaml": ["roc_auc_binary", "average_precision_binary", "f1"],
    "recipes/houses.yaml": ["exp_rmspe", "explained_variance", "mae", "mse", "msle", "pearson", "r2", "rmse", "spearman"],
}


def metrics(bench):
    count = 0
    for file, names in METRICS.items():
        stem = os.path.basename(file)[:-5]
        more = ["train.precision=fp64", f"metrics=[{', '.join(names)}]"]
        if "adult" in file or "houses" in file:
            more.append("checkpoint.keep_best=null")
        runs = [train(bench, file, device, f"{stem}-metrics-{device}", *more) for device in ("cpu", bench.device)]
        cpu, device = (events_of(run, "evaluation")[-1] for run in runs)
        names = [name for name in cpu if name.startswith("valid/")]
        for name in names:
            expect(device[name] == cpu[name] or abs(device[name] - cpu[name]) <= 1e-9 * (1 + abs(cpu[name])),
                   f"{name} of {stem} is {device[name]}, on the CPU {cpu[name]}")
        count += len(names)
    return f"{count} values within 1e-9"


def modes(bench):
    """fp32, so that every difference of order shows."""
    runs = [train(bench, SHAPES, bench.device, "mode-" + mode, f"parallel.mode={mode}", "parallel.devices=1",
                  "train.deterministic=true", "train.precision=fp32", steps=30) for mode in ("none", "dp", "ddp")]
    none, *others = (weights_of(run) for run in runs)
    for mode, weights in zip(("dp", "ddp"), others):
        expect(weights == none, f"{mode} of one device differs from none by {difference(weights, none):.1e}")
    return "30 steps in fp32"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def start_ranks(bench, name, *more, **variables):
    """Two ranks that join each other on device 0, as two nodes would: NCCL_HOSTID keeps NCCL from refusing it."""
    port, folder = free_port(), os.path.join(bench.work, "runs", name)
    words = words_of(bench, SHAPES, bench.device, folder, "parallel.mode=ddp", "parallel.devices=2", "batch.micro=4", *more,
                     steps=30)
    ranks = []
    for rank in ("0", "1"):
        ranks.append(bench.start(words, RANK=rank, WORLD_SIZE="2", LOCAL_RANK="0", LOCAL_WORLD_SIZE="1", GROUP_RANK=rank,
                                 MASTER_ADDR="127.0.0.1", MASTER_PORT=port, NCCL_HOSTID="host" + rank,
                                 NCCL_SOCKET_IFNAME="lo", TORCHELASTIC_RUN_ID="gpu-check", **variables))
    return ranks, os.path.join(folder, "run")


def wait_for_ranks(bench, ranks, limit=120):
    try:
        return [bench.wait(rank, limit) for rank in ranks]
    finally:
        for rank in ranks:
            kill_group(rank)


def ranks_as_one(bench, name, *more, **variables):
    ranks, folder = start_ranks(bench, name, "train.precision=fp64", *more, **variables)
    for ended in wait_for_ranks(bench, ranks, 240):
        expect(ended.code == 0, f"exit code {ended.code}: {ended.err[-600:]}")
    alone = weights_of(train(bench, SHAPES, "cpu", name + "-alone", "train.precision=fp64", *more, steps=30))
    joined = weights_of(os.path.join(folder, sorted(os.listdir(folder))[0]))
    return difference(joined, alone)


def two_ranks(bench):
    apart = ranks_as_one(bench, "two", "model={type: mnist_net, num_classes: auto}")
    expect(apart <= 1e-9, f"weights differ from one CPU process by {apart:.1e}")
    return f"30 steps in fp64, weights within {apart:.1e} of one CPU process"


def two_ranks_sync_bn(bench):
    apart = ranks_as_one(bench, "two-bn", "parallel.sync_bn=true")
    expect(apart <= 1e-8, f"weights differ from one CPU process by {apart:.1e}")
    return f"30 steps in fp64, weights within {apart:.1e} of one CPU process"


def two_gloo_ranks(bench):
    bench.cuda_only("the simulated device's groups are Gloo's: slot 5 is the same there")
    apart = ranks_as_one(bench, "gloo", "model={type: mnist_net, num_classes: auto}", DDPTRAIN_CUDA_GROUP="gloo")
    expect(apart <= 1e-9, f"weights differ from one CPU process by {apart:.1e}")
    return f"30 steps in fp64, weights within {apart:.1e} of one CPU process"


def across_devices(bench):
    """Two steps each on the device, the CPU and the device are six on the CPU."""
    more = ["train.precision=fp64", "train.ema={decay: 0.9}", "schedule={type: constant}"]
    run = train(bench, SHAPES, bench.device, "travel", *more, steps=2)
    for device, steps in (("cpu", 4), (bench.device, 6)):
        bench.run(["resume", run, f"parallel.device={device}", f"train.duration={steps} steps"])
    alone = train(bench, SHAPES, "cpu", "home", *more, steps=6)
    apart = difference(tensors_of(checkpoints_of(run)[-1]), weights_of(alone))
    expect(apart <= 1e-9, f"weights differ from six steps on the CPU by {apart:.1e}")
    return f"six steps in fp64, weights within {apart:.1e} of the CPU's"


def saved(bench):
    """A run of the device, made once."""
    run = os.path.join(bench.work, "runs", "saved", "run", "001")
    return run if os.path.exists(run) else train(bench, SHAPES, bench.device, "saved", "train.precision=fp64", steps=10)


def evaluated(bench):
    texts = [bench.run(["eval", saved(bench), f"parallel.device={device}"]).out for device in (bench.device, "cpu")]
    numbers = [[float(word) for word in text.split() if word.replace(".", "", 1).isdigit()] for text in texts]
    expect(numbers[0] and len(numbers[0]) == len(numbers[1]), f"'{texts[0]}' and '{texts[1]}'")
    apart = max(abs(a - b) for a, b in zip(*numbers))
    expect(apart <= 1e-4, f"'{texts[0]}' and '{texts[1]}'")
    return f"{len(numbers[0])} numbers within {apart:.1e}"


def predicted(bench):
    rows = []
    for device in (bench.device, "cpu"):
        out = bench.run(["predict", saved(bench), bench.data + "/shapes/val", f"parallel.device={device}"]).out
        rows.append(list(csv.reader(out.splitlines())))
    expect(len(rows[0]) == len(rows[1]) > 1 and rows[0][0] == rows[1][0], f"{len(rows[0])} and {len(rows[1])} rows")
    apart = 0.0
    for one, other in zip(rows[0][1:], rows[1][1:]):
        for a, b in zip(one, other):
            try:
                apart = max(apart, abs(float(a) - float(b)))
            except ValueError:
                expect(a == b, f"'{a}' and '{b}'")
    expect(apart <= 1e-5, f"probabilities differ by {apart:.1e}")
    return f"{len(rows[0]) - 1} rows within {apart:.1e}"
