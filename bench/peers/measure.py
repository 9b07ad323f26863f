"""What the peers' scripts share: the pipelines, the clocks, one line of JSON as the result."""
import json
import os
import resource
import time

import torch
import torchvision
from torchvision import transforms as v1
from torchvision.transforms import v2

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
# glibc keeps freed activations instead of handing them back to the kernel: the best setting that a user of Python has.
ALLOCATOR = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "1000000000000", "MALLOC_TOP_PAD_": "16777216"}


def cpu_seconds():
    """Of this process and the children that it has waited for."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def report(**figures):
    print(json.dumps(figures), flush=True)


def with_allocator(wanted):
    """Restarts this script with glibc's allocator configured, if requested and not yet done."""
    if wanted and any(os.environ.get(k) != v for k, v in ALLOCATOR.items()):
        import sys

        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ALLOCATOR})


def pil_dataset(folder, size=128):
    """The usual script: ImageFolder, PIL, torchvision's first transforms."""
    return torchvision.datasets.ImageFolder(
        folder,
        v1.Compose([v1.RandomResizedCrop(size, scale=(0.35, 1.0)), v1.RandomHorizontalFlip(), v1.ToTensor(),
                    v1.Normalize(MEAN, STD)]))


def decode(path):
    return torchvision.io.decode_jpeg(torchvision.io.read_file(path), mode=torchvision.io.ImageReadMode.RGB)


def tuned_dataset(folder, size=128):
    """The best torchvision pipeline found: decode_jpeg, v2 on bytes; batches are normalized at once (tuned_collate)."""
    return torchvision.datasets.ImageFolder(
        folder,
        v2.Compose([v2.RandomResizedCrop(size, scale=(0.35, 1.0), antialias=True), v2.RandomHorizontalFlip()]),
        loader=decode)


_finish = v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])


def tuned_collate(samples):
    return _finish(torch.stack([image for image, _ in samples])), torch.tensor([label for _, label in samples])


def one_thread(_):
    torch.set_num_threads(1)


def loader(folder, pipeline, batch, workers, shuffle=True):
    options = dict(batch_size=batch, shuffle=shuffle, num_workers=workers, drop_last=True)
    if workers:
        options["worker_init_fn"] = one_thread
    if pipeline == "tuned":
        return torch.utils.data.DataLoader(tuned_dataset(folder), collate_fn=tuned_collate, **options)
    return torch.utils.data.DataLoader(pil_dataset(folder), **options)


def training_speed(model, inputs, targets, steps, fused):
    """Reports items per second of steps of SGD with cross entropy: the median, and the best. The first two warm up."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True if fused else None)
    seconds = []
    for step in range(steps + 2):
        start = time.perf_counter()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
        if step >= 2:
            seconds.append(time.perf_counter() - start)
    seconds.sort()
    report(images_per_second=len(inputs) / seconds[len(seconds) // 2], best=len(inputs) / seconds[0])


class Clock:
    """Wall and CPU seconds since it was made."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), cpu_seconds()

    def read(self):
        return time.perf_counter() - self.wall, cpu_seconds() - self.cpu
