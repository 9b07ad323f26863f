"""Bytes that a training step of torchvision's resnet50 reads and writes, by its operators, as `ddptrain bench` counts them:
channels_last, bf16 autocast, cross entropy, SGD with momentum. Eager, or as torch.compile fuses it (no GPU is needed). Or
six eager steps on CUDA, whose launches bench/on_stand_in counts.

python bench/peers/traffic_resnet50.py --setting eager|compile|cuda [--size 128]

Bytes of an image are the difference between steps of 16 and 8 images, so that weights count nothing. A norm's statistics are
read before it is computed: eager operators that do both count their inputs twice.
"""
import argparse

import torch
import torchvision
from measure import report
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

TWICE = {"native_batch_norm", "_native_batch_norm_legit", "native_batch_norm_backward", "cudnn_batch_norm", "cudnn_batch_norm_backward"}
FREE = {"empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "detach", "_reshape_alias", "_unsafe_view",
        "set_", "resize_", "lift_fresh"}


def size_of(values):
    return sum(value.numel() * value.element_size() for value in tree_leaves(values) if isinstance(value, torch.Tensor))


class Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.bytes = self.operators = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        result = function(*arguments, **(keywords or {}))
        name = function._schema.name.split("::")[1]
        if not function.is_view and name not in FREE:
            self.operators += 1
            self.bytes += size_of((arguments, keywords)) * (2 if name in TWICE else 1) + size_of(result)
        return result


def step(model, optimizer, images, labels):
    optimizer.zero_grad()
    with torch.autocast(images.device.type, torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()


def eager(*given):
    with Counting() as counting:
        step(*given)
    return counting.bytes, counting.operators


def compiled(model, *others):
    import torch._inductor.config
    from torch._inductor import metrics

    torch._logging.set_logs(inductor_metrics=True)  # then it counts
    torch._inductor.config.force_disable_caches = True
    torch._dynamo.reset()
    metrics.reset()
    step(torch.compile(model, dynamic=False), *others)
    return metrics.num_bytes_accessed, len(metrics.nodes_num_elem)


def on_cuda(*given):
    """Six steps; after each a copy of nine doubles, as ddptrain's of a step's numbers, by which the stand-in knows steps."""
    there = torch.zeros(9, dtype=torch.double, device="cuda")
    here = torch.zeros(9, dtype=torch.double).pin_memory()
    for _ in range(6):
        step(*given)
        here.copy_(there, non_blocking=True)
        torch.cuda.synchronize()


def given_of(batch, device="cpu"):
    model = torchvision.models.resnet50(num_classes=10).train().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, fused=True)
    images = torch.zeros(batch, 3, args.size, args.size, device=device).contiguous(memory_format=torch.channels_last)
    return model, optimizer, images, torch.zeros(batch, dtype=torch.long, device=device)


parser = argparse.ArgumentParser()
parser.add_argument("--setting", choices=["eager", "compile", "cuda"], default="eager")
parser.add_argument("--size", type=int, default=128)
args = parser.parse_args()
if args.setting == "cuda":
    on_cuda(*given_of(8, "cuda"))
else:
    found = [(eager if args.setting == "eager" else compiled)(*given_of(batch)) for batch in (8, 16)]
    report(bytes_of_an_image=(found[1][0] - found[0][0]) / 8, operators=found[1][1])
