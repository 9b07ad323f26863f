// A dataset of image files, whoever listed them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/image_rows.h"

namespace ddptrain {

struct ImageFile {
  std::string path;  // relative to the list's root, or absolute
  std::int64_t label = 0;
};

struct ImageList {
  std::string root;
  std::vector<std::string> classes;
  std::array<std::vector<ImageFile>, 2> files;  // by split
  std::array<std::vector<double>, 2> weights;   // by split; empty: all equal
};

/// Divides the training files of a list into train and valid.
void hold_out(ImageList& list, const struct ValidSpec& spec);

class ImageFiles final : public Dataset {
 public:
  ImageFiles(ImageList list, const ImageFileOptions& options, const DataContext& context);

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split split) const override;
  Batch allocate(Split split, std::int64_t rows) const override;
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override;
  std::string sample_name(Split split, std::int64_t index) const override;
  std::int64_t label(Split split, std::int64_t index) const override;
  std::vector<double> weights(Split split) const override;
  Preview preview(Split split, std::int64_t index, const Draw& draw) const override;
  std::string digest() const override;

 private:
  const ImageFile& file(Split split, std::int64_t index) const;
  std::string full_path(const ImageFile& file) const;
  Extent source_size(Split split) const;

  ImageList list_;
  ImageRows rows_;
  DataFacts facts_;
};

}  // namespace ddptrain
