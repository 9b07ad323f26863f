#include "transforms/pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "transforms/color/normalize.h"
#include "transforms/color/random_erasing.h"
#include "transforms/geometry/resample.h"

namespace ddptrain {
namespace {

Stream draws(const AugmentKey& key, std::size_t index) {
  const auto purpose = mix(key.seed, hash_text("augmentation"));
  return Stream(mix(purpose, index), static_cast<std::uint64_t>(key.epoch),
                static_cast<std::uint64_t>(key.position));
}

std::string text(int channels, int height, int width) {
  return fmt::format("{} x {} x {}", channels, height, width);
}

void check_extent(const Image& image, std::string_view name, const Extent& expected) {
  if (Extent{image.channels, image.height, image.width} == expected) return;
  throw Error(Exit::data,
              "'{}' is {} after its transforms, other samples are {}; let the transforms end in "
              "one size, for example with center_crop",
              name, text(image.channels, image.height, image.width),
              text(expected.channels, expected.height, expected.width));
}

/// The first step that makes floats of bytes; their number where none does.
std::size_t after_bytes(const std::vector<std::unique_ptr<Transform>>& steps) {
  const auto found =
      std::ranges::find_if(steps, [](const auto& step) { return !step->keeps_bytes(); });
  return static_cast<std::size_t>(found - steps.begin());
}

/// What a box becomes in each channel; nothing where the option does not fit.
std::vector<float> fill_of(const RandomErasing& erasing, int channels) {
  const auto& value = erasing.options().value;
  const auto count = static_cast<std::size_t>(channels);
  if (value.size() == 1) return std::vector<float>(count, static_cast<float>(value[0]));
  if (value.size() != count) return {};
  return {value.begin(), value.end()};
}

/// Gives an image the masks and points of its source, where the window puts them.
void take_targets(Image* from, const std::optional<Window>& window, Image& image) {
  image.masks.clear();
  image.points.clear();
  if (from == nullptr) return;
  if (window) return resample_targets(*from, *window, image);
  image.masks = std::move(from->masks);
  image.points = std::move(from->points);
}

}  // namespace

Pipeline::Pipeline(const std::vector<Choice<Transform>>& steps, const PipelineOptions& options)
    : options_(options) {
  for (const auto& step : steps) steps_.push_back(catalog<Transform>().build(step));
  if (steps_.empty()) return;
  if (const auto* last = dynamic_cast<const Normalize*>(steps_.back().get())) {
    closing_ = std::make_unique<Normalize>(*last);
    steps_.pop_back();
  }
  normalize_ = closing_.get();
  for (const auto& step : steps_)
    if (const auto* inner = dynamic_cast<const Normalize*>(step.get())) normalize_ = inner;
}

Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

Extent Pipeline::output(Extent source) const {
  for (const auto& step : steps_) source = step->output(source);
  return source;
}

Extent Pipeline::output() const { return output({options_.channels, 0, 0}); }

void Pipeline::load(const EncodedImage& file, const AugmentKey& key, const Extent& expected,
                    const PixelRow& out, Image* targets) const {
  DecodeOptions decoding;
  decoding.channels = options_.channels;
  decoding.max_pixels = options_.max_pixels;
  EncodedSource source(file, decoding);
  load(source, key, expected, out, targets);
}

void Pipeline::load(SourceImage& source, const AugmentKey& key, const Extent& expected,
                    const PixelRow& out, Image* targets) const {
  thread_local Image decoded, image;  // memory that is used again; nothing is remembered in it
  std::optional<Window> window;
  if (!steps_.empty()) {
    const auto size = source.size();
    Stream random = draws(key, 0);
    window = steps_.front()->window(size.width, size.height, random);
  }
  if (window)
    source.decode_window({*window, options_.mode}, decoded, image);
  else
    source.decode(image);
  take_targets(targets, window, image);
  finish(image, window ? 1 : 0, {source.name(), key, expected, out});
  if (targets == nullptr) return;
  targets->masks = std::move(image.masks);
  targets->points = std::move(image.points);
}

void Pipeline::load(Image&& image, std::string_view name, const AugmentKey& key,
                    const Extent& expected, const PixelRow& out) const {
  finish(image, 0, {name, key, expected, out});
}

Image Pipeline::shown(const float* values, const Extent& extent) const {
  Image image{extent.width, extent.height, extent.channels, {}, {0}};
  const auto scale = normalize_ ? normalize_->scale(image) : ChannelScale{};  // of 0 to 1
  image.floats.clear();
  image.bytes.resize(image.values());
  const auto channels = static_cast<std::size_t>(image.channels);
  const auto pixels = image.values() / channels;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < pixels; ++i) {
      const float unit = (values[c * pixels + i] - scale.offset[c]) / scale.factor[c];
      image.bytes[i * channels + c] =
          static_cast<std::uint8_t>(std::lround(std::clamp(unit, 0.0F, 1.0F) * 255));
    }
  return image;
}

void Pipeline::finish(Image& image, std::size_t next, const Row& row) const {
  if (row.out.bytes != nullptr) return finish_bytes(image, next, row);
  for (std::size_t i = next; i < steps_.size(); ++i) {
    Stream random = draws(row.key, i);
    steps_[i]->apply(image, random);
  }
  check_extent(image, row.name, row.expected);
  const auto order = options_.channels_last ? PixelOrder::hwc : PixelOrder::chw;
  write_pixels(image, closing_ ? closing_->scale(image) : unit_scale(image), order, row.out.floats);
}

std::optional<ByteEnding> Pipeline::byte_ending(int channels) const {
  const auto last = after_bytes(steps_);
  const Image bytes{1, 1, channels, {0, 0, 0, 0}, {}};
  ByteEnding ending{normalize_ ? normalize_->scale(bytes) : unit_scale(bytes), {}, 0};
  if (last == steps_.size()) return ending;
  if (steps_[last].get() != normalize_ || closing_) return {};
  for (auto i = last + 1; i < steps_.size(); ++i) {
    const auto* erasing = dynamic_cast<const RandomErasing*>(steps_[i].get());
    if (erasing == nullptr || erasing->options().noise) return {};
    const auto fill = fill_of(*erasing, channels);
    if (fill.empty() || (!ending.fill.empty() && ending.fill != fill)) return {};
    ending.fill = fill;
    ending.boxes += erasing->options().max_count;
  }
  return ending;
}

void Pipeline::finish_bytes(Image& image, std::size_t next, const Row& row) const {
  const auto last = after_bytes(steps_);
  for (std::size_t i = next; i < last; ++i) {
    Stream random = draws(row.key, i);
    steps_[i]->apply(image, random);
  }
  check_extent(image, row.name, row.expected);
  DDP_CHECK(!image.is_float(), "these steps keep bytes");
  write_bytes(image, options_.channels_last ? PixelOrder::hwc : PixelOrder::chw, row.out.bytes);
  auto* place = row.out.boxes;
  for (auto i = last + 1; i < steps_.size(); ++i) {
    const auto& erasing = dynamic_cast<const RandomErasing&>(*steps_[i]);
    Stream random = draws(row.key, i);
    const auto* end = place + 4 * erasing.options().max_count;
    for (const auto& box : erasing.boxes(image.width, image.height, random))
      for (const int edge : {box.top, box.left, box.top + box.height, box.left + box.width})
        *place++ = edge;
    while (place != end) *place++ = 0;
  }
}

}  // namespace ddptrain
