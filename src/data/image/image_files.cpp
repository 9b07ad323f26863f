#include "data/image/image_files.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "config/decode.h"
#include "data/image/usual_transforms.h"
#include "data/preview.h"

namespace ddptrain {
namespace {

std::size_t side(Split split) { return static_cast<std::size_t>(split); }

EncodedImage encoded(const std::string& bytes, const std::string& name) {
  return {{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name};
}

}  // namespace

ImageFiles::ImageFiles(ImageList list, const ImageFileOptions& options, const DataContext& context)
    : list_(std::move(list)),
      max_pixels_(options.max_pixels),
      rows_(transforms_for(options.transforms), options.reading(), context,
            [this](Split split) { return source_size(split); }) {
  facts_.classes = list_.classes;
  const auto& extent = rows_.extent(Split::train);
  facts_.sample = {extent.channels, extent.height, extent.width};
}

TransformLists ImageFiles::transforms_for(const TransformLists& written) {
  if (!written.train.empty() || !written.valid.empty()) return written;
  std::vector<std::string> paths;
  for (const auto& files : list_.files)
    for (const auto& each : files) paths.push_back(full_path(each));
  const auto usual = usual_transforms_for(paths);
  if (usual.is_null()) return written;
  chosen_.set("transforms", usual);
  auto lists = decode<TransformLists>(usual);
  lists.progressive = written.progressive;
  return lists;
}

std::int64_t ImageFiles::size(Split split) const {
  return static_cast<std::int64_t>(list_.files[side(split)].size());
}

Batch ImageFiles::allocate(Split split, std::int64_t rows) const {
  return with_targets(rows_.allocate(split, rows));
}

Batch ImageFiles::allocate_train(std::int64_t epoch, std::int64_t rows) const {
  return with_targets(rows_.allocate_train(epoch, rows));
}

Batch ImageFiles::with_targets(Batch batch) const {
  const auto classes = facts_.class_count();
  if (list_.multi_label) batch.targets[0] = at::empty({batch.rows, classes}, at::kFloat);
  return batch;
}

bool ImageFiles::load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
                      std::int64_t row) const {
  const auto& wanted = file(split, index);
  set_target(wanted, batch, row);
  const auto path = full_path(wanted);
  std::string bytes;
  return rows_.guarded([&] { bytes = read_text(path); }) &&
         rows_.load(split, encoded(bytes, path), draw, batch, row);
}

void ImageFiles::set_target(const ImageFile& file, Batch& batch, std::int64_t row) const {
  auto& target = batch.targets[0];
  if (!list_.multi_label) {
    target.mutable_data_ptr<std::int64_t>()[row] = file.label;
    return;
  }
  float* each = target.mutable_data_ptr<float>() + row * facts_.class_count();
  std::fill_n(each, facts_.class_count(), 0.0F);
  for (const auto label : file.labels) each[label] = 1;
}

std::string ImageFiles::sample_name(Split split, std::int64_t index) const {
  return full_path(file(split, index));
}

std::int64_t ImageFiles::label(Split split, std::int64_t index) const {
  return file(split, index).label;
}

std::vector<std::int64_t> ImageFiles::labels(Split split, std::int64_t index) const {
  return list_.multi_label ? file(split, index).labels : Dataset::labels(split, index);
}

std::vector<double> ImageFiles::weights(Split split) const { return list_.weights[side(split)]; }

Preview ImageFiles::preview(Split split, std::int64_t index, const Draw& draw) const {
  auto shown = Dataset::preview(split, index, draw);
  auto batch = allocate(split, 1);
  if (load(split, index, draw, batch, 0)) shown.image = rows_.image(split, batch, 0);
  return shown;
}

std::string ImageFiles::digest() const {
  Digest digest(DigestKind::sha256);
  for (const auto& files : list_.files)
    for (const auto& each : files) {
      std::error_code unknown;
      const auto bytes = std::filesystem::file_size(full_path(each), unknown);
      digest.add(each.path + '\n' + std::to_string(unknown ? 0 : bytes) + ' ' +
                 std::to_string(each.label) + '\n');
      for (const auto label : each.labels) digest.add(std::to_string(label) + ' ');
    }
  for (const auto& name : list_.classes) digest.add(name + '\n');
  return digest.finish();
}

const ImageFile& ImageFiles::file(Split split, std::int64_t index) const {
  return list_.files[side(split)].at(static_cast<std::size_t>(index));
}

std::string ImageFiles::full_path(const ImageFile& file) const {
  return (std::filesystem::path(list_.root) / file.path).string();
}

// Of the first image: where the transforms keep sizes, all must be of one size.
Extent ImageFiles::source_size(Split split) const {
  const auto path = sample_name(split, 0);
  const auto bytes = read_text(path);
  const auto size = image_size(encoded(bytes, path), {.max_pixels = max_pixels_});
  return {3, size.height, size.width};
}

}  // namespace ddptrain
