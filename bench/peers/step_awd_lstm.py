"""Training steps of fastai's AWD-LSTM language model on one fixed random batch of tokens, rows per second.

python bench/peers/step_awd_lstm.py [--batch 32] [--length 72] [--vocabulary 50257] [--threads 2] [--steps 10] [--compile]
"""
import argparse
import time

import torch
from measure import report, with_allocator

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--length", type=int, default=72)
parser.add_argument("--vocabulary", type=int, default=50257)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--compile", action="store_true")
args = parser.parse_args()
with_allocator(True)

from fastai.text.all import AWD_LSTM, get_language_model  # noqa: E402 - torch is loaded with the allocator

torch.set_num_threads(args.threads)
torch.manual_seed(0)
model = get_language_model(AWD_LSTM, args.vocabulary).train()
run = torch.compile(model) if args.compile else model
text = torch.randint(2, args.vocabulary, (args.batch, args.length + 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, fused=True)

seconds = []
for step in range(args.steps + 2):
    start = time.perf_counter()
    optimizer.zero_grad()
    decoded, raw, dropped = run(text[:, :-1])
    loss = torch.nn.functional.cross_entropy(decoded.flatten(0, 1), text[:, 1:].flatten())
    # fastai.callback.rnn.RNNRegularizer with the learner's alpha 2 and beta 1
    loss = loss + 2 * dropped.float().pow(2).mean() + (raw[:, 1:] - raw[:, :-1]).float().pow(2).mean()
    loss.backward()
    optimizer.step()
    if step >= 2:  # the first two warm up
        seconds.append(time.perf_counter() - start)
seconds.sort()
report(images_per_second=args.batch / seconds[len(seconds) // 2], best=args.batch / seconds[0])
