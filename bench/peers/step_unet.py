"""Training steps of fastai's DynamicUnet on one fixed random batch, images per second: torch's default, or its best setting.

python bench/peers/step_unet.py --setting default|best [--body resnet34] [--batch 8] [--size 128] [--threads 2] [--steps 10]
"""
import argparse

import torch
import torchvision
from measure import training_speed, with_allocator

parser = argparse.ArgumentParser()
parser.add_argument("--setting", choices=["default", "best"], default="default")
parser.add_argument("--body", default="resnet34")
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--size", type=int, default=128)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=10)
args = parser.parse_args()
best = args.setting == "best"
with_allocator(best)

from fastai.vision.learner import create_unet_model  # noqa: E402 - torch is loaded with the allocator

torch.set_num_threads(args.threads)
torch.manual_seed(0)
layout = torch.channels_last if best else torch.contiguous_format
size = (args.size, args.size)
model = create_unet_model(getattr(torchvision.models, args.body), 10, size, pretrained=False)
model = model.train().to(memory_format=layout)
images = torch.randn(args.batch, 3, *size).contiguous(memory_format=layout)
masks = torch.randint(10, (args.batch, *size))
training_speed(model, images, masks, args.steps, fused=best)
