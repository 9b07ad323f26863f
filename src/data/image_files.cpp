#include "data/image_files.h"

#include <filesystem>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "data/preview.h"
#include "data/split.h"

namespace ddptrain {
namespace {

std::size_t side(Split split) { return static_cast<std::size_t>(split); }

EncodedImage encoded(const std::string& bytes, const std::string& name) {
  return {{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name};
}

template <class T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<std::int64_t>& indices) {
  std::vector<T> some;
  some.reserve(indices.size());
  for (const auto i : indices) some.push_back(all[static_cast<std::size_t>(i)]);
  return some;
}

}  // namespace

void hold_out(ImageList& list, const ValidSpec& spec) {
  const auto all = std::move(list.files[0]);
  const auto weights = std::move(list.weights[0]);
  const auto parts = split_samples(static_cast<std::int64_t>(all.size()), spec);
  list.files = {chosen(all, parts.train), chosen(all, parts.valid)};
  if (!weights.empty()) list.weights = {chosen(weights, parts.train), chosen(weights, parts.valid)};
  if (list.files[1].empty())
    throw Error(Exit::data, "data.valid.fraction leaves no sample of " +
                                std::to_string(all.size()) + " for validation");
}

ImageFiles::ImageFiles(ImageList list, const ImageFileOptions& options, const DataContext& context)
    : list_(std::move(list)),
      rows_(options.transforms, {.mode = options.decode}, context,
            [this](Split split) { return source_size(split); }) {
  facts_.classes = list_.classes;
  const auto& extent = rows_.extent(Split::train);
  facts_.sample = {extent.channels, extent.height, extent.width};
}

std::int64_t ImageFiles::size(Split split) const {
  return static_cast<std::int64_t>(list_.files[side(split)].size());
}

Batch ImageFiles::allocate(Split split, std::int64_t rows) const {
  return rows_.allocate(split, rows);
}

bool ImageFiles::load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
                      std::int64_t row) const {
  const auto& wanted = file(split, index);
  batch.targets[0].mutable_data_ptr<std::int64_t>()[row] = wanted.label;
  const auto path = full_path(wanted);
  std::string bytes;
  return rows_.guarded([&] { bytes = read_text(path); }) &&
         rows_.load(split, encoded(bytes, path), draw, batch, row);
}

std::string ImageFiles::sample_name(Split split, std::int64_t index) const {
  return full_path(file(split, index));
}

std::int64_t ImageFiles::label(Split split, std::int64_t index) const {
  return file(split, index).label;
}

std::vector<double> ImageFiles::weights(Split split) const { return list_.weights[side(split)]; }

Preview ImageFiles::preview(Split split, std::int64_t index, const Draw& draw) const {
  auto shown = Dataset::preview(split, index, draw);
  auto batch = allocate(split, 1);
  if (load(split, index, draw, batch, 0)) shown.picture = rows_.picture(split, batch, 0);
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

// Of the first picture: where the transforms keep sizes, all must be of one size.
Extent ImageFiles::source_size(Split split) const {
  const auto path = sample_name(split, 0);
  const auto bytes = read_text(path);
  const auto size = image_size(encoded(bytes, path));
  return {3, size.height, size.width};
}

}  // namespace ddptrain
