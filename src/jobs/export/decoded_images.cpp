#include "jobs/export/decoded_images.h"

#include "base/error.h"
#include "config/decode.h"
#include "data/image/image_options.h"
#include "jobs/given_images.h"
#include "train/build/build.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

bool normalizes(const Choice<Transform>& step) {
  return catalog<Transform>().find(step.type())->has("normalizes");
}

TransformLists lists_of(const Recipe& recipe) {
  const auto* transforms = recipe.data.node().find("transforms");
  return transforms && transforms->is_map() ? decode<TransformLists>(*transforms)
                                            : TransformLists{};
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(
      Exit::recipe,
      "--with-preprocessing: {}; without it, a graph takes images after data.transforms.valid",
      why);
}

std::vector<SizeChange> changes_of(const Choice<Transform>& step) {
  const auto built = catalog<Transform>().build(step);
  const auto* changing = dynamic_cast<const ChangesSize*>(built.get());
  if (!changing) refuse("'" + step.type() + "' in data.transforms.valid has no form in a graph");
  const auto changes = changing->size_changes();
  bool plain = !changes.empty();
  for (const auto& change : changes)
    plain = plain && change.antialias && change.interpolation != Interpolation::nearest;
  if (!plain)
    refuse(
        "'" + step.type() +
        "' in data.transforms.valid has no form in a graph with these options; 'interpolation: "
        "bilinear' or 'bicubic' with antialias, and 'method: crop' or 'squish' in the middle have");
  return changes;
}

/// The recipe with no transform in data.transforms.valid but a closing normalize.
Recipe without_changes(Recipe recipe) {
  auto data = recipe.data.node();
  auto* transforms = data.find("transforms");
  if (!transforms || !transforms->is_map()) return recipe;
  const auto steps = lists_of(recipe).valid;
  std::vector<Node> kept;
  if (!steps.empty() && normalizes(steps.back())) kept.push_back(steps.back().node());
  transforms->set("valid", Node::list(std::move(kept)));
  recipe.data.choose(std::move(data));
  return recipe;
}

}  // namespace

std::vector<SizeChange> size_changes_of(const Recipe& recipe, const Extent& result) {
  using Kind = SizeChange::Kind;
  const auto steps = lists_of(recipe).valid;
  std::vector<SizeChange> all;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (i + 1 < steps.size() || !normalizes(steps[i]))
      for (const auto& change : changes_of(steps[i])) all.push_back(change);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind != Kind::resize_side) continue;
    if (i + 1 == all.size()) {
      all[i].kind = Kind::resize;
      all[i].height = result.height;
      all[i].width = result.width;
    } else if (all[i + 1].kind != Kind::center_crop) {
      refuse("what follows a 'resize' of one side in data.transforms.valid is to be 'center_crop'");
    }
  }
  return all;
}

DecodedImages::DecodedImages(const Recipe& recipe, const SavedData& saved, const Dataset& data)
    : recipe_(without_changes(recipe)), saved_(saved), data_(data) {
  const auto& kind = dataset_of(recipe);
  if (!kind.has("gives_images")) refuse("this run reads no images");
  if (trait_argument(kind, "pixels"))
    pixels_ = build_data(recipe_, saved_, {}, {.takes_bytes = true});
}

Batch DecodedImages::image(Split split, std::int64_t index) const {
  std::unique_ptr<Dataset> file;
  if (!pixels_) file = open_images(recipe_, saved_, {data_.sample_name(split, index)}, true);
  const auto& from = pixels_ ? *pixels_ : *file;
  Draw draw;
  draw.plain = pixels_ && split == Split::train;
  auto batch = from.allocate(pixels_ ? split : Split::valid, 1);
  from.load(pixels_ ? split : Split::valid, pixels_ ? index : 0, draw, batch, 0);
  DDP_CHECK(batch.pixels, "nothing but a closing normalize makes floats of bytes");
  batch.inputs[0] = batch.inputs[0].permute({0, 2, 3, 1}).contiguous();
  return batch;
}

}  // namespace ddptrain
