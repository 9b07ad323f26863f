#include "data/image/image_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/output/log.h"
#include "base/text.h"
#include "config/decode.h"
#include "data/image/usual_transforms.h"
#include "data/preview.h"
#include "data/targets/alignment.h"
#include "data/targets/label_target.h"
#include "sources/remote/address.h"

namespace ddptrain {
namespace {

std::size_t side(Split split) { return static_cast<std::size_t>(split); }

EncodedImage encoded(const std::string& bytes, const std::string& name) {
  return {{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name};
}

std::unique_ptr<ImageTarget> labels_of(const ImageList& list) {
  return list.multi_label ? labels_target(std::ssize(list.classes)) : label_target();
}

/// Equal for the same images of this machine or a store, in any split.
std::string name_of_images(const ImageList& list) {
  std::vector<std::string_view> paths;
  for (const auto& files : list.files)
    for (const auto& each : files) paths.emplace_back(each.path);
  std::sort(paths.begin(), paths.end());
  Digest digest(DigestKind::sha256);
  digest.add((is_address(list.root) ? list.root : std::filesystem::absolute(list.root).string()));
  for (const auto path : paths) (digest.add("\n"), digest.add(path));
  return digest.finish();
}

/// What the options ask for, or none. Images of others are read once.
std::unique_ptr<const LazyPixelCache> decoded_cache(const ImageList& list,
                                                    const DecodedCacheSpec& options,
                                                    const DataContext& context) {
  if (!options.decoded || !context.images.empty()) return nullptr;
  const auto folder = options.folder.value_or(default_pixel_cache());
  if (options.folder && !is_writable(folder))
    throw Error(Exit::data, Option{"data.cache.folder"},
                "cannot write in '{}'; name another folder", folder);
  const auto images = std::ssize(list.files[0]) + std::ssize(list.files[1]);
  return std::make_unique<const LazyPixelCache>(
      PixelCache::Options{folder, name_of_images(list), images, options.size.bytes});
}

/// A row that shows a whole image of its own size.
ImagePlace whole_row(const at::Tensor& pixels) {
  ImagePlace place;
  place.width = place.row_width = static_cast<double>(pixels.size(3));
  place.height = place.row_height = static_cast<double>(pixels.size(2));
  place.corners = place.own();
  return place;
}

}  // namespace

ImageFiles::ImageFiles(ImageList list, const ImageFileOptions& options, const DataContext& context,
                       std::unique_ptr<ImageTarget> target)
    : list_(std::move(list)),
      target_(target ? std::move(target) : labels_of(list_)),
      max_pixels_(options.max_pixels),
      decoded_(decoded_cache(list_, options.cache, context)),
      device_decoder_(device_decoder(options.decode_device, context.device)),
      rows_(transforms_for(options.transforms), options.reading(), context,
            [this, skips = context.skip_bad_samples](Split split) {
              return source_size(split, skips);
            }) {
  facts_.classes = list_.classes;
  const auto& extent = rows_.extent(Split::train);
  facts_.sample = {extent.channels, extent.height, extent.width};
  target_->tell(facts_);
}

TransformLists ImageFiles::transforms_for(const TransformLists& written) {
  if (!written.train.empty() || !written.valid.empty()) return written;
  std::vector<std::string> paths;
  for (const auto& files : list_.files)
    for (const auto& each : files)
      if (each.shard <= 0) paths.push_back(full_path(each));  // one shard says enough
  const auto usual = usual_transforms_for(*list_.file_system, paths);
  if (usual.is_null()) return written;
  chosen_.set("transforms", usual);
  auto lists = decode<TransformLists>(usual);
  lists.progressive = written.progressive;
  return lists;
}

JpegDecoder ImageFiles::device_decoder(DecodeDevice wanted, const ImageDevice& device) {
  if (wanted == DecodeDevice::cpu || !device.jpeg_decoder) return {};
  JpegDecoder decoder;
  try {
    decoder = device.jpeg_decoder();
  } catch (const Error& error) {
    if (wanted == DecodeDevice::gpu)
      throw Error(error.code(), Option{"data.decode_device"}, "{}", error.message());
    log::info("data.decode_device: auto: images are decoded on the CPU; {}", error.message());
  }
  if (wanted == DecodeDevice::automatic)
    chosen_.set("decode_device", Node::scalar(decoder ? "gpu" : "cpu"));
  return decoder;
}

/// Held-out images, and training images that are read as those, are libjpeg's.
DecodeOptions ImageFiles::decoding(Split split, const Draw& draw) const {
  DecodeOptions options{.max_pixels = max_pixels_};
  if (device_decoder_ && split == Split::train && !draw.plain) options.jpeg = &device_decoder_;
  return options;
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
  const auto& pixels = batch.inputs[0];
  const Extent extent{static_cast<int>(pixels.size(1)), static_cast<int>(pixels.size(2)),
                      static_cast<int>(pixels.size(3))};
  batch.targets[0] = target_->allocate(batch.rows, extent);
  if (target_->in_image())
    batch.places.assign(static_cast<std::size_t>(batch.rows), whole_row(pixels));
  return batch;
}

bool ImageFiles::load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
                      std::int64_t row) const {
  const auto& wanted = file(split, index);
  const auto path = full_path(wanted);
  const bool in_image = target_->in_image();
  if (!in_image) target_->write(wanted, {}, batch.targets[0], row);
  bool good = false;
  Image targets;
  const auto read = [&] {
    StoredImage source({*list_.file_system, path}, decoding(split, draw),
                       decoded_ ? decoded_->cache() : nullptr);
    if (in_image) targets = targets_in(wanted, source.size());
    good = rows_.load(split, source, draw, {batch, row}, in_image ? &targets : nullptr);
  };
  rows_.guarded(read);
  if (good && in_image) write_targets(wanted, std::move(targets), batch, row);
  return good;
}

Image ImageFiles::targets_in(const ImageFile& file, ImageSize size) const {
  Image targets;
  targets.width = size.width;
  targets.height = size.height;
  target_->read(file, list_.root, size, targets);
  for (const auto& [x, y] : ImagePlace{double(size.width), double(size.height)}.own())
    targets.points.push_back({x, y});
  return targets;
}

void ImageFiles::write_targets(const ImageFile& file, Image moved, Batch& batch,
                               std::int64_t row) const {
  auto& place = batch.places.at(static_cast<std::size_t>(row));
  place.width = moved.width;
  place.height = moved.height;
  const auto first = moved.points.size() - place.corners.size();
  for (std::size_t i = 0; i < place.corners.size(); ++i)
    place.corners[i] = {moved.points[first + i].x, moved.points[first + i].y};
  moved.points.resize(first);
  moved.width = static_cast<int>(place.row_width);
  moved.height = static_cast<int>(place.row_height);
  target_->write(file, moved, batch.targets[0], row);
}

at::Tensor ImageFiles::aligned(const at::Tensor& predictions, const Batch& from,
                               const Batch& to) const {
  if (facts_.mask) return aligned_pixels(predictions, from.places, to.places);
  if (facts_.points > 0) return aligned_points(predictions, from.places, to.places);
  return predictions;
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

bool ImageFiles::has_target(Split split, std::int64_t index) const {
  const auto& numbers = file(split, index).numbers;
  return numbers.empty() ||
         std::any_of(numbers.begin(), numbers.end(), [](double n) { return !std::isnan(n); });
}

std::vector<double> ImageFiles::weights(Split split) const { return list_.weights[side(split)]; }

std::int64_t ImageFiles::shard(Split split, std::int64_t index) const {
  return file(split, index).shard;
}

void ImageFiles::announce(Split split, std::span<const std::int64_t> order) const {
  if (list_.shards.empty()) return;
  std::vector<std::string> shards;
  for (const auto& name : list_.shards)
    shards.push_back((std::filesystem::path(list_.root) / name).string());
  std::vector<std::int32_t> reads;
  reads.reserve(order.size());
  for (const auto index : order) reads.push_back(file(split, index).shard);
  list_.file_system->announce(static_cast<int>(split), shards, reads);
}

Preview ImageFiles::preview(Split split, std::int64_t index, const Draw& draw) const {
  auto shown = Dataset::preview(split, index, draw);
  auto batch = allocate(split, 1);
  if (!load(split, index, draw, batch, 0)) return shown;
  shown.image = rows_.image(split, batch, 0);
  target_->show(batch.targets[0], shown);
  return shown;
}

std::string ImageFiles::digest() const {
  Digest digest(DigestKind::sha256);
  for (const auto& files : list_.files)
    for (const auto& each : files) {
      const auto bytes = list_.file_system->info(full_path(each)).size;
      digest.add(fmt::format("{}\n{} {}\n", each.path, bytes, each.label));
      for (const auto label : each.labels) digest.add(fmt::format("{} ", label));
      for (const auto value : each.numbers) digest.add(format_number(value) + ' ');
      if (!each.target.empty()) digest.add(each.target + '\n');
    }
  for (const auto& name : list_.classes) digest.add(name + '\n');
  return digest.finish();
}

std::string ImageFiles::file_bytes(Split split, std::int64_t index) const {
  return read_text(*list_.file_system, full_path(file(split, index)));
}

const ImageFile& ImageFiles::file(Split split, std::int64_t index) const {
  return list_.files[side(split)].at(static_cast<std::size_t>(index));
}

std::string ImageFiles::full_path(const ImageFile& file) const {
  return (std::filesystem::path(list_.root) / file.path).string();
}

// Of the first image, or the first that can be read: where the transforms keep sizes, all must be
// of one size.
Extent ImageFiles::source_size(Split split, bool skips_bad) const {
  for (std::int64_t index = 0;; ++index) try {
      const auto path = sample_name(split, index);
      const auto bytes = read_text(*list_.file_system, path);
      const auto size = image_size(encoded(bytes, path), {.max_pixels = max_pixels_});
      return {3, size.height, size.width};
    } catch (const Error& error) {
      const bool last = index + 1 == this->size(split);
      if (!skips_bad || last || error.code() != Exit::data) throw;
    }
}

}  // namespace ddptrain
