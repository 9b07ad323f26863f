// A dataset of image files, of a folder or of a list.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/image/image_rows.h"
#include "data/targets/image_target.h"
#include "sources/image/image_list.h"
#include "sources/image/stored_image.h"

namespace ddptrain {

class ImageFiles final : public Dataset {
 public:
  /// Targets are labels, unless `target` says otherwise.
  ImageFiles(ImageList list, const ImageFileOptions& options, const DataContext& context,
             std::unique_ptr<ImageTarget> target = nullptr);

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split split) const override;
  Batch allocate(Split split, std::int64_t rows) const override;
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const override;
  std::vector<std::int64_t> changes_of_shape() const override { return rows_.changes_of_shape(); }
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override;
  std::string sample_name(Split split, std::int64_t index) const override;
  std::int64_t label(Split split, std::int64_t index) const override;
  bool has_target(Split split, std::int64_t index) const override;
  std::vector<std::int64_t> labels(Split split, std::int64_t index) const override;
  std::vector<double> weights(Split split) const override;
  std::int64_t shard(Split split, std::int64_t index) const override;
  void announce(Split split, std::span<const std::int64_t> order) const override;
  Preview preview(Split split, std::int64_t index, const Draw& draw) const override;
  std::string state() const override { return target_->state(); }
  const PredictionForm* prediction_form() const override { return target_->prediction_form(); }
  at::Tensor aligned(const at::Tensor& predictions, const Batch& from,
                     const Batch& to) const override;
  std::string digest() const override;
  Node chosen() const override { return chosen_; }
  /// The bytes of an image's file.
  std::string file_bytes(Split split, std::int64_t index) const;

 private:
  /// As written; where nothing is and sizes differ, the usual ones, which are then `chosen`.
  TransformLists transforms_for(const TransformLists& written);
  /// What the options ask for and the device has; `auto` is then `chosen`.
  JpegDecoder device_decoder(DecodeDevice wanted, const ImageDevice& device);
  DecodeOptions decoding(Split split, const Draw& draw) const;
  const ImageFile& file(Split split, std::int64_t index) const;
  std::string full_path(const ImageFile& file) const;
  Extent source_size(Split split, bool skips_bad) const;
  Batch with_targets(Batch batch) const;
  /// Masks and points of a file, its corners behind the points; what of them came out of the
  /// transforms becomes row `row` of the targets.
  Image targets_in(const ImageFile& file, ImageSize size) const;
  void write_targets(const ImageFile& file, Image moved, Batch& batch, std::int64_t row) const;

  ImageList list_;
  std::unique_ptr<ImageTarget> target_;
  std::int64_t max_pixels_;                        // of an image that is decoded
  std::unique_ptr<const LazyPixelCache> decoded_;  // may be null
  Node chosen_ = Node::map();
  JpegDecoder device_decoder_;  // of training images; empty: libjpeg
  ImageRows rows_;
  DataFacts facts_;
};

}  // namespace ddptrain
