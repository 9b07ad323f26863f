#include "data/image/pixel_dataset.h"

#include <algorithm>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/output/log.h"
#include "data/preview.h"

namespace ddptrain {
namespace {

std::string text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Every label must be a class.
void check_labels(const PixelSet& set, std::size_t classes) {
  for (std::size_t i = 0; i < set.labels.size(); ++i)
    if (set.labels[i] >= classes)
      throw Error(Exit::data, "'{}': sample {} of its split has label {}, and there are {} classes",
                  set.files.back().path(), i, set.labels[i], classes);
}

/// Gives labels the numbers of the known classes, whose names are returned.
std::vector<std::string> number_pixels(std::array<PixelSet, 2>& sets,
                                       const std::vector<std::string>& own,
                                       const KnownClasses& known) {
  if (!known.from_checkpoint() || known.names == own) return own;
  ClassNumbers numbers(known, own);
  for (auto& set : sets) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < set.labels.size(); ++i) {
      const auto number = numbers.of(own[set.labels[i]], set.files.back().path());
      if (!number) continue;
      set.pixels[kept] = set.pixels[i];
      set.labels[kept++] = static_cast<std::uint8_t>(*number);
    }
    set.pixels.resize(kept);
    set.labels.resize(kept);
  }
  if (const auto note = numbers.left_out(); !note.empty()) log::warning(note);
  return numbers.names();
}

}  // namespace

void PixelOptions::fields(Fields& f) {
  f("transforms", transforms, {.doc = "What is done to images."});
  section.fields(f);
}

PixelDataset::PixelDataset(std::array<PixelSet, 2> sets, Extent source,
                           std::vector<std::string> classes, const TransformLists& transforms,
                           const DataContext& context)
    : sets_(std::move(sets)),
      source_(source),
      rows_(transforms, {.channels = source.channels}, context,
            [source](Split) { return source; }) {
  for (const auto& set : sets_) check_labels(set, classes.size());
  facts_.classes = number_pixels(sets_, classes, context.classes);
  const auto& extent = rows_.extent(Split::train);
  facts_.sample = {extent.channels, extent.height, extent.width};
}

std::int64_t PixelDataset::size(Split split) const {
  return static_cast<std::int64_t>(of(split).pixels.size());
}

Batch PixelDataset::allocate(Split split, std::int64_t rows) const {
  return rows_.allocate(split, rows);
}

Batch PixelDataset::allocate_train(std::int64_t epoch, std::int64_t rows) const {
  return rows_.allocate_train(epoch, rows);
}

bool PixelDataset::load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
                        std::int64_t row) const {
  batch.targets[0].mutable_data_ptr<std::int64_t>()[row] = label(split, index);
  const auto name = sample_name(split, index);
  return rows_.load(split, ImageRows::NamedImage{image(split, index), name}, draw, {batch, row});
}

std::string PixelDataset::sample_name(Split split, std::int64_t index) const {
  return (split == Split::train ? "train/" : "valid/") + std::to_string(index);
}

std::int64_t PixelDataset::label(Split split, std::int64_t index) const {
  return of(split).labels.at(static_cast<std::size_t>(index));
}

Preview PixelDataset::preview(Split split, std::int64_t index, const Draw& draw) const {
  auto shown = Dataset::preview(split, index, draw);
  auto batch = allocate(split, 1);
  if (load(split, index, draw, batch, 0)) shown.image = rows_.image(split, batch, 0);
  return shown;
}

std::string PixelDataset::digest() const {
  Digest digest(DigestKind::sha256);
  for (const auto& set : sets_) {
    digest.add(std::to_string(set.pixels.size()) + "\n");
    digest.add(text(set.labels));
  }
  return digest.finish();
}

// Channel after channel as stored, to channels of a pixel side by side.
Image PixelDataset::image(Split split, std::int64_t index) const {
  const auto* stored = of(split).pixels.at(static_cast<std::size_t>(index));
  Image image;
  image.width = source_.width;
  image.height = source_.height;
  image.channels = source_.channels;
  image.bytes.resize(image.values());
  const auto channels = static_cast<std::size_t>(source_.channels);
  const auto pixels = image.values() / channels;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < pixels; ++i) image.bytes[i * channels + c] = stored[c * pixels + i];
  return image;
}

}  // namespace ddptrain
