"""configs/imagenette.yaml in plain PyTorch: resnet18 on Imagenette at 128 px, two CPU ranks under DistributedDataParallel.

python bench/peers/train_imagenette.py FOLDER [--seed 1] [--epochs 2] [--ranks 2]
Prints the validation accuracy after the last epoch, as one line of JSON. Scores every file once, on rank 0.
"""
import argparse
import math
import os
import sys

parser = argparse.ArgumentParser()
parser.add_argument("folder", help="imagenette2-*: train/ and val/ below it")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--ranks", type=int, default=2)
args = parser.parse_args()
if "RANK" not in os.environ:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(args.ranks),
                __file__, *sys.argv[1:]]
    os.execve(sys.executable, torchrun, {**os.environ, "OMP_NUM_THREADS": "1"})

from measure import decode, one_thread, report, tuned_collate, tuned_dataset, with_allocator

with_allocator(True)
import torch
import torch.distributed as dist
import torchvision
from torchvision.transforms import v2

GLOBAL, LR = 64, 0.05
torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(args.seed)
train = tuned_dataset(os.path.join(args.folder, "train"))
valid = torchvision.datasets.ImageFolder(
    os.path.join(args.folder, "val"), v2.Compose([v2.Resize(152, antialias=True), v2.CenterCrop(128)]), loader=decode)
sampler = torch.utils.data.DistributedSampler(train, seed=args.seed, drop_last=True)
batches = torch.utils.data.DataLoader(train, GLOBAL // args.ranks, sampler=sampler, num_workers=1, drop_last=True,
                                      collate_fn=tuned_collate, worker_init_fn=one_thread)
module = torchvision.models.resnet18(num_classes=10).to(memory_format=torch.channels_last)
model = torch.nn.parallel.DistributedDataParallel(module, gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9, weight_decay=1e-4)
total = args.epochs * len(batches)


def cosine(start, end, share):
    return end + (start - end) / 2 * (1 + math.cos(math.pi * share))


def one_cycle(start, peak, end, share, rise=0.25):
    """fastai.callback.schedule.combined_cos, as Learner.fit_one_cycle uses it."""
    return cosine(start, peak, share / rise) if share < rise else cosine(peak, end, (share - rise) / (1 - rise))


step = 0
for epoch in range(args.epochs):
    model.train()
    sampler.set_epoch(epoch)
    torch.manual_seed(1000 * args.seed + 10 * epoch + dist.get_rank())  # augmentation
    for images, labels in batches:
        for group in optimizer.param_groups:
            group["lr"] = one_cycle(LR / 25, LR, LR / 1e5, step / total)
            group["momentum"] = one_cycle(0.95, 0.85, 0.95, step / total)
        optimizer.zero_grad()
        images = images.contiguous(memory_format=torch.channels_last)
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        step += 1
if dist.get_rank() == 0:
    module.eval()
    right = 0
    with torch.no_grad():
        for images, labels in torch.utils.data.DataLoader(valid, 64, num_workers=1, collate_fn=tuned_collate):
            right += (module(images.contiguous(memory_format=torch.channels_last)).argmax(1) == labels).sum().item()
    report(seed=args.seed, accuracy=right / len(valid), files=len(valid))
dist.barrier()
dist.destroy_process_group()
