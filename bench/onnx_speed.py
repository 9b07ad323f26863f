#!/usr/bin/env python3
"""Times resnet18 in ONNX Runtime: the file of `ddptrain export` and that of torch.onnx.export of torchvision's, interleaved.

bench/onnx_speed.py [--pairs 5] [--batch 8] [--data imagenette2-224] [--build build] [--peers FOLDER]

Prints images per second of both, their ratio (wanted: at least 1), and the largest difference between the two on the same weights.
Needs the peers' environment (bench/peers/setup), in which it starts itself again.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def export_ours(options, folder):
    """A run of two steps, exported, and its weights with torchvision's names."""
    program = os.path.abspath(os.path.join(options.build, "ddptrain"))
    recipe = os.path.join(ROOT, "recipes", "imagenette-resnet18.yaml")
    words = [f"data.root={os.path.abspath(options.data)}", "train.duration=2 steps", "parallel.device=cpu"]
    subprocess.run([program, "run", recipe, *words, "name=onnx", "-q"], cwd=folder, check=True)
    for file in ("ours.onnx", "weights.safetensors"):
        subprocess.run([program, "export", "runs/onnx/latest", file, "-q"], cwd=folder, check=True)


def image_size(folder):
    import onnxruntime

    return onnxruntime.InferenceSession(os.path.join(folder, "ours.onnx")).get_inputs()[0].shape[-1]


def export_theirs(folder, batch, size):
    import safetensors.torch
    import torch
    import torchvision

    weights = safetensors.torch.load_file(os.path.join(folder, "weights.safetensors"))
    model = torchvision.models.resnet18(num_classes=weights["fc.bias"].numel())
    model.load_state_dict(weights)
    torch.onnx.export(model.eval(), (torch.rand(batch, 3, size, size),), os.path.join(folder, "theirs.onnx"), dynamo=False,
                      opset_version=17, input_names=["images"], dynamic_axes={"images": {0: "batch"}})


def measure(options, folder, size):
    import numpy
    import onnxruntime

    limits = onnxruntime.SessionOptions()
    limits.intra_op_num_threads = 2
    sessions = {name: onnxruntime.InferenceSession(os.path.join(folder, name + ".onnx"), limits) for name in ("ours", "theirs")}
    images = numpy.random.default_rng(0).random((options.batch, 3, size, size), dtype=numpy.float32)
    outputs = {name: session.run(None, {"images": images})[0] for name, session in sessions.items()}
    print("largest difference of the outputs:", float(abs(outputs["ours"] - outputs["theirs"]).max()))
    ratios = []
    for _ in range(options.pairs):
        seconds = {}
        for name, session in sessions.items():
            start = time.perf_counter()
            for _ in range(20):
                session.run(None, {"images": images})
            seconds[name] = time.perf_counter() - start
        ratios.append(seconds["theirs"] / seconds["ours"])
        print(*(f"{name} {20 * options.batch / each:.1f} images/s" for name, each in seconds.items()), f"ratio {ratios[-1]:.3f}")
    print(f"median ratio {statistics.median(ratios):.3f}, wanted at least 1.0")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--data", default=os.path.join(os.environ.get("DDPTRAIN_DATA", "."), "imagenette2-224"))
    parser.add_argument("--build", default="build")
    parser.add_argument("--peers", default=os.environ.get("DDPTRAIN_PEERS", "../ddptrain-peers"))
    options = parser.parse_args()
    python = os.path.join(options.peers, "bin", "python")
    if os.path.realpath(sys.prefix) != os.path.realpath(options.peers):
        os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as folder:
        export_ours(options, folder)
        size = image_size(folder)
        export_theirs(folder, options.batch, size)
        measure(options, folder, size)


if __name__ == "__main__":
    main()
