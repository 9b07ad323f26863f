"""recipes/imagenette.yaml in fastai: xresnet50 with Mish at 128 px under ranger, as fastai's nbs/examples/train_imagenette.py.

python bench/peers/fastai_imagenette.py FOLDER [--epochs 5] [--seed 1] [--threads 1] [--workers 1]
Settings are that script's defaults: batch 64, rate 1e-2, momentum 0.9, flat for three quarters and then a cosine, label
smoothing. Prints the validation scores after each epoch, then one line of JSON.
"""
import argparse
from functools import partial
from pathlib import Path

import torch
from fastai.vision.all import (AvgPool, CategoryBlock, DataBlock, FlipItem, GrandparentSplitter, ImageBlock,
                               LabelSmoothingCrossEntropy, Learner, Mish, Normalize, RandomResizedCrop, accuracy,
                               get_image_files, imagenet_stats, parent_label, ranger, set_seed, top_k_accuracy, xresnet50)
from measure import cpu_seconds, report

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=Path, help="imagenette2-*: train/ and val/ below it")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--workers", type=int, default=1)
parser.add_argument("--size", type=int, default=128)
args = parser.parse_args()

if __name__ == "__main__":
    torch.set_num_threads(args.threads)
    set_seed(args.seed, reproducible=True)
    block = DataBlock(
        blocks=(ImageBlock, CategoryBlock), get_items=get_image_files, get_y=parent_label,
        splitter=GrandparentSplitter(valid_name="val"),
        item_tfms=[RandomResizedCrop(args.size, min_scale=0.35), FlipItem(0.5)],
        batch_tfms=Normalize.from_stats(*imagenet_stats))
    data = block.dataloaders(args.folder, bs=64, num_workers=args.workers)
    learner = Learner(
        data, xresnet50(n_out=10, act_cls=Mish, sa=False, sym=False, pool=AvgPool),
        opt_func=partial(ranger, mom=0.9, sqr_mom=0.99, eps=1e-6, beta=0.0),
        loss_func=LabelSmoothingCrossEntropy(), metrics=[accuracy, partial(top_k_accuracy, k=5)])
    with learner.no_bar():
        learner.fit_flat_cos(args.epochs, 1e-2, wd=1e-2)
    loss, right, five = learner.recorder.values[-1][1:4]
    report(seed=args.seed, loss=loss, accuracy=right, top_5=five, files=len(data.valid_ds), cpu_seconds=round(cpu_seconds(), 1))
