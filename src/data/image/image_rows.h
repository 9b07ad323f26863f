// Images into the rows of a batch: float32 [N, C, H, W], or uint8 with how a device makes floats of
// them (Batch::pixels), and labels int64 [N].
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/image/image_options.h"
#include "data/image/normalize_images.h"
#include "transforms/pipeline/pipeline.h"

namespace ddptrain {

/// The pipelines of both splits and the size that comes out of each.
class ImageRows {
 public:
  struct NamedImage {
    Image image;
    std::string_view name;
  };
  /// `source` gives the size of a split's images before transforms; it is asked only where the
  /// transforms do not fix the size.
  using Source = std::function<Extent(Split)>;
  ImageRows(const TransformLists& lists, const PipelineOptions& options, const DataContext& context,
            const Source& source);

  const Extent& extent(Split split) const { return of(split).extent; }
  Batch allocate(Split split, std::int64_t rows) const;
  /// Rows of training images of an epoch, whose size may change over the run.
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const;
  /// The epochs with which other sizes begin.
  std::vector<std::int64_t> changes_of_shape() const;

  /// Where an image is written.
  struct BatchRow {
    Batch& batch;
    std::int64_t row;
  };

  /// The size of the images that are drawn so.
  const Extent& extent(Split split, const Draw& draw) const { return of(split, draw).extent; }
  /// Both write a row of a batch; false when the image is bad and is to be left out.
  /// `targets` are masks and points of the file's image, which move with its pixels, or null.
  bool load(Split split, SourceImage& source, const Draw& draw, const BatchRow& into,
            Image* targets = nullptr) const;
  bool load(Split split, NamedImage&& source, const Draw& draw, const BatchRow& into) const;
  /// A loaded row as a person would see it: bytes, without normalization.
  Image image(Split split, const Batch& batch, std::int64_t row) const;
  /// Runs `read` under the same policy: logs what it throws about data and returns false.
  bool guarded(const std::function<void()>& read) const;

 private:
  struct Side {
    Pipeline pipeline;
    Extent extent;
    std::shared_ptr<const PixelScale> scale = {};  // of rows that are bytes
    std::int64_t boxes = 0;                        // of each of them
  };
  /// Training images up to an epoch.
  struct Stage {
    std::int64_t end;
    Side side;
  };
  const Side& of(Split split) const { return sides_[static_cast<std::size_t>(split)]; }
  const Side& train_side(std::int64_t epoch) const;
  const Side& of(Split split, const Draw& draw) const;
  void add_stages(const TransformLists& lists, const PipelineOptions& options,
                  const DataContext& context, const Source& source);
  Batch allocate(const Side& side, std::int64_t rows) const;
  Side make_side(const std::vector<Choice<Transform>>& steps, PipelineOptions options, Split split,
                 const Source& source) const;

  bool channels_last_;
  bool as_bytes_;  // DataContext
  bool skip_bad_;
  std::array<Side, 2> sides_;
  std::vector<Stage> stages_;  // before what `train` says
};

}  // namespace ddptrain
