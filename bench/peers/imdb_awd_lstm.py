"""IMDB sentiment by fastai's AWD-LSTM from scratch, on part of the reviews: loss at every step, and accuracy.

python bench/peers/imdb_awd_lstm.py IMDB --subset FOLDER --documents 2000     makes the part: links, half of each class
python bench/peers/imdb_awd_lstm.py FOLDER [--epochs 2] [--lr 5e-3] [--batch 64] [--seed 0] [--threads 1]
                                    [--emb-sz 400] [--n-hid 1152] [--drop-mult 0.5] [--losses losses.csv] [--right-rows]

`ddptrain run recipes/imdb.yaml data.root=FOLDER 'data.tokenizer={type: fastai, split: spaces}'` reads the same part.
fastai's SentenceEncoder takes the first N rows of a segment in which N rows have tokens. Where the padding behind a text
covers the last segment, those are the wrong rows: a text's end is lost, and padding is read in its place. --right-rows
takes those that have tokens. Tokens are those of fastai's rules, cut at single spaces (no spaCy), a vocabulary of at most 60,000 that occur three times; SortedDL, Pad_Chunk and RNNRegularizer as
text_classifier_learner and TextDataLoaders have them.
"""
import argparse
import collections
import csv
import os
import pathlib
import time

import torch
from fastai.text.all import (AWD_LSTM, Callback, DataLoaders, Pad_Chunk, SortedDL, TensorCategory, TensorText,
                             SentenceEncoder, accuracy, awd_lstm_clas_config, compose, defaults, make_vocab, set_seed,
                             text_classifier_learner)
from measure import report

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--subset", type=pathlib.Path)
parser.add_argument("--documents", type=int, default=2000)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--emb-sz", type=int, default=400)
parser.add_argument("--n-hid", type=int, default=1152)
parser.add_argument("--drop-mult", type=float, default=0.5)
parser.add_argument("--losses")
parser.add_argument("--right-rows", action="store_true")
args = parser.parse_args()

CLASSES = ["neg", "pos"]


def make_subset():
    """Of each split and class the same number of reviews, evenly over the sorted names."""
    for split in ("train", "test"):
        for name in CLASSES:
            files = sorted((args.folder / split / name).glob("*.txt"))
            wanted = min(args.documents // 2, len(files))
            target = args.subset / split / name
            target.mkdir(parents=True, exist_ok=True)
            for i in range(wanted):
                file = files[i * len(files) // wanted]
                os.link(file, target / file.name)


def read(split):
    files = [(file, label) for label, name in enumerate(CLASSES)
             for file in sorted((args.folder / split / name).glob("*.txt"))]
    rules, after = compose(*defaults.text_proc_rules), compose(*defaults.text_postproc_rules)
    texts = [[after(token) for token in rules(file.read_text()).split(" ")] for file, _ in files]
    return texts, [label for _, label in files]


def loaders():
    train, valid = read("train"), read("test")
    vocabulary = make_vocab(collections.Counter(token for text in train[0] for token in text))
    number = {token: i for i, token in enumerate(vocabulary)}
    parts = []
    for texts, labels in (train, valid):
        ids = [TensorText(torch.tensor([number.get(token, 0) for token in text])) for text in texts]
        parts.append(list(zip(ids, map(TensorCategory, labels))))
    lengths = [[len(ids) for ids, _ in part] for part in parts]
    settings = {"before_batch": Pad_Chunk(seq_len=72), "num_workers": 0}
    made = DataLoaders(
        SortedDL(parts[0], bs=args.batch, shuffle=True, drop_last=True, res=lengths[0], **settings),
        SortedDL(parts[1], bs=2 * args.batch, res=lengths[1], **settings))
    return made, vocabulary


class Steps(Callback):
    """Loss of every training step, the penalties left out."""

    def before_fit(self):
        self.losses, self.tokens, self.seconds = [], 0, 0.0

    def before_batch(self):
        self.began = time.perf_counter()

    def after_batch(self):
        if self.training:
            self.losses.append(self.learn.loss.item())
            self.tokens += self.xb[0].numel()
            self.seconds += time.perf_counter() - self.began


def encode_right_rows(encoder, tokens):
    """SentenceEncoder.forward with the rows that have tokens."""
    encoder.reset()
    module, rows_of_batch = encoder.module, tokens.shape[0]
    states = [tuple(state.new_zeros(1, rows_of_batch, state.shape[2]) for state in layer) for layer in module.hidden]
    mask = tokens == encoder.pad_idx
    outputs, masks = [], []
    for begin in range(0, tokens.shape[1], encoder.bptt):
        rows = (~mask[:, begin]).nonzero()[:, 0]
        module.bs, module.hidden = len(rows), [tuple(state[:, rows] for state in layer) for layer in states]
        output = module(tokens[rows, begin:begin + encoder.bptt])
        states = [tuple(state.index_copy(1, rows, new) for state, new in zip(*layers))
                  for layers in zip(states, module.hidden)]
        if encoder.max_len is None or tokens.shape[1] - begin <= encoder.max_len:
            whole = output.new_zeros(rows_of_batch, *output.shape[1:])
            outputs.append(whole.index_copy(0, rows, output))
            masks.append(mask[:, begin:begin + encoder.bptt])
    return torch.cat(outputs, dim=1), torch.cat(masks, dim=1)


def train():
    torch.set_num_threads(args.threads)
    if args.right_rows:
        SentenceEncoder.forward = lambda self, tokens: encode_right_rows(self, tokens.as_subclass(torch.Tensor))
    data, vocabulary = loaders()
    set_seed(args.seed)
    data.vocab, data.c = vocabulary, len(CLASSES)
    config = awd_lstm_clas_config.copy() | {"emb_sz": args.emb_sz, "n_hid": args.n_hid}
    steps = Steps()
    learner = text_classifier_learner(data, AWD_LSTM, config=config, pretrained=False, drop_mult=args.drop_mult,
                                      metrics=accuracy, loss_func=torch.nn.CrossEntropyLoss(), cbs=[steps])
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(args.epochs, args.lr)
    if args.losses:
        with open(args.losses, "w", newline="") as file:
            csv.writer(file).writerows(enumerate(steps.losses, 1))
    report(tokens_per_second=steps.tokens / steps.seconds, vocabulary=len(vocabulary), last_loss=steps.losses[-1],
           accuracy=[row[2] for row in learner.recorder.values], seed=args.seed)


if args.subset:
    make_subset()
else:
    train()
