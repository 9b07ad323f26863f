#!/usr/bin/env python3
"""Loads files of weights at the size and in the layout that timm and torchvision publish, and compares the outputs with theirs.

bench/published_weights.py PROGRAM [--only NAME ...] [--precision fp64|fp32] [--images 2] [--seed 1] [--keep FOLDER]

Run it by the Python of bench/peers/setup: it needs torch, torchvision, timm and safetensors, and no network. Each network is made there
with random weights, and so that no layer is without effect, batch norms get statistics of noise and what begins as a constant is drawn.
Its state dict is written as published: torch.save for torchvision's .pth, timm's save_for_hf (model.safetensors with config.json) and
torch.save for timm's.
PROGRAM starts a run from the file with `model.weights`, makes one step at a rate of 1e-40 with all batch norms frozen, which changes
nothing, and `predict`s the images: 1000 numbers of each. `difference` is the largest to the library's own output, as a share of the
largest number. DINOv2, CLIP and SigLIP are published without a layer for classes: one is drawn and put into the checkpoint of a first
run, from which a second one starts.
Exits with 1 where a file was refused or a difference is above 1e-5.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy
import safetensors.torch
import timm
import torch
import torchvision
from PIL import Image
from timm.models import save_for_hf

CLASSES = 1000
BOUND = 1e-5
NO_HEAD = {"num_classes": 0}
# Library, its name for the network, ours with the options that its weights want, and what timm is to be asked for besides.
NETWORKS = [
    ("timm", "vit_small_patch16_224", {"type": "vit_s_16"}, {}),
    ("timm", "vit_base_patch16_224", {"type": "vit_b_16"}, {}),
    ("timm", "vit_tiny_patch16_224", {"type": "vit_ti_16"}, {}),
    ("timm", "deit_small_patch16_224", {"type": "deit_s_16"}, {}),
    ("timm", "deit_small_distilled_patch16_224", {"type": "deit_s_16", "distilled": True}, {}),
    ("timm", "vit_small_patch14_dinov2", {"type": "dinov2_s_14", "image_size": 518}, NO_HEAD),
    ("timm", "vit_small_patch14_reg4_dinov2", {"type": "dinov2_s_14", "registers": 4, "image_size": 518}, NO_HEAD),
    ("timm", "vit_base_patch32_clip_224", {"type": "clip_b_32", "activation": "gelu"}, NO_HEAD),
    ("timm", "vit_base_patch32_clip_quickgelu_224", {"type": "clip_b_32", "activation": "quick_gelu"}, NO_HEAD),
    ("timm", "vit_base_patch16_siglip_224", {"type": "siglip_b_16"}, NO_HEAD),
    ("timm", "convnext_tiny", {"type": "convnext_tiny"}, {}),
    ("timm", "efficientnet_b0", {"type": "efficientnet_b0"}, {}),
    ("timm", "efficientnet_b2", {"type": "efficientnet_b2"}, {}),
    ("timm", "mobilenetv2_100", {"type": "mobilenet_v2"}, {}),
    ("timm", "mobilenetv3_large_100", {"type": "mobilenet_v3_large", "norm_eps": 1e-5}, {}),
    ("timm", "swin_tiny_patch4_window7_224", {"type": "swin_t"}, {}),
    ("timm", "resnet18", {"type": "resnet18"}, {}),
    ("timm", "resnet50", {"type": "resnet50"}, {}),
    ("timm", "densenet121", {"type": "densenet121"}, {}),
    ("timm", "regnety_004", {"type": "regnet_y_400mf"}, {}),
    ("torchvision", "resnet50", {"type": "resnet50"}, {}),
    ("torchvision", "vit_b_16", {"type": "vit_b_16"}, {}),
    ("torchvision", "convnext_tiny", {"type": "convnext_tiny"}, {}),
    ("torchvision", "efficientnet_b0", {"type": "efficientnet_b0"}, {}),
    ("torchvision", "mobilenet_v3_large", {"type": "mobilenet_v3_large"}, {}),
    ("torchvision", "swin_t", {"type": "swin_t"}, {}),
    ("torchvision", "resnet18", {"type": "resnet18"}, {}),
    ("torchvision", "densenet121", {"type": "densenet121"}, {}),
    ("torchvision", "vgg11", {"type": "vgg11"}, {}),
    ("torchvision", "alexnet", {"type": "alexnet"}, {}),
    ("torchvision", "squeezenet1_1", {"type": "squeezenet1_1"}, {}),
    ("torchvision", "mobilenet_v2", {"type": "mobilenet_v2"}, {}),
    ("torchvision", "regnet_y_400mf", {"type": "regnet_y_400mf"}, {}),
]


def network(library, name, options):
    return timm.create_model(name, pretrained=False, **options) if library == "timm" else torchvision.models.get_model(name, weights=None)


@torch.no_grad()
def draw(model, side):
    """Statistics of noise for batch norms, and numbers for what begins as a constant: biases, gains, layer scales, tokens."""
    norms = [part for part in model.modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.momentum = 1.0
    if norms:
        model.train()(torch.randn(2, 3, side, side))
    for norm in norms:
        norm.momentum = 0.1
        norm.running_mean += 0.1 * norm.running_var.sqrt() * torch.randn_like(norm.running_mean)
        norm.running_var *= torch.empty_like(norm.running_var).uniform_(0.8, 1.25)
    for name, weight in model.named_parameters():
        if weight.numel() > 1 and weight.min() == weight.max():
            value = weight.flatten()[0].item()
            weight.copy_((0.3 if 0 < abs(value) < 0.1 else value) + 0.1 * torch.randn_like(weight))
    model.eval()


def write_published(library, name, model, folder):
    """Kind of file to path; the Hub's folder has a dot in its name, such as vit_base_patch16_224.augreg_in1k."""
    pth = os.path.join(folder, "weights.pth")
    torch.save(model.state_dict(), pth)
    if library == "torchvision":
        return {".pth": pth}
    hub = os.path.join(folder, name + ".random")
    save_for_hf(model, hub, safe_serialization=True)
    return {"safetensors": hub, ".pth": pth}


