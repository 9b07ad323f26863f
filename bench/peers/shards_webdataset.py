"""Images per second from tar shards by webdataset: random_resized_crop to 128, flip, normalize, batches of 64.

python bench/peers/shards_webdataset.py FOLDER --pipeline pil|tuned [--workers 2] [--epochs 3]
FOLDER is what `ddptrain data shards` wrote. pil: webdataset's decoder "pil" and torchvision's first transforms, as its
documentation has it. tuned: torchvision's decode_jpeg and v2 on bytes, a batch normalized at once.
"""
import argparse
import glob
import time

import torch
import torchvision
import webdataset
from measure import MEAN, STD, one_thread, report, tuned_collate
from torchvision import transforms as v1
from torchvision.transforms import v2

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--pipeline", choices=["pil", "tuned"], default="pil")
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args()

torch.set_num_threads(1)
shards = sorted(glob.glob(args.folder + "/train-*.tar"))
data = webdataset.WebDataset(shards, shardshuffle=len(shards), detshuffle=True, seed=1).shuffle(1000)
if args.pipeline == "pil":
    steps = v1.Compose([v1.RandomResizedCrop(128, scale=(0.35, 1.0)), v1.RandomHorizontalFlip(), v1.ToTensor(),
                        v1.Normalize(MEAN, STD)])
    data = data.decode("pilrgb").to_tuple("jpg;jpeg", "cls").map_tuple(steps, int).batched(64, partial=False)
else:
    crop = v2.Compose([v2.RandomResizedCrop(128, scale=(0.35, 1.0), antialias=True), v2.RandomHorizontalFlip()])
    as_bytes = lambda content: torch.frombuffer(bytearray(content), dtype=torch.uint8)
    image = lambda content: crop(torchvision.io.decode_jpeg(as_bytes(content), mode=torchvision.io.ImageReadMode.RGB))
    data = data.to_tuple("jpg;jpeg", "cls").map_tuple(image, int).batched(64, collation_fn=tuned_collate, partial=False)
loader = webdataset.WebLoader(data, batch_size=None, num_workers=args.workers, worker_init_fn=one_thread)
best = 0.0
for _ in range(args.epochs):
    batches = iter(loader)
    next(batches)  # the start is not counted
    start, images = time.perf_counter(), 0
    for inputs, _labels in batches:
        images += len(inputs)
    best = max(best, images / (time.perf_counter() - start))
report(images_per_second=best)
