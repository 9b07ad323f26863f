"""recipes/cifar10.yaml in plain PyTorch: torchvision's resnet18 on CIFAR-10 as class folders, one CPU process.

python bench/peers/train_cifar10.py FOLDER [--seed 1] [--epochs 5] [--steps 0]
Prints the accuracy on all test files after the last step, as one line of JSON. --steps cuts the run short, schedule included.
"""
import argparse
import math
import os

parser = argparse.ArgumentParser()
parser.add_argument("folder", help="train/ and test/ below it, a folder for each class")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--steps", type=int, default=0)
parser.add_argument("--threads", type=int, default=2)
args = parser.parse_args()

from measure import decode, one_thread, report, with_allocator

with_allocator(True)
import torch
import torchvision
from torchvision.transforms import v2

BATCH, LR = 128, 0.1
torch.set_num_threads(args.threads)
torch.manual_seed(args.seed)
normal = v2.Compose([v2.ToDtype(torch.float32, scale=True),
                     v2.Normalize((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616))])
crop = v2.Compose([v2.RandomCrop(32, padding=4), v2.RandomHorizontalFlip(), normal])
train = torchvision.datasets.ImageFolder(os.path.join(args.folder, "train"), crop, loader=decode)
test = torchvision.datasets.ImageFolder(os.path.join(args.folder, "test"), normal, loader=decode)
batches = torch.utils.data.DataLoader(train, BATCH, shuffle=True, drop_last=True, num_workers=1, worker_init_fn=one_thread)
model = torchvision.models.resnet18(num_classes=len(train.classes)).to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9, weight_decay=5e-4, nesterov=True)
total = args.steps or args.epochs * len(batches)


def cosine(start, end, share):
    return end + (start - end) / 2 * (1 + math.cos(math.pi * share))


def one_cycle(start, peak, end, share, rise=0.25):
    """fastai.callback.schedule.combined_cos, as Learner.fit_one_cycle uses it."""
    return cosine(start, peak, share / rise) if share < rise else cosine(peak, end, (share - rise) / (1 - rise))


step = 0
while step < total:
    model.train()
    for images, labels in batches:
        for group in optimizer.param_groups:
            group["lr"] = one_cycle(LR / 25, LR, LR / 1e5, step / total)
            group["momentum"] = one_cycle(0.95, 0.85, 0.95, step / total)
        optimizer.zero_grad()
        images = images.contiguous(memory_format=torch.channels_last)
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        step += 1
        if step == total:
            break
model.eval()
right = 0
with torch.no_grad():
    for images, labels in torch.utils.data.DataLoader(test, 256, num_workers=1):
        right += (model(images.contiguous(memory_format=torch.channels_last)).argmax(1) == labels).sum().item()
report(seed=args.seed, steps=total, accuracy=right / len(test), files=len(test))