def write_images(folder, count, side):
    """Smooth and rough at once; [count, 3, side, side], as the recipe's normalize gives them: exact numbers, 0 to 255 / 64."""
    generator = numpy.random.default_rng(7)
    lines = ["path,split," + ",".join(f"n{i}" for i in range(CLASSES))]
    pixels = []
    for i in range(count):
        coarse = generator.integers(0, 256, (7, 7, 3), dtype=numpy.uint8)
        smooth = numpy.asarray(Image.fromarray(coarse).resize((side, side), Image.BICUBIC), dtype=numpy.int64)
        image = numpy.clip(smooth + generator.integers(-40, 41, (side, side, 3)), 0, 255).astype(numpy.uint8)
        Image.fromarray(image).save(os.path.join(folder, f"{i}.png"))
        pixels.append(torch.from_numpy(image.copy()).permute(2, 0, 1))
        lines.append(f"{i}.png,{'train' if i == 0 else 'valid'}," + ",".join(["0"] * CLASSES))
    with open(os.path.join(folder, "images.csv"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return torch.stack(pixels).float() / 64


def recipe_of(model, weights, data, precision):
    """YAML is a superset of JSON."""
    transforms = [{"type": "normalize", "mean": [0, 0, 0], "std": [64 / 255] * 3}]
    return {"recipe": 1, "name": "published", "model": {**model, "weights": weights},
            "data": {"type": "manifest", "file": os.path.join(data, "images.csv"), "numbers": [f"n{i}" for i in range(CLASSES)],
                     "transforms": {"train": transforms, "valid": transforms}, "loader": {"workers": 0}},
            "batch": {"global": 1}, "eval": {"batch": 1}, "loss": {"type": "mse"}, "metrics": [], "optimizer": {"type": "sgd", "lr": 1e-40},
            "schedule": {"type": "constant"},
            "train": {"duration": "1 step", "precision": precision, "freeze_to": -1, "train_bn": False, "bn_freeze": True, "threads": 1}}


class Refused(Exception):
    pass


def call(words, folder):
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        raise Refused(f"{words[1]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def run(program, recipe, folder):
    """The folder of the run."""
    path = os.path.join(folder, "published.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(recipe, file)
    out = os.path.join(folder, "out")
    call([program, "run", path, "output.dir=" + out, "-q"], folder)
    return os.path.join(out, "published", "latest")


def predicted(program, run_folder, images, folder):
    lines = call([program, "predict", run_folder, *images, "--format", "jsonl", "-q"], folder).splitlines()
    return torch.tensor([numbers_of(json.loads(line)) for line in lines], dtype=torch.double)


def with_drawn_head(run_folder, folder):
    """Path of the run's weights with another last layer, and that layer."""
    tensors = safetensors.torch.load_file(os.path.join(run_folder, "checkpoints", "step-00000001", "model.safetensors"))
    name = next(name for name, weight in tensors.items() if weight.dim() == 2 and len(weight) == CLASSES)
    bias = name.removesuffix("weight") + "bias"
    tensors[name] = torch.randn_like(tensors[name])
    tensors[bias] = torch.randn_like(tensors[bias])
    path = os.path.join(folder, "with_head.safetensors")
    safetensors.torch.save_file(tensors, path)
    return path, (tensors[name], tensors[bias])


def numbers_of(row):
    values = next(value for value in row.values() if isinstance(value, dict)) if "n0" not in row else row
    return [float(values[f"n{i}"]) for i in range(CLASSES)]


def theirs(model, images, precision, head):
    model = model.double() if precision == "fp64" else model.float()
    with torch.no_grad():
        out = torch.cat([model(image[None].to(next(model.parameters()).dtype)) for image in images])
    return torch.nn.functional.linear(out, *(tensor.to(out) for tensor in head)) if head else out


def compare(program, row, options, folder):
    library, name, recipe, asked = row
    torch.manual_seed(options.seed)
    model = network(library, name, asked)
    side = recipe.get("image_size", 224)
    draw(model, side)
    images = write_images(folder, options.images, side)
    parameters = sum(weight.numel() for weight in model.parameters())
    for kind, path in write_published(library, name, model, folder).items():
        try:
            head = None
            if asked == NO_HEAD:
                path, head = with_drawn_head(run(program, recipe_of(recipe, path, folder, "fp32"), folder), folder)
            latest = run(program, recipe_of(recipe, path, folder, options.precision), folder)
            files = [os.path.join(folder, f"{i}.png") for i in range(options.images)]
            got = predicted(program, latest, files, folder)
            expected = theirs(model, images, options.precision, head)
            difference = ((got - expected).abs().max() / expected.abs().max()).item()
            apart = ((expected[0] - expected[1]).abs().max() / expected.abs().max()).item()
            yield kind, parameters, difference, f"{apart:.2g}"
        except Refused as refused:
            yield kind, parameters, None, str(refused)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", nargs="*", help="networks by the library's name")
    parser.add_argument("--precision", choices=["fp64", "fp32"], default="fp64")
    parser.add_argument("--images", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for files and runs; else a temporary one, emptied after each network")
    options = parser.parse_args()
    torch.set_num_threads(1)
    program = os.path.abspath(options.program)
    print(f"torch {torch.__version__}, torchvision {torchvision.__version__}, timm {timm.__version__}, {options.precision}")
    print("| network | published by | file | parameters | difference | two images differ by |\n|---|---|---|---|---|---|")
    failed = []
    for row in NETWORKS:
        if options.only and row[1] not in options.only:
            continue
        with tempfile.TemporaryDirectory(prefix="published-") as scratch:
            folder = os.path.join(options.keep, f"{row[0]}-{row[1]}") if options.keep else scratch
            os.makedirs(folder, exist_ok=True)
            for kind, parameters, difference, word in compare(program, row, options, folder):
                good = difference is not None and difference <= BOUND
                figures = f"{difference:.1e} | {word}" if difference is not None else "refused | "
                print(f"| `{row[1]}` | {row[0]} | {kind} | {parameters:,} | {figures} |", flush=True)
                if not good:
                    failed.append(row[1])
                if difference is None:
                    print(word, file=sys.stderr, flush=True)
    sys.exit(1 if failed else 0)


main()
