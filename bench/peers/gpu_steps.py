"""Training steps in tuned PyTorch, samples per second in steady state: the peer of bench/gpu.py.

python bench/peers/gpu_steps.py --model resnet50 --size 224 --batch 256 --steps 60 [--input random|tokens|memory|FOLDER]
    [--precision bf16|fp32] [--layers 12] [--compile] [--device cuda|cpu]

Tuned: channels_last, autocast, the fused optimizer, cudnn.benchmark, pinned memory. --model: one of torchvision's, xresnet50
(timm's resnet50d, the same network), gpt2 (transformers', scaled dot product attention), mnist, adult. --input random,
tokens: one batch, copied to the device in every step; memory: whole data sets in host memory, cut by index; FOLDER: JPEGs of
FOLDER/train through torchvision's v2 transforms, with a loader per core. The first quarter of the steps is left out.
"""
import argparse
import contextlib
import json
import os
import time

import torch
from torch import nn

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class Digits(nn.Sequential):
    """PyTorch's basic MNIST example."""

    def __init__(self):
        super().__init__(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
                         nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))


class People(nn.Module):
    """fastai's tabular model of Adult: embeddings of six columns, three numbers, two hidden layers."""

    def __init__(self, widths=((10, 6), (17, 8), (8, 5), (16, 8), (7, 5), (6, 4))):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(count, width) for count, width in widths)
        self.norm = nn.BatchNorm1d(3)
        total = sum(width for _, width in widths) + 3
        self.layers = nn.Sequential(nn.Linear(total, 200, bias=False), nn.ReLU(), nn.BatchNorm1d(200),
                                    nn.Linear(200, 100, bias=False), nn.ReLU(), nn.BatchNorm1d(100), nn.Linear(100, 2))

    def forward(self, codes, numbers):
        columns = [embedding(codes[:, i]) for i, embedding in enumerate(self.embeddings)]
        return self.layers(torch.cat([*columns, self.norm(numbers)], 1))


def network(args):
    if args.model == "mnist":
        return Digits()
    if args.model == "adult":
        return People()
    if args.model == "gpt2":
        from transformers import GPT2Config, GPT2LMHeadModel

        return GPT2LMHeadModel(GPT2Config(n_layer=args.layers, n_positions=args.size, embd_pdrop=0, attn_pdrop=0,
                                          resid_pdrop=0, attn_implementation="sdpa", use_cache=False))
    if args.model == "xresnet50":
        import timm

        return timm.create_model("resnet50d", num_classes=10)
    import torchvision

    return getattr(torchvision.models, args.model)(num_classes=10)


def token_batches(args):
    text = torch.randint(50257, (args.batch, args.size))
    if args.device == "cuda":
        text = text.pin_memory()
    while True:
        ids = text.to(args.device, non_blocking=True)
        yield (ids,), ids


def random_batches(args):
    shape = (args.batch, 3, args.size, args.size)
    images = torch.randn(shape).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(10, (args.batch,))
    if args.device == "cuda":
        images, labels = images.pin_memory(), labels.pin_memory()
    while True:
        yield (images.to(args.device, non_blocking=True),), labels.to(args.device, non_blocking=True)


def memory_batches(args):
    rows = 40 * args.batch
    if args.model == "mnist":
        columns, classes = [torch.randn(rows, 1, 28, 28)], 10
    else:
        columns, classes = [torch.randint(6, (rows, 6)), torch.randn(rows, 3)], 2
    columns.append(torch.randint(classes, (rows,)))
    while True:
        order = torch.randperm(rows)
        for first in range(0, rows - args.batch + 1, args.batch):
            chosen = [column[order[first:first + args.batch]] for column in columns]
            if args.device == "cuda":
                chosen = [tensor.pin_memory().cuda(non_blocking=True) for tensor in chosen]
            yield tuple(chosen[:-1]), chosen[-1]


def decode(path):
    import torchvision

    return torchvision.io.decode_jpeg(torchvision.io.read_file(path), mode=torchvision.io.ImageReadMode.RGB)


def folder_batches(args):
    import torchvision
    from torchvision.transforms import v2

    crop = v2.Compose([v2.RandomResizedCrop(args.size, antialias=True), v2.RandomHorizontalFlip()])
    finish = v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])
    data = torchvision.datasets.ImageFolder(os.path.join(args.input, "train"), crop, loader=decode)
    workers = os.cpu_count() or 1
    loader = torch.utils.data.DataLoader(data, args.batch, shuffle=True, num_workers=workers, drop_last=True,
                                         pin_memory=args.device == "cuda", persistent_workers=True, prefetch_factor=4,
                                         worker_init_fn=lambda _: torch.set_num_threads(1))
    while True:
        for images, labels in loader:
            images = finish(images.to(args.device, non_blocking=True)).contiguous(memory_format=torch.channels_last)
            yield (images,), labels.to(args.device, non_blocking=True)


def batches(args):
    return {"random": random_batches, "tokens": token_batches, "memory": memory_batches}.get(args.input, folder_batches)(args)


def synchronize(args):
    if args.device == "cuda":
        torch.cuda.synchronize()


def train(args):
    model = network(args).to(args.device, memory_format=torch.channels_last)
    optimizer = (torch.optim.AdamW(model.parameters(), 1e-3, fused=True) if args.input in ("memory", "tokens") else
                 torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-4, fused=True))
    forward = torch.compile(model) if args.compile else model
    half = args.precision == "bf16"
    skip, begun = max(1, args.steps // 4), 0.0
    for step, (inputs, labels) in enumerate(batches(args)):
        if step == skip:
            synchronize(args)
            begun = time.perf_counter()
        if step == args.steps:
            break
        optimizer.zero_grad()
        with torch.autocast(args.device, torch.bfloat16) if half else contextlib.nullcontext():
            loss = (forward(input_ids=labels, labels=labels).loss if args.model == "gpt2" else
                    nn.functional.cross_entropy(forward(*inputs), labels))
        loss.backward()
        optimizer.step()
    synchronize(args)
    return (args.steps - skip) * args.batch / (time.perf_counter() - begun)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--input", default="random")
    parser.add_argument("--precision", choices=["bf16", "fp32"], default="fp32")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    print(json.dumps({"samples_per_second": train(args)}), flush=True)


if __name__ == "__main__":
    main()
