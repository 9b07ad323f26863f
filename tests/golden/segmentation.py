"""Golden values of torchvision's segmentation models: python tests/golden/segmentation.py (torch 2.11, torchvision 0.26).

Writes tests/golden/segmentation.json; formulas and forms are those of models.json.
"""
import json
import math
import os

import numpy
import torch
import torchvision.models.segmentation as segmentation

CASES = [("fcn", "resnet50"), ("deeplabv3", "resnet101"), ("deeplabv3", "mobilenet_v3_large")]
CLASSES, AUX, SHAPE = 3, 0.5, [2, 3, 65, 48]


def formula(count, k):
    mask = numpy.uint64(0xFFFFFFFF)
    i = numpy.arange(count, dtype=numpy.uint64)
    h = (i * numpy.uint64(2654435761) + numpy.uint64(k * 40503 + 12345)) & mask
    h = ((h ^ (h >> numpy.uint64(16))) * numpy.uint64(0x85EBCA6B)) & mask
    h = ((h ^ (h >> numpy.uint64(13))) * numpy.uint64(0xC2B2AE35)) & mask
    return (h ^ (h >> numpy.uint64(16))).astype(numpy.float64) / 2**31 - 1


def fill(model):
    with torch.no_grad():
        for k, (name, tensor) in enumerate(model.state_dict().items()):
            if not tensor.is_floating_point():
                continue
            u = formula(tensor.numel(), k)
            fan = tensor.numel() // tensor.shape[0] if tensor.dim() > 0 else 1
            if name.endswith("running_var"):
                values = 1 + 0.1 * u
            elif name.endswith("running_mean"):
                values = 0.02 * u
            elif tensor.dim() >= 2 and fan > 1:
                values = math.sqrt(3 / fan) * u
            elif name.endswith("weight"):
                values = 1 + 0.1 * u
            else:
                values = 0.05 * u
            tensor.copy_(torch.from_numpy(values.astype(numpy.float32)).view(tensor.shape))


def rounded(values):
    return [float(f"{v:.8g}") for v in values.flatten().tolist()]


def of_map(output):
    maps = output.flatten(2)
    return {"shape": list(output.shape), "mean": rounded(maps.mean(2)), "std": rounded(maps.std(2)),
            "every_97th": rounded(output.flatten()[::97])}


def cases():
    for model, body in CASES:
        net = getattr(segmentation, f"{model}_{body}")(weights=None, weights_backbone=None, num_classes=CLASSES, aux_loss=True)
        about = {"library": "torchvision", "model": model, "body": body, "classes": CLASSES, "aux_loss": AUX}
        types = {torch.float32: "f32", torch.int64: "i64"}
        yield {"name": f"layout/torchvision_{model}_{body}", "input": {"kind": "layout", **about}, "expect": {
            "state": [[n, list(t.shape), types[t.dtype]] for n, t in net.state_dict().items()],
            "parameters": sum(p.numel() for p in net.parameters()), "parameter_tensors": len(list(net.parameters()))}}
        fill(net)
        net = net.double().eval()
        images = torch.from_numpy(formula(math.prod(SHAPE), 777).astype(numpy.float32)).double().view(SHAPE)
        with torch.no_grad():
            output = net(images)
        yield {"name": f"forward/torchvision_{model}_{body}", "input": {"kind": "forward", **about, "input": SHAPE},
               "expect": {"eval_map": of_map(output["out"]), "aux_map": of_map(output["aux"])}}


torch.manual_seed(0)
about = ("torchvision 0.26's models that classify pixels, with their auxiliary classifier: layouts and outputs in evaluation "
         "mode, as models.json has them; aux_map is of the auxiliary output.")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "segmentation.json"), "w") as out:
    lines = ",\n".join(json.dumps(case) for case in cases())
    out.write('{"about": ' + json.dumps(about) + ', "cases": [\n' + lines + "\n]}\n")
