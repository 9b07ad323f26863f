"""Training steps of transformers' GPT-2 on one fixed random batch of tokens, rows per second, and the process's peak memory.

python bench/peers/step_gpt2.py --setting default|compile [--batch 8] [--length 256] [--threads 2] [--steps 10] [--learned 1]

--learned: the share of tokens, the last ones of each row, that are learned; the labels of the others are -100.
"""
import argparse
import resource
import time

import torch
from measure import report, with_allocator

parser = argparse.ArgumentParser()
parser.add_argument("--setting", choices=["default", "compile"], default="default")
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--length", type=int, default=256)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--learned", type=float, default=1)
args = parser.parse_args()
with_allocator(True)

from transformers import GPT2Config, GPT2LMHeadModel  # noqa: E402 - torch is loaded with the allocator

torch.set_num_threads(args.threads)
torch.manual_seed(0)
config = GPT2Config(n_layer=6, n_head=6, n_embd=384, n_positions=args.length, embd_pdrop=0, attn_pdrop=0, resid_pdrop=0,
                    attn_implementation="sdpa", use_cache=False)
model = GPT2LMHeadModel(config).train()
run = torch.compile(model) if args.setting == "compile" else model
text = torch.randint(2, 50257, (args.batch, args.length))
labels = text.clone()
labels[:, :args.length - round(args.learned * args.length)] = -100
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, fused=True)

seconds = []
for step in range(args.steps + 2):
    start = time.perf_counter()
    optimizer.zero_grad()
    run(input_ids=text, labels=labels).loss.backward()
    optimizer.step()
    if step >= 2:  # the first two warm up
        seconds.append(time.perf_counter() - start)
seconds.sort()
report(images_per_second=args.batch / seconds[len(seconds) // 2], best=args.batch / seconds[0],
       peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
