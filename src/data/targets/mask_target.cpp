#include "data/targets/mask_target.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "data/prediction_form.h"
#include "data/preview.h"
#include "transforms/codecs/write.h"
#include "transforms/geometry/projection.h"
#include "transforms/preview/overlay.h"

namespace ddptrain {
namespace {

std::string size_text(int width, int height) { return fmt::format("{} x {}", width, height); }

/// A mask without pixels, but room for them.
Image empty_mask(int width, int height) {
  Image mask{width, height, 1, {}, {}};
  mask.bytes.resize(mask.values());
  return mask;
}

class MaskTarget final : public ImageTarget, public PredictionForm {
 public:
  MaskTarget(MaskCodes codes, const FileSystem& files) : codes_(std::move(codes)), files_(files) {}

  void tell(DataFacts& facts) const override {
    facts.classes = codes_.names();
    facts.mask = MaskFacts{std::ssize(codes_.names()), codes_.void_of()};
  }
  at::Tensor allocate(std::int64_t rows, const Extent& extent) const override {
    return at::empty({rows, extent.height, extent.width}, at::kLong);
  }
  bool in_image() const override { return true; }

  void read(const ImageFile& file, const std::string& root, ImageSize size,
            Image& into) const override {
    if (file.target.empty()) return;  // it is to be predicted
    const auto path = (std::filesystem::path(root) / file.target).string();
    const auto bytes = read_text(files_, path);
    const EncodedImage encoded{{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                               path};
    const auto found = image_size(encoded);
    if (found != size)
      throw Error(Exit::data, "'{}' is {} pixels, and its image '{}' is {}", path,
                  size_text(found.width, found.height), file.path,
                  size_text(size.width, size.height));
    auto mask = decode_mask(encoded);
    for (auto& byte : mask.bytes) byte = class_of(byte, path);
    mask.border = codes_.border();
    into.masks.push_back(std::move(mask));
  }

  void write(const ImageFile&, const Image& moved, at::Tensor& targets,
             std::int64_t row) const override {
    auto* to = targets.mutable_data_ptr<std::int64_t>() + row * targets.stride(0);
    if (moved.masks.empty()) return (void)std::fill_n(to, targets.stride(0), 0);
    const auto& bytes = moved.masks.front().bytes;
    DDP_CHECK(std::ssize(bytes) == targets.stride(0), "a mask of the size of its image");
    std::copy(bytes.begin(), bytes.end(), to);
  }

  void show(const at::Tensor& targets, Preview& shown) const override {
    if (!shown.image) return;
    auto mask = empty_mask(static_cast<int>(targets.size(2)), static_cast<int>(targets.size(1)));
    const auto* from = targets.const_data_ptr<std::int64_t>();
    std::copy_n(from, mask.bytes.size(), mask.bytes.begin());
    draw_mask(*shown.image, mask);
  }

  const PredictionForm* prediction_form() const override { return this; }
  std::vector<std::string> columns() const override { return {"mask"}; }
  /// The likeliest class of each pixel, of probabilities [classes, height, width]; a single one is
  /// that of the second class.
  std::vector<std::string> cells(const at::Tensor& output,
                                 const PredictedSample& sample) const override {
    const auto name = sample.name + ".png";
    const auto file = std::filesystem::path(sample.folder) / name;
    make_folders(file.parent_path().string());
    const auto classes = output.size(0) == 1 ? output[0].gt(0.5).to(at::kLong) : output.argmax(0);
    write_atomically(file.string(), encode_mask_png(in_file(classes.contiguous(), sample.place)));
    return {name};
  }

 private:
  std::uint8_t class_of(std::uint8_t value, const std::string& path) const {
    const auto found = codes_.class_of(value);
    if (found != MaskCodes::unknown) return static_cast<std::uint8_t>(found);
    throw Error(Exit::data,
                "'{}' has the number {}, which is none of the codes ({}); name it in data.codes or "
                "data.void",
                path, value, codes_.values_text());
  }

  /// Classes of a row's pixels for each pixel of its image: the nearest. What the row does not show
  /// is void, where there is that.
  Image in_file(const at::Tensor& classes, const ImagePlace& place) const {
    auto mask = empty_mask(static_cast<int>(place.width), static_cast<int>(place.height));
    const auto map = projection(place.corners, place.own());
    const auto height = classes.size(0), width = classes.size(1);
    const auto* from = classes.const_data_ptr<std::int64_t>();
    auto* to = mask.bytes.data();
    for (int row = 0; row < mask.height; ++row)
      for (int column = 0; column < mask.width; ++column, ++to) {
        const auto at = moved(map, {column + 0.5, row + 0.5});
        const auto x =
            static_cast<std::int64_t>(std::floor(at.x * double(width) / place.row_width));
        const auto y =
            static_cast<std::int64_t>(std::floor(at.y * double(height) / place.row_height));
        const auto seen_x = std::clamp<std::int64_t>(x, 0, width - 1);
        const auto seen_y = std::clamp<std::int64_t>(y, 0, height - 1);
        const bool outside = (seen_x != x || seen_y != y) && codes_.void_of();
        *to = codes_.value_of(outside ? MaskCodes::void_code
                                      : static_cast<std::uint8_t>(from[seen_y * width + seen_x]));
      }
    return mask;
  }

  MaskCodes codes_;
  const FileSystem& files_;
};

}  // namespace

std::unique_ptr<ImageTarget> mask_target(MaskCodes codes, const FileSystem& files) {
  return std::make_unique<MaskTarget>(std::move(codes), files);
}

}  // namespace ddptrain
