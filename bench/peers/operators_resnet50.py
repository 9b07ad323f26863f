"""Operators of one eager training pass of resnet50 in fp32, forward and backward, as the simulated device of our tests
counts them: about one kernel each; views and allocations are free.

python bench/peers/operators_resnet50.py [--model resnet50]
"""
import argparse
import collections

import torch
import torchvision
from torch.utils._python_dispatch import TorchDispatchMode

FREE = {"empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "detach", "_reshape_alias",
        "_unsafe_view", "set_", "resize_", "lift_fresh"}


class Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = collections.Counter()

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        name = function._schema.name.split("::")[1]
        if not function.is_view and name not in FREE:
            self.names[name] += 1
        return function(*arguments, **(keywords or {}))


parser = argparse.ArgumentParser()
parser.add_argument("--model", default="resnet50")
args = parser.parse_args()
model = getattr(torchvision.models, args.model)(num_classes=3)
images = torch.randn(2, 3, 64, 64)
for _ in range(2):
    model.zero_grad(set_to_none=True)
    with Counting() as counting:
        model(images).sum().backward()
for name, count in counting.names.most_common():
    print(f"{count:5d}  {name}")
print(f"{sum(counting.names.values()):5d}  operators")
