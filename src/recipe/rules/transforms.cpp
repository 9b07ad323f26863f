// What is done to images: sizes, and what comes before and after normalize.
#include "recipe/rules/transforms.h"

#include "config/complete.h"
#include "config/encode.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

using List = std::vector<Choice<Transform>>;

const std::string kTrain = "data.transforms.train", kValid = "data.transforms.valid";

template <class Claim>
void for_each_list(const RuleContext& rule, Claim claim) {
  claim(kTrain, transforms_of(rule, "train"));
  claim(kValid, transforms_of(rule, "valid"));
}

void images_are_normalized_once(const RuleContext& rule) {
  for_each_list(rule, [&](const std::string& path, const List& list) {
    bool before = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool normalizes = rule.has(list[i], "normalizes");
      if (normalizes && before) rule.error(indexed(path, i), "these images are normalized already");
      before = before || normalizes;
    }
  });
}

/// The last transform that normalizes, with its defaults; empty where none does.
std::string normalization(const RuleContext& rule, const List& list) {
  std::string text;
  for (const auto& each : list)
    if (rule.has(each, "normalizes"))
      text = to_yaml(complete_component(each.node(), each.kind(), rule.catalogs));
  return text;
}

void both_splits_are_normalized_alike(const RuleContext& rule) {
  const auto train = normalization(rule, transforms_of(rule, "train"));
  const auto valid = normalization(rule, transforms_of(rule, "valid"));
  if (train == valid) return;
  if (train.empty() || valid.empty())
    rule.warn(train.empty() ? kTrain : kValid, "{} samples are normalized, and these are not",
              train.empty() ? "validation" : "training");
  else
    rule.warn(kValid, "normalized by other statistics than training samples");
}

void colors_come_before_normalize(const RuleContext& rule) {
  for_each_list(rule, [&](const std::string& path, const List& list) {
    bool normalized = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      normalized = normalized || rule.has(list[i], "normalizes");
      if (normalized && rule.has(list[i], "before_normalize"))
        rule.error(indexed(path, i), "'{}' wants colors in 0 to 1; write it before normalize",
                   list[i].type());
    }
  });
}

void turned_images_get_one_size(const RuleContext& rule) {
  for_each_list(rule, [&](const std::string& path, const List& list) {
    std::optional<std::size_t> grows;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (is_true(rule.value(list[i], "expand"))) grows = i;
      if (size_given(rule, list[i])) grows.reset();
    }
    if (grows)
      rule.error(indexed(path, *grows) + ".expand",
                 "images grow by their angles, and a batch wants one size; write for example "
                 "center_crop after it");
  });
}

void crops_fit_the_image(const RuleContext& rule) {
  for_each_list(rule, [&](const std::string& path, const List& list) {
    WrittenSize size;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto wanted = size_given(rule, list[i]);
      const bool padded =
          is_true(rule.value(list[i], "pad_if_needed")) || rule.is_asked(list[i], "padding");
      if (wanted && rule.has(list[i], "crops") && !padded && !size.holds(*wanted))
        rule.error(indexed(path, i) + ".size",
                   "larger than the images that come here, {}; resize them less, or pad them",
                   size.text());
      size = size_after(rule, list[i], size);
    }
  });
}

constexpr Rule kTransformRules[] = {
    {{"normalize-twice", "Images are normalized once.",
      "The second time takes mean and deviation of colors from what are no colors any more.",
      "data: {transforms: {train: [{type: normalize, preset: imagenet}, {type: normalize, preset: "
      "imagenet}]}}",
      "data: {transforms: {train: [{type: normalize, preset: imagenet}]}}"},
     images_are_normalized_once},
    {{"normalize-alike", "Both splits are normalized alike.",
      "The model is scored on images that look different from all that it has seen.",
      "data: {transforms: {valid: [{type: resize, size: [64, 64]}]}}",
      "data: {transforms: {valid: [{type: resize, size: [64, 64]}, {type: normalize, preset: "
      "imagenet}]}}"},
     both_splits_are_normalized_alike},
    {{"normalize-first", "What changes colors comes before normalize.",
      "It computes with values in 0 to 1 and cuts off what lies outside, half of a normalized "
      "image.",
      "data: {transforms: {train: [{type: normalize, preset: imagenet}, {type: color_jitter, hue: "
      "0.1}]}}",
      "data: {transforms: {train: [{type: color_jitter, hue: 0.1}, {type: normalize, preset: "
      "imagenet}]}}"},
     colors_come_before_normalize},
    {{"picture-size", "Images of a batch have one size.",
      "A turned image that grows so that no corner is cut off, grows by its angle.",
      "data: {transforms: {train: [{type: rotation, degrees: [-10, 10], expand: true}, {type: "
      "normalize, preset: imagenet}]}}",
      "data: {transforms: {train: [{type: rotation, degrees: [-10, 10], expand: true}, {type: "
      "center_crop, size: 64}, {type: normalize, preset: imagenet}]}}"},
     turned_images_get_one_size},
    {{"crop-size", "A crop is not larger than the image.",
      "center_crop would add a black border, and random_crop ends the run.",
      "data: {transforms: {valid: [{type: resize, size: 64}, {type: center_crop, size: 72}, {type: "
      "normalize, preset: imagenet}]}}",
      "data: {transforms: {valid: [{type: resize, size: 72}, {type: center_crop, size: 64}, {type: "
      "normalize, preset: imagenet}]}}"},
     crops_fit_the_image},
};

}  // namespace

std::vector<Rule> transform_rules() {
  return {std::begin(kTransformRules), std::end(kTransformRules)};
}

}  // namespace ddptrain
