"""fastai's AWD-LSTM language model from scratch on part of IMDB's reviews: loss and accuracy of each epoch.

python bench/peers/imdb_lm.py FOLDER [--epochs 4] [--lr 1e-2] [--batch 8] [--seed 0] [--threads 1] [--emb-sz 64] [--n-hid 128]

FOLDER: a part of IMDB that `imdb_awd_lstm.py IMDB --subset FOLDER` has made; train/ is learned, test/ validates. Tokens are those of
fastai's rules, cut at single spaces (no spaCy), a vocabulary of at most 60,000 that occur three times. Streams of LMDataLoader,
RNNRegularizer, one-cycle and momenta as language_model_learner has them.
"""
import argparse
import collections
import pathlib

import torch
from fastai.text.all import (AWD_LSTM, DataLoaders, LMDataLoader, TensorText, accuracy, awd_lstm_lm_config, compose, defaults,
                             language_model_learner, make_vocab, set_seed)
from measure import report

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--lr", type=float, default=1e-2)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--emb-sz", type=int, default=64)
parser.add_argument("--n-hid", type=int, default=128)
parser.add_argument("--drop-mult", type=float, default=0.5)
args = parser.parse_args()


def read(split):
    rules, after = compose(*defaults.text_proc_rules), compose(*defaults.text_postproc_rules)
    files = [file for name in ("neg", "pos") for file in sorted((args.folder / split / name).glob("*.txt"))]
    return [[after(token) for token in rules(file.read_text()).split(" ")] for file in files]


torch.set_num_threads(args.threads)
parts = [read("train"), read("test")]
vocabulary = make_vocab(collections.Counter(token for text in parts[0] for token in text))
number = {token: i for i, token in enumerate(vocabulary)}
ids = [[TensorText(torch.tensor([number.get(token, 0) for token in text])) for text in part] for part in parts]
set_seed(args.seed)
data = DataLoaders(*(LMDataLoader(part, bs=args.batch, seq_len=72, shuffle=i == 0, num_workers=0) for i, part in enumerate(ids)))
data.vocab = vocabulary
config = awd_lstm_lm_config.copy() | {"emb_sz": args.emb_sz, "n_hid": args.n_hid}
learner = language_model_learner(data, AWD_LSTM, config=config, pretrained=False, drop_mult=args.drop_mult, metrics=accuracy)
with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(args.epochs, args.lr)
# A row: the loss of training (smoothed), that of validation, and the accuracy.
report(vocabulary=len(vocabulary), tokens=sum(map(len, ids[1])), seed=args.seed,
       **{f"loss@{epoch}": row[1] for epoch, row in enumerate(learner.recorder.values, 1)},
       **{f"next_token_accuracy@{epoch}": row[2] for epoch, row in enumerate(learner.recorder.values, 1)})
