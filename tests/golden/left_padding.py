"""Golden values of GPT-2 with left padding: python tests/golden/left_padding.py (torch 2.12, transformers 5.23).

Writes tests/golden/left_padding.json: language_models.json's case forward/gpt2_tiny_pad_left, but
the first token of each padded row is no label: it is predicted from padding, which sees no token.
"""
import copy
import json
import os

import torch

from gpt2_formula import filled, loss_of, norm_of, summary

HERE = os.path.dirname(os.path.abspath(__file__))
ABOUT = ("transformers 5.23.0's GPT-2 as in language_models.json, whose formulas and layout this file has: the case "
         "forward/gpt2_tiny_pad_left without the labels that are predicted from padding.")


def run(case, dtype):
    model = filled(case, dtype)
    tokens, mask, positions, labels = (
        torch.tensor(case[key]) for key in ("tokens", "attention_mask", "position_ids", "labels"))
    logits = model(tokens, attention_mask=mask, position_ids=positions).logits
    loss = loss_of(logits, labels)
    loss.backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    return logits[mask.bool()].detach(), loss.item(), gradients


def some(tensor, every):
    return {"shape": list(tensor.shape), "every": every, "values": tensor.flatten()[::every].tolist()}


def expected(case, old):
    logits, loss, gradients = run(case, torch.float64)
    rounded, rounded_loss, rounded_gradients = run(case, torch.float32)
    every = old["logits"]["every"]
    largest = max((gradients[name] - rounded_gradients[name]).norm().item() / max(gradients[name].norm().item(), 1e-30)
                  for name in gradients if gradients[name].norm() > 1e-12)
    return {"logits": some(logits, every), "loss": loss,
            "loss_tokens": int((torch.tensor(case["labels"])[:, 1:] != -100).sum()),
            "gradients": {name: summary(gradients[name], place["at"]) for name, place in old["gradients"].items()},
            "gradient_norm": norm_of(gradients.values()),
            "float32": {"logits_difference": (logits - rounded).abs().max().item(), "logits": some(rounded, 41),
                        "loss": rounded_loss, "gradient_difference": largest}}


if __name__ == "__main__":
    with open(os.path.join(HERE, "language_models.json")) as file:
        old = next(case for case in json.load(file)["cases"] if case["name"] == "forward/gpt2_tiny_pad_left")
    case = copy.deepcopy(old["input"])
    for mask, labels in zip(case["attention_mask"], case["labels"]):
        if mask[0] == 0:
            labels[mask.index(1)] = -100
    with open(os.path.join(HERE, "left_padding.json"), "w") as file:
        json.dump({"about": ABOUT, "cases": [{"name": old["name"], "input": case, "expect": expected(case, old["expect"])}]},
                  file)
        file.write("\n")
