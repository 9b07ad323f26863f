"""What DistributedDataParallel adds to a step of resnet18 on two ranks of one thread each; bare and ddp blocks interleaved.

python bench/peers/ddp_step.py [--batch 32] [--size 128] [--rounds 5] [--block 3] [--no-bucket-view]
"""
import argparse
import os
import statistics
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--size", type=int, default=128)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--block", type=int, default=3)
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--no-bucket-view", action="store_true")
args = parser.parse_args()
if "RANK" not in os.environ:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(args.ranks),
                __file__, *sys.argv[1:]]
    os.execve(sys.executable, torchrun, {**os.environ, "OMP_NUM_THREADS": "1"})

import torch
import torch.distributed as dist
import torchvision
from measure import report

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
images = torch.randn(args.batch, 3, args.size, args.size).contiguous(memory_format=torch.channels_last)
labels = torch.randint(10, (args.batch,))


def trainer(wrap):
    module = torchvision.models.resnet18(num_classes=10).to(memory_format=torch.channels_last)
    model = wrap(module)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


bare = trainer(lambda module: module)
ddp = trainer(lambda module: torch.nn.parallel.DistributedDataParallel(
    module, gradient_as_bucket_view=not args.no_bucket_view))
seconds = {bare: [], ddp: []}
for round_ in range(args.rounds + 1):
    for step in (bare, ddp):
        dist.barrier()
        for _ in range(args.block):
            start = time.perf_counter()
            step()
            if round_ > 0:  # the first round warms up
                seconds[step].append(time.perf_counter() - start)
if dist.get_rank() == 0:
    b, d = statistics.median(seconds[bare]), statistics.median(seconds[ddp])
    report(bare_seconds=b, ddp_seconds=d, ddp_over_bare=d / b)
dist.destroy_process_group()
