"""The same training in plain PyTorch: first weights, batches and order from bench_parity; compares the losses.

python bench/peers/parity.py OUT_FOLDER   (needs torch, torchvision, safetensors)
"""
import sys

import torch
import torchvision
from safetensors.torch import load_file

folder = sys.argv[1]
ours = [float(line) for line in open(f"{folder}/losses.txt")]
batches = load_file(f"{folder}/batches.safetensors")
torch.set_default_dtype(torch.float64)
first = load_file(f"{folder}/first.safetensors")
model = torchvision.models.resnet18(num_classes=first["fc.bias"].shape[0])
model.load_state_dict(first)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
worst = 0.0
for i, own in enumerate(ours):
    optimizer.zero_grad()
    output = model(batches[f"input.{i}"].double())
    loss = torch.nn.functional.cross_entropy(output, batches[f"target.{i}"])
    loss.backward()
    optimizer.step()
    worst = max(worst, abs(own - loss.item()) / abs(loss.item()))
print(f"{len(ours)} steps, largest relative difference of the loss: {worst:.3g}")
sys.exit(0 if worst < 1e-8 else 1)
