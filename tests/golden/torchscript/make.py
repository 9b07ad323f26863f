"""Makes the files of this folder: modules that torch scripted, what torch computes with them, and files that are no
modules which can be trained.

python make.py, with torch 2.11. expected.json has steps of gradient descent in double on batches made by formula.
Tolerance: 1e-12.
"""
import json
import math
import zipfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).parent


def formula(shape, k):
    count = math.prod(shape)
    return torch.tensor([math.sin(12.9898 * i + 78.233 * k) for i in range(count)], dtype=torch.float64).view(shape)


def fill(module):
    """Weights by formula, so that no generator has a part in them."""
    with torch.no_grad():
        for k, parameter in enumerate(module.parameters()):
            parameter.copy_(formula(parameter.shape, k) * 0.5 + (1 if parameter.dim() == 1 and k == 1 else 0))
    return module


class Images(nn.Module):
    """Convolution, batch norm and a linear layer; dropout where it is asked for."""

    def __init__(self, classes: int, p: float):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(p)
        self.head = nn.Linear(4, classes)

    def forward(self, images):
        hidden = F.relu(self.norm(self.conv(images)))
        return self.head(self.drop(hidden.mean([2, 3])))


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 10)
        self.drop = nn.Dropout(0.5)

    def forward(self, images):
        return self.head(self.drop(images.mean([2, 3])))


class Smooth(nn.Module):
    """Neither batch norm nor dropout: the same on any number of devices."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.head = nn.Linear(4, 10)

    def forward(self, images):
        return self.head(torch.tanh(self.conv(images)).mean([2, 3]))


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.second = nn.Linear(8, 3)

    def forward(self, numbers):
        return self.second(torch.tanh(self.first(numbers)))


class Table(nn.Module):
    """Two inputs, as tables have them: whole numbers of names, and numbers."""

    def __init__(self):
        super().__init__()
        self.names = nn.Embedding(5, 2)
        self.head = nn.Linear(5, 1)

    def forward(self, names, numbers):
        return self.head(torch.cat([self.names(names[:, 0]), numbers], 1))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6, bias=False)
        self.second = nn.Linear(6, 6, bias=False)
        self.second.weight = self.first.weight

    def forward(self, numbers):
        return self.second(self.first(numbers))


class Tuple(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)

    def forward(self, numbers):
        return self.head(numbers), numbers


class ReadsFile(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)

    def forward(self, numbers):
        return self.head(numbers) + torch.from_file("/etc/hostname", False, 1)


class WritesFile(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)

    def forward(self, numbers):
        torch.save(numbers, "numbers.pt")
        return self.head(numbers)


class RunsWhenRead(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)

    def forward(self, numbers):
        return self.head(numbers)

    @torch.jit.export
    def __getstate__(self):
        return self.head.weight, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[torch.Tensor, bool]):
        self.training = state[1]


def steps(module, shape, classes):
    """Five steps of gradient descent, and an evaluation."""
    module = module.double().train()
    losses = []
    for k in range(5):
        images = formula([4, *shape], 10 + k)
        loss = F.cross_entropy(module(images), torch.arange(4) % classes)
        module.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter -= 0.1 * parameter.grad
        losses.append(loss.item())
    module.eval()
    with torch.no_grad():
        output = module(formula([4, *shape], 20))
    return {
        "losses": losses,
        "state": {name: tensor.double().flatten().tolist() for name, tensor in module.state_dict().items()},
        "output": output.flatten().tolist(),
    }


def without_places(path):
    """The file without the places of its sources, which name folders of the machine."""
    empty = "exported/models/model.json"  # has them throughout
    with zipfile.ZipFile(path) as archive:
        records = [(name, archive.read(name)) for name in archive.namelist() if not name.endswith(".debug_pkl")]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in records:
            archive.writestr(zipfile.ZipInfo(name), b"{}" if name == empty else data)


def main():
    torch.manual_seed(0)
    expected = {"images": steps(fill(Images(3, 0.0)), [3, 4, 4], 3), "plain": steps(fill(Plain()), [6], 3)}
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    modules = [("images", Images(3, 0.0)), ("shapes", Images(10, 0.0)), ("dropping", Dropping()), ("smooth", Smooth()),
               ("plain", Plain()), ("table", Table()), ("tied", Tied()), ("tuple", Tuple()),
               ("reads_file", ReadsFile()), ("writes_file", WritesFile()), ("runs_when_read", RunsWhenRead())]
    for name, module in modules:
        torch.jit.script(fill(module)).save(HERE / f"{name}.pt")
        without_places(HERE / f"{name}.pt")
    frozen = torch.jit.freeze(torch.jit.script(fill(Plain()).eval()))
    torch.jit.save(frozen, HERE / "frozen.pt")
    without_places(HERE / "frozen.pt")
    torch.save(fill(Plain()).state_dict(), HERE / "weights.pth")
    torch.save(fill(Plain()).state_dict(), HERE / "old_weights.pth", _use_new_zipfile_serialization=False)
    torch.export.save(torch.export.export(fill(Plain()), (formula([4, 6], 1).float(),)), HERE / "exported.pt2")
    without_places(HERE / "exported.pt2")


main()
