"""Shipped recipes on small synthetic data (shipped.json), and what their runs are compared by."""
import array
import json
import os
import struct

from .checks import checkpoints_of, expect

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "shipped.json"), encoding="utf-8") as table:
    TABLE = json.load(table)
RECIPES = {file: how for file, how in TABLE["recipes"].items() if file.startswith("recipes/")}


def overrides(how, data):
    texts = []
    for text in how["set"]:
        texts += TABLE["short"].get(text, [text])
    return [text.replace("DATA", data, 1) for text in texts]


def words_of(bench, file, device, folder, *more, steps=3):
    """A short run of a shipped recipe in one process; `more` has the last word."""
    how = TABLE["recipes"][file]
    words = ["run", os.path.join(bench.root, file), "name=run", f"output.dir={folder}", f"batch.global={how['batch']}",
             f"batch.micro={how['batch']}", "batch.accumulate=1", "parallel.mode=none", f"parallel.device={device}",
             "data.loader.workers=1", "eval.batch=7", "log.every=1 step", "log.tensorboard=false",
             *overrides(how, bench.data)]
    if device == "cpu":
        words.append("train.threads=1")
    if not any(word.startswith("train.fine_tune.") for word in words):
        words.append(f"train.duration={steps} steps")
    return words + list(more)


def train(bench, file, device, name, *more, steps=3, limit=240):
    """The folder of a finished run."""
    folder = os.path.join(bench.work, "runs", name)
    bench.run(words_of(bench, file, device, folder, *more, steps=steps), limit)
    return os.path.join(folder, "run", "001")


def tensors_of(checkpoint):
    """Name to (dtype, bytes)."""
    with open(os.path.join(checkpoint, "model.safetensors"), "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        body = file.read()
    return {name: (entry["dtype"], body[slice(*entry["data_offsets"])]) for name, entry in header.items()
            if name != "__metadata__"}


def weights_of(run):
    return tensors_of(checkpoints_of(run)[-1])


def difference(one, other):
    """The largest difference of two sets of weights, next to the largest weight of the same tensor."""
    expect(one.keys() == other.keys(), "the checkpoints hold other tensors")
    most = 0.0
    for name, (dtype, bytes_) in one.items():
        if dtype not in ("F64", "F32"):
            continue
        a, b = (array.array("d" if dtype == "F64" else "f", each) for each in (bytes_, other[name][1]))
        size = max((abs(value) for value in b), default=0) or 1e-300
        most = max(most, max((abs(x - y) for x, y in zip(a, b)), default=0) / size)
    return most


def loss_difference(one, other):
    """The largest relative difference of two runs' losses, step by step."""
    expect(len(one) == len(other) and one, f"{len(one)} and {len(other)} losses")
    return max(abs(a - b) / max(1e-12, abs(b)) for a, b in zip(one, other))
