"""recipes/imdb-transformer.yaml in plain PyTorch: torch.nn.TransformerEncoder on the first 256 tokens of IMDB's reviews.

python bench/peers/imdb_transformer.py FOLDER [--seed 1] [--epochs 4] [--threads 1] [--steps 0]
Settings are the recipe's: two layers of 128 numbers, four heads, 256 hidden numbers, gelu, norms first, learned positions, the mean over
a review's tokens, dropout 0.2, batch 64, AdamW at 1e-3 under one cycle with weight decay 1e-2 (none for norms and biases), gradients
clipped at a norm of 1. Prints the accuracy on all test reviews after each epoch. Random numbers are torch's, as in imdb_bag.py.
"""
import argparse
import pathlib

from measure import with_allocator

with_allocator(True)
import torch
from imdb_texts import PADDING, numbers, train

DIM, LAYERS, HEADS, HIDDEN, LENGTH, DROPOUT, LR, DECAY = 128, 2, 4, 256, 256, 0.2, 1e-3, 1e-2


class Transformer(torch.nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.pos_embedding = torch.nn.Parameter(torch.empty(LENGTH, DIM).normal_(0, 0.02))
        self.embedding = torch.nn.Embedding(vocabulary, DIM, padding_idx=PADDING)
        torch.nn.init.normal_(self.embedding.weight, 0, 0.02)
        self.dropout = torch.nn.Dropout(DROPOUT)
        layer = torch.nn.TransformerEncoderLayer(DIM, HEADS, HIDDEN, DROPOUT, "gelu", batch_first=True, norm_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, LAYERS, torch.nn.LayerNorm(DIM), enable_nested_tensor=False)
        for own in self.encoder.layers[1:]:  # torch copies the first layer, weights included
            for part in own.modules():
                if hasattr(part, "_reset_parameters"):
                    part._reset_parameters()
                elif hasattr(part, "reset_parameters") and not isinstance(part, torch.nn.modules.linear.NonDynamicallyQuantizableLinear):
                    part.reset_parameters()
        self.head = torch.nn.Linear(DIM, 2)

    def forward(self, tokens):
        padded = tokens == PADDING
        embedded = self.dropout(self.embedding(tokens) + self.pos_embedding[:tokens.shape[1]])
        encoded = self.encoder(embedded, src_key_padding_mask=padded)
        return self.head(encoded.masked_fill(padded.unsqueeze(2), 0).sum(1) / (~padded).sum(1, keepdim=True))


def groups(model):
    """Norms and biases do not decay; in_proj_bias of the attention does, as the recipe's pattern `bias` has it."""
    exempt = {id(weight) for part in model.modules() if isinstance(part, torch.nn.LayerNorm) for weight in part.parameters()}
    exempt |= {id(weight) for name, weight in model.named_parameters() if name.endswith(".bias")}
    return [{"params": [weight for weight in model.parameters() if id(weight) not in exempt]},
            {"params": [weight for weight in model.parameters() if id(weight) in exempt], "weight_decay": 0}]


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
    data, vocabulary = numbers(args.folder, most=LENGTH)
    model = Transformer(vocabulary)
    optimizer = torch.optim.AdamW(groups(model), LR, weight_decay=DECAY, fused=True)
    train(model, optimizer, data, lr=LR, clip=1.0, epochs=args.epochs, seed=args.seed, steps=args.steps)


main()
