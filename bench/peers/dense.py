"""fastai's pipelines for the folders that `ddptrain data make masks|points` writes, and a learner's run with a report."""
import functools
import pathlib

import numpy
import pandas
import torch
from fastai.vision.all import (Adam, DataBlock, FuncSplitter, ImageBlock, IntToFloatTensor, Normalize, PILMask,
                               PointBlock, Resize, ResizeMethod, TransformBlock, get_image_files, imagenet_stats)
from PIL import Image

CODES = ["ground", "circle", "square", "star"]
VOID = 255
# fastai's default optimizer, written out.
OPTIMIZER = functools.partial(Adam, mom=0.9, sqr_mom=0.99, eps=1e-5, wd=0.01, decouple_wd=True)


def palette_mask(path):
    """Its palette's numbers; fastai's MaskBlock gives their colors as grays."""
    return PILMask(Image.fromarray(numpy.array(Image.open(path))))


def resized(size):
    """Nothing where images have the wanted size."""
    return [] if size is None else [Resize(size, method=ResizeMethod.Squish)]


def masks(folder, batch, size=None, batch_tfms=(), workers=0):
    folder = pathlib.Path(folder)

    def mask_of(path):
        return folder / "masks" / path.parent.name / path.name

    block = DataBlock(
        blocks=(ImageBlock, TransformBlock(type_tfms=palette_mask, batch_tfms=IntToFloatTensor)),
        get_items=lambda at: sorted(get_image_files(at / "images")), get_y=mask_of, splitter=FuncSplitter(lambda path: path.parent.name == "val"), item_tfms=resized(size),
        batch_tfms=[*batch_tfms, Normalize.from_stats(*imagenet_stats)])
    return block.dataloaders(folder, bs=batch, num_workers=workers, device="cpu")


def points(folder, batch, size=None, batch_tfms=(), workers=0):
    folder = pathlib.Path(folder)
    table = pandas.read_csv(folder / "points.csv")
    where = {folder / row.path: torch.tensor([[row.x1, row.y1], [row.x2, row.y2]]) for row in table.itertuples()}
    held_out = {folder / path for path in table.path[table.split == "valid"]}
    block = DataBlock(
        blocks=(ImageBlock, PointBlock), get_items=lambda _: list(where), get_y=lambda path: where[path],
        splitter=FuncSplitter(lambda path: path in held_out), item_tfms=resized(size),
        batch_tfms=[*batch_tfms, Normalize.from_stats(*imagenet_stats)])
    return block.dataloaders(folder, bs=batch, num_workers=workers, device="cpu")


def outputs_and_targets(learner):
    """Of the whole validation split, in evaluation mode."""
    learner.model.eval()
    found = []
    with torch.no_grad():
        for images, targets in learner.dls.valid:
            found.append((learner.model(images).as_subclass(torch.Tensor), targets.as_subclass(torch.Tensor)))
    return [torch.cat(parts) for parts in zip(*found)]
