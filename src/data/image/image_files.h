// A dataset of image files, whoever listed them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/image/image_list.h"
#include "data/image/image_rows.h"

namespace ddptrain {

class ImageFiles final : public Dataset {
 public:
  ImageFiles(ImageList list, const ImageFileOptions& options, const DataContext& context);

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split split) const override;
  /// Targets are labels int64 [N], or float32 [N, classes] of zeros and ones where images have
  /// any number of labels.
  Batch allocate(Split split, std::int64_t rows) const override;
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const override;
  std::vector<std::int64_t> changes_of_shape() const override { return rows_.changes_of_shape(); }
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override;
  std::string sample_name(Split split, std::int64_t index) const override;
  std::int64_t label(Split split, std::int64_t index) const override;
  std::vector<std::int64_t> labels(Split split, std::int64_t index) const override;
  std::vector<double> weights(Split split) const override;
  Preview preview(Split split, std::int64_t index, const Draw& draw) const override;
  std::string digest() const override;
  Node chosen() const override { return chosen_; }

 private:
  /// As written; where nothing is and sizes differ, the usual ones, which are then `chosen`.
  TransformLists transforms_for(const TransformLists& written);
  const ImageFile& file(Split split, std::int64_t index) const;
  std::string full_path(const ImageFile& file) const;
  Extent source_size(Split split) const;
  Batch with_targets(Batch batch) const;
  void set_target(const ImageFile& file, Batch& batch, std::int64_t row) const;

  ImageList list_;
  std::int64_t max_pixels_;  // of an image that is decoded
  Node chosen_ = Node::map();
  ImageRows rows_;
  DataFacts facts_;
};

}  // namespace ddptrain
