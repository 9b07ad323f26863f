// A dataset of images that are stored as pixels, all of one size.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/image/image_rows.h"
#include "sources/files/mapped_file.h"

namespace ddptrain {

/// The images of a split. The files stay mapped while the set lives.
struct PixelSet {
  std::vector<MappedFile> files;
  std::vector<const std::uint8_t*> pixels;  // of each image, channel after channel
  std::vector<std::uint8_t> labels;
};

struct PixelOptions {
  DataSection section;
  TransformLists transforms;
  void fields(Fields& f);
};

class PixelDataset final : public Dataset {
 public:
  PixelDataset(std::array<PixelSet, 2> sets, Extent source, std::vector<std::string> classes,
               const TransformLists& transforms, const DataContext& context);

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split split) const override;
  Batch allocate(Split split, std::int64_t rows) const override;
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const override;
  std::vector<std::int64_t> changes_of_shape() const override { return rows_.changes_of_shape(); }
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override;
  std::string sample_name(Split split, std::int64_t index) const override;
  std::int64_t label(Split split, std::int64_t index) const override;
  Preview preview(Split split, std::int64_t index, const Draw& draw) const override;
  std::string digest() const override;

 private:
  const PixelSet& of(Split split) const { return sets_[static_cast<std::size_t>(split)]; }
  Image image(Split split, std::int64_t index) const;

  std::array<PixelSet, 2> sets_;
  Extent source_;
  ImageRows rows_;
  DataFacts facts_;
};

}  // namespace ddptrain
