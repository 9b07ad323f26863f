"""recipes/imdb-bag.yaml in plain PyTorch: the mean of the embeddings of words and pairs of words, on IMDB's reviews.

python bench/peers/imdb_bag.py FOLDER [--seed 1] [--epochs 4] [--threads 1] [--steps 0]
Settings are the recipe's: 32 numbers a word, 200,000 buckets for pairs by fastText's hash, dropout 0.3, a token or pair left out with
probability 0.2, batch 64, AdamW at 1e-2 without decay under one cycle. Prints the accuracy on all test reviews after each epoch.
Random numbers are torch's: first weights, order of the batches and what is dropped are other ones than ours of the same seed.
"""
import argparse
import pathlib

from measure import with_allocator

with_allocator(True)
import torch
from imdb_texts import PADDING, numbers, train

DIM, BUCKETS, DROPOUT, TOKEN_DROPOUT, LR = 32, 200_000, 0.3, 0.2, 1e-2


class Bag(torch.nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.vocabulary = vocabulary
        self.embedding = torch.nn.EmbeddingBag(vocabulary + BUCKETS, DIM, mode="mean", padding_idx=PADDING)
        torch.nn.init.uniform_(self.embedding.weight, -1 / DIM, 1 / DIM)
        with torch.no_grad():
            self.embedding.weight[PADDING] = 0
        self.layers = torch.nn.Sequential(torch.nn.Dropout(DROPOUT), torch.nn.Linear(DIM, 2))

    def forward(self, tokens):
        first, second = tokens[:, :-1], tokens[:, 1:]
        pairs = (first * 116049371 + second) % BUCKETS + self.vocabulary
        all_tokens = torch.cat([tokens, pairs.masked_fill((first == PADDING) | (second == PADDING), PADDING)], 1)
        if self.training:
            all_tokens = all_tokens.masked_fill(torch.rand(all_tokens.shape) < TOKEN_DROPOUT, PADDING)
        return self.layers(self.embedding(all_tokens))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path, help="train/ and test/ below it, neg and pos in each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    data, vocabulary = numbers(args.folder)
    model = Bag(vocabulary)
    optimizer = torch.optim.AdamW(model.parameters(), LR, weight_decay=0, fused=True)
    train(model, optimizer, data, lr=LR, epochs=args.epochs, seed=args.seed, steps=args.steps)


main()
