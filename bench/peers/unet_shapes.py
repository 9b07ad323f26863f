"""fastai's U-Net on the masks of `ddptrain data make masks`: mean intersection over union of a run from random weights.

python bench/peers/unet_shapes.py FOLDER [--seed 0] [--epochs 4] [--batch 16] [--rate 3e-3] [--threads 1]
The body is that of recipes/camvid-tiny.yaml. No augmentation; pixels of 255 are neither trained nor scored.
"""
import argparse

import torch
from dense import CODES, OPTIMIZER, VOID, masks, outputs_and_targets
from fastai.vision.all import CrossEntropyLossFlat, Learner, ResBlock, XResNet, set_seed
from fastai.vision.models.unet import DynamicUnet
from measure import report

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--rate", type=float, default=3e-3)
parser.add_argument("--threads", type=int, default=1)
args = parser.parse_args()
torch.set_num_threads(args.threads)
set_seed(args.seed)

data = masks(args.folder, args.batch)
body = XResNet(ResBlock, 1, [2, 2, 2, 2], widen=0.25)
size = tuple(data.one_batch()[0].shape[2:])
model = DynamicUnet(torch.nn.Sequential(*list(body.children())[:-4]), len(CODES), size)
learner = Learner(data, model, loss_func=CrossEntropyLossFlat(axis=1, ignore_index=VOID), opt_func=OPTIMIZER)
with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(args.epochs, args.rate)

outputs, targets = outputs_and_targets(learner)
predicted, counted = outputs.argmax(1), targets != VOID
per_class = {}
for code, name in enumerate(CODES):
    ours, theirs = (predicted == code) & counted, targets == code
    per_class[name] = ((ours & theirs).sum() / (ours | theirs).sum()).item()
report(jaccard_coeff_multi=sum(per_class.values()) / len(CODES), **per_class, seed=args.seed,
       steps=args.epochs * len(data.train))
