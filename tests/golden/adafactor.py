"""Golden values of both libraries' Adafactor: python tests/golden/adafactor.py (torch 2.12, transformers 5.23).

Writes tests/golden/adafactor.json: the parameters after each step of transformers', on the three
parameters and the gradients that optimizers.json describes; and language_models.json's
training_run/adafactor_torch with another eps, where rounding has no part.
"""
import json
import math
import os

import torch
from transformers.optimization import Adafactor

from gpt2_formula import filled, loss_of, norm_of, summary, token_batch

HERE = os.path.dirname(os.path.abspath(__file__))

ABOUT = ("transformers 5.23.0's Adafactor on the parameters and gradients of optimizers.json, in double. params[t-1]: all "
         "parameters after step t. options are Adafactor's own arguments; those that are not given have its defaults. "
         "training_run: as in language_models.json, by torch's Adafactor with eps = (eps1, 1e-3).")
SHAPES = [(3, 4), (5,), (2, 3)]
STEPS = 12
FIXED = {"scale_parameter": False, "relative_step": False}
CASES = {
    "defaults": {},
    "fixed": {"lr": 0.01, **FIXED},
    "scaled": {"lr": 0.05, "relative_step": False, "beta1": 0.9, "clip_threshold": 0.5, "weight_decay": 0.01},
    "warmup": {"warmup_init": True},
    "decay_rate": {"lr": 0.02, **FIXED, "decay_rate": -0.5, "weight_decay": 0.1},
    "eps": {"lr": 0.1, "relative_step": False, "eps": [1e-2, 0.6]},
    "relative_unscaled": {"scale_parameter": False, "beta1": 0.5, "clip_threshold": 2.0},
}


def start():
    return [torch.tensor([0.5 * math.cos(0.3 * i + k) for i in range(math.prod(shape))],
                         dtype=torch.float64).view(shape).requires_grad_() for k, shape in enumerate(SHAPES)]


def run(options):
    parameters = start()
    optimizer = Adafactor(parameters, **options)
    after = []
    for t in range(1, STEPS + 1):
        for k, parameter in enumerate(parameters):
            values = [math.sin(0.7 * i + 0.9 * k + 0.5 * t) * (0.2 + 0.1 * t) for i in range(parameter.numel())]
            parameter.grad = torch.tensor(values, dtype=torch.float64).view_as(parameter)
        optimizer.step()
        after.append(torch.cat([p.detach().flatten() for p in parameters]).tolist())
    return {"params": after}


def train(case, old):
    """By torch's Adafactor. GPT-2's key biases have gradients that are zero but for rounding, of 1e-17: steps of the default
    eps, 2e-16, are made of them."""
    model = filled(case, torch.float64).train()
    named = dict(model.named_parameters())
    groups = [{"params": [named[name] for name in named if (name in case["no_decay"]) == free],
               "weight_decay": 0 if free else case["options"]["weight_decay"]} for free in (False, True)]
    optimizer = torch.optim.Adafactor(groups, lr=case["options"]["lr"], eps=(case["options"]["eps1"], 1e-3))
    losses, norms = [], []
    for step in range(case["steps"]):
        tokens = token_batch(case, step)
        loss = loss_of(model(tokens).logits, tokens)
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        norms.append(norm_of(parameter.grad for parameter in named.values()))
        optimizer.step()
    places = {name: place["at"] for name, place in old["parameters"].items()}
    return {"losses": losses, "rates": old["rates"], "gradient_norms": norms,
            "parameters": {name: summary(named[name], at) for name, at in places.items()}}


def training_case():
    with open(os.path.join(HERE, "language_models.json")) as file:
        old = next(case for case in json.load(file)["cases"] if case["name"] == "training_run/adafactor_torch")
    case = old["input"] | {"options": old["input"]["options"] | {"eps1": 1e-8}}
    return {"name": "training_run/adafactor_torch_eps", "input": case, "expect": train(case, old["expect"])}


if __name__ == "__main__":
    cases = [{"name": f"transformers/{name}", "input": {"kind": "transformers", "options": options, "steps": STEPS},
              "expect": run(options)} for name, options in CASES.items()]
    with open(os.path.join(HERE, "adafactor.json"), "w") as file:
        json.dump({"about": ABOUT, "cases": cases + [training_case()]}, file)
        file.write("\n")
