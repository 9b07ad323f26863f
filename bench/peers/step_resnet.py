"""Training steps of torchvision's resnet18 or fastai's xresnet50 on one fixed random batch, images per second: torch's default, or its best setting.

python bench/peers/step_resnet.py --setting default|best [--network resnet18] [--batch 64] [--size 128] [--threads 2] [--steps 10]
"""
import argparse
import time

import torch
import torchvision
from measure import report, with_allocator

parser = argparse.ArgumentParser()
parser.add_argument("--setting", choices=["default", "best"], default="default")
parser.add_argument("--network", choices=["resnet18", "xresnet50"], default="resnet18")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=128)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=10)
args = parser.parse_args()
best = args.setting == "best"
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
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True if best else None)

seconds = []
for step in range(args.steps + 2):
    start = time.perf_counter()
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
    if step >= 2:  # the first two warm up
        seconds.append(time.perf_counter() - start)
seconds.sort()
report(images_per_second=args.batch / seconds[len(seconds) // 2], best=args.batch / seconds[0])
