// From a file's bytes to one row of a batch: decode, transform, normalize. Built once from a
// recipe's list, then used by many threads at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "config/choice.h"
#include "transforms/codecs/decode.h"
#include "transforms/codecs/source_image.h"
#include "transforms/codecs/write.h"
#include "transforms/transform.h"

namespace ddptrain {

class Normalize;

/// What the draws of a sample depend on.
struct AugmentKey {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t position = 0;  // in the epoch's global order
};

/// How a pipeline reads and writes.
struct PipelineOptions {
  DecodeMode mode = DecodeMode::exact;  // fast for training; evaluation is always exact
  int channels = 3;                     // of decoded files: 3, or 1 for gray
  bool channels_last = false;           // rows are written (H, W, C) instead of (C, H, W)
  std::int64_t max_pixels = default_max_pixels;
};

/// What remains to be done where a pipeline writes bytes.
struct ByteEnding {
  ChannelScale scale;       // of bytes
  std::vector<float> fill;  // of each channel, what boxes become afterwards; empty: there are none
  std::int64_t boxes = 0;   // most of an image
};

/// One row of a batch: channels x height x width floats; or as many bytes, and where the ending has
/// boxes, so many times top, left, bottom and right, zeros where fewer are drawn.
struct PixelRow {
  PixelRow(float* values) : floats(values) {}
  PixelRow(std::uint8_t* pixels, std::int32_t* places) : bytes(pixels), boxes(places) {}
  float* floats = nullptr;
  std::uint8_t* bytes = nullptr;
  std::int32_t* boxes = nullptr;
};

class Pipeline {
 public:
  explicit Pipeline(const std::vector<Choice<Transform>>& steps,
                    const PipelineOptions& options = {});
  ~Pipeline();
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;

  /// The size of what comes out for sources of a size; not fixed() when it varies with the source.
  Extent output(Extent source) const;
  /// The same for sources of any size.
  Extent output() const;

  /// Of images with so many channels; nothing where a step wants or makes floats before the end
  /// that a device can repeat: normalize, then boxes that are erased with one value.
  std::optional<ByteEnding> byte_ending(int channels) const;

  /// Decodes, transforms and writes a row to `out`, bytes only with a byte_ending(). An image that
  /// comes out in another size than `expected` is an Error that names the file and both sizes. Safe
  /// to call from many threads; each keeps its own working memory. The masks and points of
  /// `targets`, which may be null, belong to the source's pixels and become those of the row.
  void load(const EncodedImage& file, const AugmentKey& key, const Extent& expected,
            const PixelRow& out, Image* targets = nullptr) const;
  /// The same of an image with decoding options of its own.
  void load(SourceImage& source, const AugmentKey& key, const Extent& expected, const PixelRow& out,
            Image* targets = nullptr) const;
  /// The same for pixels that need no decoding (CIFAR, MNIST); `image` is used up.
  void load(Image&& image, std::string_view name, const AugmentKey& key, const Extent& expected,
            const PixelRow& out) const;

  /// What `load` wrote, channel after channel, as a person would see it: bytes, the normalization
  /// of the list undone.
  Image shown(const float* values, const Extent& extent) const;

 private:
  struct Row {
    std::string_view name;
    const AugmentKey& key;
    const Extent& expected;
    const PixelRow& out;
  };
  /// The steps from `next` on, then the row is written.
  void finish(Image& image, std::size_t next, const Row& row) const;
  void finish_bytes(Image& image, std::size_t next, const Row& row) const;

  PipelineOptions options_;
  std::vector<std::unique_ptr<Transform>> steps_;  // without a closing normalize
  std::unique_ptr<Normalize> closing_;             // fused with writing; may be null
  const Normalize* normalize_ = nullptr;           // the list's last, wherever it stands
};

}  // namespace ddptrain
