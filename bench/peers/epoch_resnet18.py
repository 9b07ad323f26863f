"""Trains resnet18 on Imagenette at 128 px, loading included, for some steps of batch 64; images per second over the run.

python bench/peers/epoch_resnet18.py FOLDER --peer plain|tuned|fastai|accelerate [--steps 60] [--workers 2] [--threads 2]
The first step is left out of the figures.
"""
import argparse
import time

import torch
import torchvision
from measure import loader, report, with_allocator

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--peer", choices=["plain", "tuned", "fastai", "accelerate"], default="plain")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--threads", type=int, default=2)
args = parser.parse_args()
with_allocator(args.peer == "tuned")
torch.set_num_threads(args.threads)
torch.manual_seed(0)
times = []  # when each step ended


def model_and_optimizer(layout=torch.contiguous_format):
    model = torchvision.models.resnet18(num_classes=10).to(memory_format=layout)
    return model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)


def batches(pipeline):
    while True:
        yield from loader(args.folder, pipeline, args.batch, args.workers)


def plain(pipeline="pil", layout=torch.contiguous_format):
    model, optimizer = model_and_optimizer(layout)
    for images, labels in batches(pipeline):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images.contiguous(memory_format=layout)), labels).backward()
        optimizer.step()
        times.append(time.perf_counter())
        if len(times) > args.steps:
            return


def accelerate():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model, optimizer, data = accelerator.prepare(*model_and_optimizer(),
                                                 loader(args.folder, "pil", args.batch, args.workers))
    while True:
        for images, labels in data:
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.cross_entropy(model(images), labels))
            optimizer.step()
            times.append(time.perf_counter())
            if len(times) > args.steps:
                return


def fastai():
    import fastai.vision.all as f

    class Stop(f.Callback):
        def after_batch(self):
            times.append(time.perf_counter())
            if len(times) > args.steps:
                raise f.CancelFitException

    data = f.ImageDataLoaders.from_folder(
        args.folder, train=".", valid_pct=0.02, seed=0, bs=args.batch, num_workers=args.workers, device="cpu",
        item_tfms=f.RandomResizedCrop(128, min_scale=0.35),
        batch_tfms=[f.Flip(), f.Normalize.from_stats(*f.imagenet_stats)])
    learner = f.Learner(data, torchvision.models.resnet18(num_classes=10), loss_func=f.CrossEntropyLossFlat(),
                        opt_func=f.partial(f.SGD, mom=0.9), lr=0.05, wd=1e-4, cbs=[Stop()])
    with learner.no_bar(), learner.no_logging():
        learner.fit(1000)


if args.peer == "tuned":
    plain("tuned", torch.channels_last)
else:
    {"plain": plain, "accelerate": accelerate, "fastai": fastai}[args.peer]()
steps = sorted(b - a for a, b in zip(times, times[1:]))
report(images_per_second=args.batch * len(steps) / (times[-1] - times[0]),
       median_step=args.batch / steps[len(steps) // 2], worst_step_seconds=steps[-1])
