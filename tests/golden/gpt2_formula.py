"""transformers' GPT-2 with the weights and tokens that language_models.json defines by formula."""
import math

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def u(i, k):
    h = (i * 2654435761 + k * 40503 + 12345) % 2**32
    h ^= h >> 16
    h = h * 0x85EBCA6B % 2**32
    h ^= h >> 13
    h = h * 0xC2B2AE35 % 2**32
    h ^= h >> 16
    return h / 2**31 - 1


def filled(case, dtype):
    model = GPT2LMHeadModel(GPT2Config(**case["config"]))
    seen = set()
    with torch.no_grad():
        for j, (name, tensor) in enumerate(model.state_dict().items()):
            if tensor.data_ptr() in seen:
                continue
            seen.add(tensor.data_ptr())
            fan = tensor.numel() // tensor.shape[0]
            values = torch.tensor([u(i, j + 1000 * case["seed"]) for i in range(tensor.numel())], dtype=torch.float64)
            if tensor.dim() >= 2 and fan > 1:
                values = math.sqrt(3 / fan) * values
            else:
                values = 1 + 0.1 * values if name.endswith("weight") else 0.05 * values
            tensor.copy_(values.float().view(tensor.shape))
    model.set_attn_implementation("eager")
    return model.to(dtype).eval()


def token_batch(case, step):
    """Token ids [rows, time] of a step of a training_run."""
    rows, time = case["batch"]
    seed, vocabulary = case["token_seeds"][step], case["config"]["vocab_size"]
    ids = [math.floor((u(i, 900 + seed) + 1) / 2 * vocabulary) for i in range(rows * time)]
    return torch.tensor(ids).view(rows, time)


def loss_of(logits, labels):
    return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def norm_of(tensors):
    return math.sqrt(sum(tensor.double().square().sum().item() for tensor in tensors))


def summary(tensor, at):
    flat = tensor.detach().flatten()
    return {"norm": flat.norm().item(), "sum": flat.sum().item(), "at": at, "values": flat[at].tolist()}
