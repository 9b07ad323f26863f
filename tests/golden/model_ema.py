"""Golden values of timm.utils.ModelEmaV3: python tests/golden/model_ema.py (torch 2.11, timm 1.0.31).

Writes tests/golden/model_ema.json: averages of the weights with other warm-ups than the default,
after each step of SGD on the three parameters that optimizers.json describes.
"""
import json
import math
import os

import torch
from timm.utils import ModelEmaV3

ABOUT = ("timm 1.0.31's ModelEmaV3.update(model, step=t) after each SGD step, lr 0.1, on the parameters and "
         "gradients of optimizers.json, in double. averages[t-1]: all parameters after step t; decay: the share "
         "of the average that was kept.")
SHAPES = [(3, 4), (5,), (2, 3)]
STEPS = 8
CASES = {
    "power_0.75": {"decay": 0.9999, "use_warmup": True, "warmup_power": 0.75, "warmup_gamma": 1.0},
    "power_0.8_gamma_3": {"decay": 0.99, "use_warmup": True, "warmup_power": 0.8, "warmup_gamma": 3.0},
    "gamma_0.5": {"decay": 0.7, "use_warmup": True, "warmup_gamma": 0.5},
    "late": {"decay": 0.95, "use_warmup": True, "warmup_power": 1.0, "warmup_gamma": 2.0, "min_decay": 0.4,
             "update_after_step": 2},
}


def start():
    return torch.nn.ParameterList([
        torch.tensor([0.5 * math.cos(0.3 * i + k) for i in range(math.prod(shape))], dtype=torch.float64).view(shape)
        for k, shape in enumerate(SHAPES)])


def run(options):
    model = start()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    average = ModelEmaV3(model, **options)
    averages, kept = [], []
    for t in range(1, STEPS + 1):
        for k, parameter in enumerate(model):
            values = [math.sin(0.7 * i + 0.9 * k + 0.5 * t) * (0.2 + 0.1 * t) for i in range(parameter.numel())]
            parameter.grad = torch.tensor(values, dtype=torch.float64).view_as(parameter)
        optimizer.step()
        average.update(model, step=t)
        averages.append(torch.cat([p.detach().flatten() for p in average.module]).tolist())
        kept.append(average.get_decay(t))
    return {"averages": averages, "decay": kept}


if __name__ == "__main__":
    common = {"kind": "weight_average", "type": "timm_ema", "optimizer": "sgd", "options": {"lr": 0.1}, "steps": STEPS}
    cases = [{"name": f"weight_average/{name}", "input": {**common, **options}, "expect": run(options)}
             for name, options in CASES.items()]
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model_ema.json")
    with open(here, "w") as file:
        json.dump({"about": ABOUT, "cases": cases}, file)
        file.write("\n")
