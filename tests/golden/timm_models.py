"""Golden values of timm's image models: python tests/golden/timm_models.py (torch 2.11, torchvision 0.26, timm 1.0.31).

Writes tests/golden/timm_models.json; formulas are those of models.json, entry k counted in timm's state dict.
"""
import hashlib
import json
import math
import os
from functools import partial

import numpy
import timm
import torch
import torchvision.models as torchvision_models
from timm.layers import LayerNorm
from timm.models.deit import VisionTransformerDistilled
from timm.models.vision_transformer import VisionTransformer, checkpoint_filter_fn


CLASSES = 5
SMALL = {"type": "vit", "image_size": 32, "patch_size": 8, "num_layers": 2, "num_heads": 4, "hidden_dim": 32, "mlp_dim": 48}
SMALL_TIMM = dict(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4, mlp_ratio=1.5, num_classes=CLASSES)


def formula(count, k):
    mask = numpy.uint64(0xFFFFFFFF)
    i = numpy.arange(count, dtype=numpy.uint64)
    h = (i * numpy.uint64(2654435761) + numpy.uint64(k * 40503 + 12345)) & mask
    h = ((h ^ (h >> numpy.uint64(16))) * numpy.uint64(0x85EBCA6B)) & mask
    h = ((h ^ (h >> numpy.uint64(13))) * numpy.uint64(0xC2B2AE35)) & mask
    return (h ^ (h >> numpy.uint64(16))).astype(numpy.float64) / 2**31 - 1


def fill(model):
    state = [(name, tensor) for name, tensor in model.state_dict().items() if tensor.is_floating_point()]
    with torch.no_grad():
        for k, (name, tensor) in enumerate(state):
            u = formula(tensor.numel(), k)
            fan = tensor.numel() // tensor.shape[0]
            if name.endswith("running_var"):
                values = 1 + 0.1 * u
            elif name.endswith("running_mean"):
                values = 0.02 * u
            elif tensor.dim() >= 2 and fan > 1:
                values = math.sqrt(3 / fan) * u
            elif name.endswith("weight"):
                values = 1 + 0.1 * u
            else:
                values = 0.05 * u
            tensor.copy_(torch.from_numpy(values.astype(numpy.float32)).view(tensor.shape))


def narrow():
    """(name, our recipe, timm's network, and that of the weights' file where it differs)"""
    yield "vit", SMALL, VisionTransformer(**SMALL_TIMM), None
    yield ("dinov2", {**SMALL, "layer_scale": 1e-5}, VisionTransformer(**SMALL_TIMM, init_values=1e-5), None)
    yield ("dinov2_reg4", {**SMALL, "layer_scale": 1e-5, "registers": 4, "class_positions": False},
           VisionTransformer(**SMALL_TIMM, init_values=1e-5, reg_tokens=4, no_embed_class=True), None)
    yield ("registers_with_positions", {**SMALL, "registers": 2}, VisionTransformer(**SMALL_TIMM, reg_tokens=2), None)
    yield "deit_distilled", {**SMALL, "distilled": True}, VisionTransformerDistilled(**SMALL_TIMM), None
    clip = dict(pre_norm=True, norm_layer=partial(LayerNorm, eps=1e-5))
    ours = {**SMALL, "pre_norm": True, "norm_eps": 1e-5}
    yield "clip_gelu", ours, VisionTransformer(**SMALL_TIMM, **clip), None
    yield ("clip_quickgelu", {**ours, "activation": "quick_gelu"},
           VisionTransformer(**SMALL_TIMM, **clip, act_layer="quick_gelu"), None)
    siglip = dict(class_token=False, global_pool="map")
    yield "siglip", {**SMALL, "pool": "attention"}, VisionTransformer(**SMALL_TIMM, **siglip), None
    yield ("siglip_tanh", {**SMALL, "pool": "attention", "activation": "gelu_tanh"},
           VisionTransformer(**SMALL_TIMM, **siglip, act_layer="gelu_tanh"), None)
    for size in (48, 16):
        wide = {**SMALL_TIMM, "img_size": size}
        yield (f"vit_resampled_{size}", {**SMALL, "image_size": size}, VisionTransformer(**wide),
               VisionTransformer(**SMALL_TIMM))
        yield (f"siglip_resampled_{size}", {**SMALL, "image_size": size, "pool": "attention"},
               VisionTransformer(**wide, **siglip), VisionTransformer(**SMALL_TIMM, **siglip))
    yield ("deit_distilled_resampled_48", {**SMALL, "image_size": 48, "distilled": True},
           VisionTransformerDistilled(**{**SMALL_TIMM, "img_size": 48}), VisionTransformerDistilled(**SMALL_TIMM))


# Ours, timm's and the side of the images.
PUBLISHED = [("convnext_tiny", "convnext_tiny", 64), ("efficientnet_b0", "efficientnet_b0", 64),
             ("efficientnet_b1", "efficientnet_b1", 64), ("mobilenet_v2", "mobilenetv2_100", 64),
             ("mobilenet_v3_small", "mobilenetv3_small_100", 64), ("mobilenet_v3_large", "mobilenetv3_large_100", 64),
             ("regnet_x_400mf", "regnetx_004_tv", 64), ("regnet_y_400mf", "regnety_004", 64),
             ("swin_t", "swin_tiny_patch4_window7_224", 224), ("resnet18", "resnet18", 64)]


