#include "data/image/image_options.h"

#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(DecodeDevice) { return kNameList<"cpu", "gpu", "auto">; }

void TransformLists::fields(Fields& f) {
  f("train", train, {.doc = "Applied to training samples, first to last."});
  f("valid", valid, {.doc = "Applied to validation samples, first to last."});
  f("progressive", progressive,
    {.doc = "Smaller training images at first: sizes one after another, until 'train' holds."});
}

void ImageFileOptions::fields(Fields& f) {
  f("transforms", transforms,
    {.doc = "What is done to images after decoding; none: they stay as they are, or where they "
            "differ in size, become random crops of 128 pixels (64 where they are small)."});
  f("decode", decode,
    {.doc = "'fast' decodes training images only where and as finely as needed; 'exact' gives "
            "torchvision's pixels, as evaluation always does."});
  f("decode_device", decode_device,
    {.doc =
         "'gpu' decodes JPEGs of training images by nvJPEG, on the GPU of their rank (of dp: the "
         "first), whose pixels are not quite libjpeg's; 'auto' does so where there is nvJPEG. "
         "Evaluation decodes on the CPU."});
  f("max_pixels", max_pixels,
    {.doc = "Images of more pixels are refused (or left out, by policy.on_bad_sample); Pillow's "
            "limit.",
     .min = 1,
     .max = 2'147'483'647,
     .unit = "pixels"});
  f("cache", cache, {.doc = "Decoded images that are kept."});
  section.fields(f);
}

}  // namespace ddptrain
