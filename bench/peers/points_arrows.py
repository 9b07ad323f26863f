"""fastai's head for points on a small xresnet, on the points of `ddptrain data make points`: mean distance of a run from random weights.

python bench/peers/points_arrows.py FOLDER [--model vision_learner|small] [--seed 0] [--epochs 10] [--batch 32]
    [--rate 5e-3] [--threads 1]
resnet18: the same head on torchvision's resnet18. small: the network of recipes/biwi-tiny.yaml. Points are scaled to -1 .. 1 over the image. No augmentation.
"""
import argparse

import torch
from dense import OPTIMIZER, outputs_and_targets, points
from fastai.vision.all import Learner, MSELossFlat, ResBlock, XResNet, apply_init, create_body, create_head, set_seed
from measure import report
from torch import nn
from torchvision.models import resnet18

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--model", choices=["vision_learner", "resnet18", "small"], default="vision_learner")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--rate", type=float, default=5e-3)
parser.add_argument("--threads", type=int, default=1)
args = parser.parse_args()
torch.set_num_threads(args.threads)
set_seed(args.seed)

data = points(args.folder, args.batch)


def small():
    layers, channels = [], 3
    for out in (16, 32, 64, 64):
        layers += [nn.Conv2d(channels, out, 3, 2, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
        channels = out
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 4))


if args.model == "small":
    learner = Learner(data, small(), loss_func=MSELossFlat(), opt_func=OPTIMIZER)
else:
    whole = args.model == "resnet18"
    body = create_body(resnet18(), cut=-2) if whole else nn.Sequential(
        *list(XResNet(ResBlock, 1, [2, 2, 2, 2], widen=0.25).children())[:-4])
    head = create_head(512 if whole else 128, 4, y_range=(-1, 1))
    apply_init(head, nn.init.kaiming_normal_)  # what vision_learner does
    model = nn.Sequential(body, head)
    learner = Learner(data, model, loss_func=MSELossFlat(), opt_func=OPTIMIZER)
with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(args.epochs, args.rate)

outputs, targets = outputs_and_targets(learner)
outputs, targets = outputs.reshape(-1, 2, 2), targets.reshape(-1, 2, 2)
middle, tip = (outputs - targets).norm(dim=2).mean(0).tolist()
report(point_distance=(middle + tip) / 2, middle=middle, tip=tip, rmse=(outputs - targets).square().mean().sqrt().item(),
       seed=args.seed, steps=args.epochs * len(data.train))
