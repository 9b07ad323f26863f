"""Made the .pth files of this folder with torch 2.11: python make.py"""
import collections
import os
import sys

import torch

os.chdir(os.path.dirname(os.path.abspath(__file__)))
weight = torch.arange(6, dtype=torch.float32).reshape(2, 3) / 4
state = collections.OrderedDict(
    [("a.weight", weight), ("a.bias", torch.tensor([1.5, -2.0], dtype=torch.float64)),
     ("tied", weight), ("turned", weight.t()), ("part", weight[1, 1:]), ("half", weight.half()),
     ("brain", weight.bfloat16()), ("flags", torch.tensor([True, False])), ("bn.num_batches_tracked", torch.tensor(7)),
     ("empty", torch.zeros(0, 3))])
old = dict(_use_new_zipfile_serialization=False)
torch.save(state, "zip.pth")
torch.save(state, "old.pth", **old)
parameters = {name: torch.nn.Parameter(tensor) for name, tensor in state.items() if tensor.is_floating_point()}
training = {"epoch": 3, "lr": 0.1, "args": {"names": ["x", None, True], "big": 1 << 70},
            "opt": [{"state": torch.ones(4)}], "model": {"module." + name: p for name, p in parameters.items()}}
torch.save(training, "training.pth")
torch.save(training, "old_training.pth", **old)
torch.save([1, 2, 3], "no_tensors.pth")


class Danger:
    def __reduce__(self):
        return os.system, ("touch /tmp/ddptrain-danger",)


torch.save({"a.weight": weight, "z": Danger()}, "danger.pth")
sys.stdout.write("".join(f"{name} {os.path.getsize(name)}\n" for name in sorted(os.listdir("."))))
