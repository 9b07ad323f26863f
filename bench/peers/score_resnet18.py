"""Scores images with resnet18 at 128 px, and writes the class of each where a file is named; seconds without the import of torch.

python bench/peers/score_resnet18.py FOLDER [--csv FILE] [--batch 64] [--workers 2] [--threads 2]
FOLDER has a folder for each class. resize 152, center crop 128, normalize; channels_last, inference_mode, decode_jpeg.
"""
import argparse
import csv
import time

import torch
import torchvision
from measure import decode, one_thread, report, tuned_collate, with_allocator
from torchvision.transforms import v2

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--csv")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--threads", type=int, default=2)
args = parser.parse_args()
with_allocator(True)
start = time.perf_counter()
torch.set_num_threads(args.threads)
torch.manual_seed(0)
images = torchvision.datasets.ImageFolder(
    args.folder, v2.Compose([v2.Resize(152, antialias=True), v2.CenterCrop(128)]), loader=decode)
batches = torch.utils.data.DataLoader(images, args.batch, num_workers=args.workers, collate_fn=tuned_collate,
                                      worker_init_fn=one_thread if args.workers else None)
model = torchvision.models.resnet18(num_classes=10).to(memory_format=torch.channels_last).eval()
loss, correct, probabilities = 0.0, 0, []
with torch.inference_mode():
    for pixels, labels in batches:
        scores = model(pixels.contiguous(memory_format=torch.channels_last))
        loss += torch.nn.functional.cross_entropy(scores, labels, reduction="sum").item()
        correct += (scores.argmax(1) == labels).sum().item()
        if args.csv:
            probabilities += scores.softmax(1).tolist()
if args.csv:
    with open(args.csv, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", *images.classes])
        for (path, _), row in zip(images.samples, probabilities):
            writer.writerow([path, images.classes[row.index(max(row))], *row])
report(seconds=time.perf_counter() - start, accuracy=correct / len(images), loss=loss / len(images))
