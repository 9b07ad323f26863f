"""Writes fastai.json: what fastai's transforms make of tests/golden/images with fixed draws.

    bench/peers/.../bin/python tests/transforms/fastai_values.py > tests/transforms/fastai.json
"""
import json
import pathlib
import random

import torch
from fastai.vision.all import *

IMAGES = pathlib.Path(__file__).parent.parent / 'golden/images'


def picture(name, crop=None):
    image = PILImage.create(IMAGES / name)
    return PILImage.create(image.crop(crop)) if crop else image


def values(pixels):
    """Shape, mean of each channel and pixels [y, x, values] at 24 places of a [C, H, W] tensor."""
    pixels = torch.as_tensor(pixels).double()
    places = random.Random(5)
    channels, height, width = pixels.shape
    at = [(places.randrange(height), places.randrange(width)) for _ in range(24)]
    return {'shape': [channels, height, width], 'mean': pixels.mean((1, 2)).tolist(),
            'pixels': [[y, x] + pixels[:, y, x].tolist() for y, x in at]}


def resize_case(crop, **options):
    size, method, pad_mode = options['size'], options['method'], options.get('pad_mode', 'reflection')
    done = Resize(size, method=method, pad_mode=pad_mode)(picture('a_rgb.png', crop), split_idx=1)
    return {'kind': 'resize', 'crop': crop, 'options': options, 'expect': values(image2tensor(done))}


def augment_case(crop, size=None, mode='bilinear', pad_mode='reflection', dihedral=None, warp=None,
                 degrees=None, zoom=None, brightness=None, contrast=None, saturation=None):
    """The transforms that aug_transforms would make, in its order, with the draws given."""
    how = dict(size=size, mode=mode, pad_mode=pad_mode)
    made = []
    if dihedral is not None: made.append(Dihedral(p=1., draw=dihedral, **how))
    if warp is not None: made.append(Warp(p=1., draw_x=warp[0], draw_y=warp[1], **how))
    if degrees is not None: made.append(Rotate(p=1., draw=degrees, **how))
    if zoom is not None: made.append(Zoom(p=1., draw=zoom[0], draw_x=zoom[1], draw_y=zoom[2], **how))
    if brightness is not None: made.append(Brightness(p=1., draw=brightness))
    if contrast is not None: made.append(Contrast(p=1., draw=contrast))
    if saturation is not None: made.append(Saturation(p=1., draw=saturation))
    x = TensorImage(image2tensor(picture('a_rgb.png', crop)))[None].float() / 255
    for step in setup_aug_tfms(made): x = step(x, split_idx=0)
    draws = dict(dihedral=dihedral, warp=warp, degrees=degrees, zoom=zoom, brightness=brightness,
                 contrast=contrast, saturation=saturation)
    return {'kind': 'augment', 'crop': crop, 'size': size, 'mode': mode, 'pad_mode': pad_mode,
            'draws': {k: v for k, v in draws.items() if v is not None}, 'expect': values(x[0])}


WIDE, NARROW, UPRIGHT = [3, 5, 93, 35], [10, 2, 22, 82], [10, 2, 40, 52]
cases = [resize_case(c, size=s, method=m, pad_mode=p)
         for c in (WIDE, NARROW) for s in (32, [20, 40])
         for m, p in (('pad', 'reflection'), ('pad', 'border'), ('pad', 'zeros'))]
cases += [resize_case(c, size=s, method=m)
          for c in (WIDE, NARROW) for s in (32, [20, 40]) for m in ('crop', 'squish')]
cases += [augment_case(WIDE, dihedral=k) for k in range(8)]
cases += [
    augment_case(WIDE, degrees=10.), augment_case(UPRIGHT, degrees=-7.5, pad_mode='zeros'),
    augment_case(WIDE, zoom=[1.1, 0.2, 0.9]), augment_case(WIDE, zoom=[0.8, 0.5, 0.5], pad_mode='border'),
    augment_case(WIDE, warp=[0.2, -0.1]), augment_case(UPRIGHT, warp=[-0.15, 0.05], mode='nearest'),
    augment_case(WIDE, dihedral=1, warp=[0.1, 0.17], degrees=-9., zoom=[1.07, 0.3, 0.6]),
    augment_case(WIDE, dihedral=5, warp=[-0.2, 0.2], degrees=10., zoom=[1.1, 1., 0.], size=[24, 36]),
    augment_case(None, dihedral=1, warp=[0.1, 0.17], degrees=-9., zoom=[1.07, 0.3, 0.6], size=24),
    augment_case(WIDE, brightness=0.58), augment_case(WIDE, contrast=0.83),
    augment_case(WIDE, brightness=0.42, contrast=1.22, saturation=0.8),
    augment_case(WIDE, degrees=4., brightness=0.45, contrast=1.1),
]
print(json.dumps({'about': 'made by fastai_values.py with fastai 2.8.12; crops are left, upper, right, '
                           'lower', 'cases': cases}, indent=None))