def forward_case(name, recipe, net, of_file=None):
    """The state of the file, and the outputs of the network with it in double."""
    file = of_file or net
    fill(file)
    state = file.state_dict()
    if of_file is not None:
        net.load_state_dict(checkpoint_filter_fn(dict(state), net))
    shape = [2, 3] + [recipe["side"]] * 2
    images = torch.from_numpy(formula(math.prod(shape), 777).astype("float32")).double().view(shape)
    with torch.no_grad():
        output = net.double().eval()(images)
    recipe = {key: value for key, value in recipe.items() if key != "side"}
    return {"name": f"forward/{name}", "input": {"kind": "forward", "recipe": recipe, "classes": CLASSES, "images": shape,
                                                 "state": [[n, list(t.shape)] for n, t in state.items()
                                                           if t.is_floating_point()]},
            "expect": {"eval": rounded_more(output)}}


def rounded_more(values):
    return [float(f"{v:.14g}") for v in values.flatten().tolist()]


def digest(lines):
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


# Ours and timm's; torchvision's has our name where it is there.
LAYOUTS = [(f"efficientnet_b{i}", f"efficientnet_b{i}") for i in range(5)] + [
    ("convnext_tiny", "convnext_tiny"), ("convnext_small", "convnext_small"), ("convnext_base", "convnext_base"),
    ("swin_t", "swin_tiny_patch4_window7_224"), ("swin_s", "swin_small_patch4_window7_224"),
    ("swin_b", "swin_base_patch4_window7_224"), ("vit_ti_16", "vit_tiny_patch16_224"), ("vit_s_16", "vit_small_patch16_224"),
    ("vit_s_32", "vit_small_patch32_224"), ("vit_b_16", "vit_base_patch16_224"), ("vit_b_32", "vit_base_patch32_224"),
    ("vit_l_16", "vit_large_patch16_224"), ("vit_l_32", "vit_large_patch32_224"),
    ("deit_ti_16", "deit_tiny_patch16_224"), ("deit_s_16", "deit_small_patch16_224"), ("deit_b_16", "deit_base_patch16_224"),
    ("deit_ti_16 distilled", "deit_tiny_distilled_patch16_224"), ("deit_s_16 distilled", "deit_small_distilled_patch16_224"),
    ("dinov2_s_14", "vit_small_patch14_dinov2"), ("dinov2_b_14", "vit_base_patch14_dinov2"),
    ("dinov2_l_14", "vit_large_patch14_dinov2"), ("dinov2_s_14 registers", "vit_small_patch14_reg4_dinov2"),
    ("clip_b_32", "vit_base_patch32_clip_224"), ("clip_b_16", "vit_base_patch16_clip_224"),
    ("clip_l_14", "vit_large_patch14_clip_224"), ("siglip_b_16", "vit_base_patch16_siglip_224"),
    ("siglip_l_16", "vit_large_patch16_siglip_256"),
    ("mobilenet_v2", "mobilenetv2_100"), ("mobilenet_v3_small", "mobilenetv3_small_100"),
    ("mobilenet_v3_large", "mobilenetv3_large_100"), ("regnet_x_400mf", "regnetx_004_tv"), ("regnet_y_400mf", "regnety_004"),
    ("vgg11", "vgg11"), ("vgg16_bn", "vgg16_bn"), ("densenet121", "densenet121"), ("resnet34", "resnet34"),
    ("resnext50_32x4d", "resnext50_32x4d"), ("wide_resnet50_2", "wide_resnet50_2")]


def layout_case(ours, theirs):
    """Digests of "name [sizes]" lines: of torchvision's in its order, of timm's sorted."""
    model, *option = ours.split()
    recipe = {"type": model, "image_size": 224}
    if "dinov2" in model:
        recipe["image_size"] = 518
    if "siglip_l" in model:
        recipe["image_size"] = 256
    if not any(model.startswith(kind) for kind in ("vit", "deit", "dinov2", "clip", "siglip")):
        del recipe["image_size"]
    if option:
        recipe[option[0]] = {"distilled": True, "registers": 4}[option[0]]
    with torch.device("meta"):
        net = timm.create_model(theirs, num_classes=CLASSES)
    tv = getattr(torchvision_models, model)(num_classes=CLASSES) if hasattr(torchvision_models, model) else None
    line = lambda item: f"{item[0]} {list(item[1].shape)}"
    expect = {"parameters": sum(p.numel() for p in net.parameters()),
              "timm": digest(sorted(map(line, net.state_dict().items())))}
    if tv is not None:
        expect["torchvision"] = digest(map(line, tv.state_dict().items()))
    return {"name": f"layout/{theirs}", "input": {"kind": "layout", "recipe": recipe, "classes": CLASSES}, "expect": expect}


def cases():
    for name, recipe, net, of_file in narrow():
        yield forward_case(name, {**recipe, "side": recipe["image_size"]}, net, of_file)
    for ours, theirs, side in PUBLISHED:
        recipe = {"type": ours, "side": side}
        if "mobilenet_v3" in ours:
            recipe["norm_eps"] = 1e-5
        yield forward_case(theirs, recipe, timm.create_model(theirs, num_classes=CLASSES))
    for ours, theirs in LAYOUTS:
        yield layout_case(ours, theirs)


if __name__ == "__main__":
    torch.manual_seed(0)
    about = ("timm 1.0.31's image models. kind forward: input.state = the floating-point entries of a file in timm's order, "
             "weights by the formula of models.json with k counted over these alone; expect.eval = outputs of timm's model in "
             "double in evaluation mode for images u(i,777); where the file is of another image size, positions were resampled by "
             "timm's checkpoint_filter_fn. kind layout: sha256 of the lines \"name [sizes]\" of the state dict, torchvision's in "
             "its order, timm's sorted by line.")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "timm_models.json"), "w") as out:
        lines = ",\n".join(json.dumps(case) for case in cases())
        out.write('{"about": ' + json.dumps(about) + ', "cases": [\n' + lines + "\n]}\n")
