"""From nothing to the first optimizer step of an MLP; the caller measures the time.

python bench/peers/startup.py
"""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
nn.functional.cross_entropy(model(torch.randn(64, 1, 28, 28)), torch.randint(10, (64,))).backward()
optimizer.step()
print('{"steps": 1}')
