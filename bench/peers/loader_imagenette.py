"""Images per second and per CPU-second of a training pipeline: random_resized_crop to 128, flip, normalize, batches of 64.

python bench/peers/loader_imagenette.py FOLDER --pipeline pil|tuned [--images 2560] [--workers 0]
"""
import argparse

import torch
from measure import Clock, loader, report

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--pipeline", choices=["pil", "tuned"], default="pil")
parser.add_argument("--images", type=int, default=2560)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--passes", type=int, default=3)
args = parser.parse_args()

torch.set_num_threads(1)
best_cpu = best_wall = 0.0
for _ in range(args.passes):
    batches = iter(loader(args.folder, args.pipeline, 64, args.workers))
    next(batches)  # the start is not counted
    clock, images = Clock(), 0
    for inputs, _labels in batches:
        images += len(inputs)
        if images >= args.images:
            break
    wall, _ = clock.read()
    del batches  # workers end here, and their CPU time is known only then
    _, cpu = clock.read()
    best_cpu, best_wall = max(best_cpu, images / cpu), max(best_wall, images / wall)
report(images_per_cpu_second=best_cpu, images_per_second=best_wall)
