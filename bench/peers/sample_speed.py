"""Images with masks or points per CPU-second of one thread: read, augmented and normalized as fastai's camvid and Biwi examples do.

python bench/peers/sample_speed.py FOLDER --kind masks|points [--size 180] [--batch 16] [--passes 3]
FOLDER is what `ddptrain data make` wrote. Augmentation is aug_transforms(size=SIZE), for a batch at once.
"""
import argparse

import torch
from dense import masks, points
from fastai.vision.all import aug_transforms
from measure import Clock, report

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--kind", choices=["masks", "points"], default="masks")
parser.add_argument("--size", type=int, default=180)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--passes", type=int, default=3)
args = parser.parse_args()
torch.set_num_threads(1)

data = {"masks": masks, "points": points}[args.kind](args.folder, args.batch, batch_tfms=aug_transforms(size=args.size))
best = 0.0
for _ in range(args.passes):
    clock, images = Clock(), 0
    for batch in data.train:
        images += len(batch[0])
    best = max(best, images / clock.read()[1])
report(images_per_cpu_second=best)
