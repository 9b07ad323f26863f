"""Training steps of torchvision's resnet18 or fastai's xresnet50 on one fixed random batch, images per second: torch's default, or its best setting, with torch.compile too.

python bench/peers/step_resnet.py --setting default|best|compile [--network resnet18] [--batch 64] [--size 128] [--threads 2] [--steps 10]
"""
import argparse

import torch
import torchvision
from measure import training_speed, with_allocator

parser = argparse.ArgumentParser()
parser.add_argument("--setting", choices=["default", "best", "compile"], default="default")
parser.add_argument("--network", choices=["resnet18", "xresnet50"], default="resnet18")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=128)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=10)
args = parser.parse_args()
best = args.setting != "default"
with_allocator(best)

torch.set_num_threads(args.threads)
torch.manual_seed(0)
layout = torch.channels_last if best else torch.contiguous_format
if args.network == "xresnet50":
    from fastai.vision.models.xresnet import xresnet50
    model = xresnet50(n_out=10)
else:
    model = torchvision.models.resnet18(num_classes=10)
model = model.train().to(memory_format=layout)
images = torch.randn(args.batch, 3, args.size, args.size).contiguous(memory_format=layout)
labels = torch.randint(10, (args.batch,))
run = torch.compile(model) if args.setting == "compile" else model
training_speed(run, images, labels, args.steps, fused=best)
