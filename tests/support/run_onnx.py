"""Runs FOLDER/model.onnx and model.pt on input0.npy, ... and compares both with output.npy: 1e-4 of the largest output."""
import glob
import os
import sys

import numpy
import onnxruntime
import torch


def largest_difference(output, expected):
    return float(numpy.abs(output - expected).max()) / max(float(numpy.abs(expected).max()), 1e-9)


def main(folder):
    inputs = [numpy.load(file) for file in sorted(glob.glob(os.path.join(folder, "input*.npy")))]
    expected = numpy.load(os.path.join(folder, "output.npy"))
    session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), providers=["CPUExecutionProvider"])
    by_onnx = session.run(None, {given.name: value for given, value in zip(session.get_inputs(), inputs)})[0]
    with torch.no_grad():
        by_torch = torch.jit.load(os.path.join(folder, "model.pt"))(*map(torch.from_numpy, inputs)).numpy()
    for name, output in [("onnxruntime", by_onnx), ("torch", by_torch)]:
        difference = largest_difference(output, expected)
        print(name, output.shape, difference)
        if output.shape != expected.shape or not difference <= 1e-4:
            return 1
    return 0


sys.exit(main(sys.argv[1]))
