// Images through a graph's preprocessing and through our transforms: the same bytes.
#include "jobs/export/preprocessing.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "data/image/normalize_images.h"
#include "support/node.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

struct Case {
  const char* name;
  std::vector<const char*> transforms;
};

std::unique_ptr<Transform> transform(const std::string& json) {
  return catalog<Transform>().build(fragment<Transform>(nlohmann::json::parse(json)));
}

/// Smooth in parts and noisy in others, with the darkest and the brightest values.
Image image_of(int width, int height, int channels) {
  Image image{width, height, channels, {}, {}};
  image.bytes.resize(image.values());
  for (std::size_t i = 0; i < image.bytes.size(); ++i) {
    const auto noise = mix(7, i);
    const auto place = i / static_cast<std::size_t>(channels);
    image.bytes[i] = static_cast<std::uint8_t>(noise % 3 == 0   ? noise >> 8
                                               : noise % 7 == 1 ? 255 * (noise >> 8 & 1)
                                                                : place * 3);
  }
  return image;
}

at::Tensor bytes_of(const Image& image) {
  auto tensor = at::empty({1, image.height, image.width, image.channels}, at::kByte);
  std::copy(image.bytes.begin(), image.bytes.end(), tensor.mutable_data_ptr<std::uint8_t>());
  return tensor;
}

class ExportPreprocessing : public testing::TestWithParam<Case> {};

TEST_P(ExportPreprocessing, GivesTheBytesOfTheTransforms) {
  for (const auto& [width, height, channels] :
       {std::array{37, 53, 3}, {64, 64, 3}, {90, 31, 1}, {5, 9, 3}, {250, 120, 3}}) {
    auto image = image_of(width, height, channels);
    const auto input = bytes_of(image);
    std::vector<SizeChange> changes;
    for (const auto* json : GetParam().transforms) {
      const auto step = transform(json);
      Stream random(0, 0, 0);
      step->apply(image, random);
      for (const auto& change : dynamic_cast<const ChangesSize&>(*step).size_changes())
        changes.push_back(change);
    }
    PixelScale scale;
    scale.factor.assign(static_cast<std::size_t>(channels), 1);
    scale.offset.assign(static_cast<std::size_t>(channels), 0);
    const auto output = image_preparation(changes, scale)({input}).at(0);
    ASSERT_EQ(output.scalar_type(), at::kFloat);
    const auto found = output.to(at::kByte).permute({0, 2, 3, 1}).contiguous();
    const auto expected = bytes_of(image);
    ASSERT_EQ(found.sizes(), expected.sizes());
    EXPECT_EQ(found.sub(expected).ne(0).sum().item<std::int64_t>(), 0)
        << width << " x " << height << " x " << channels;
  }
}

const Case kCases[] = {
    {"Resize", {R"({"type": "resize", "size": [24, 40]})"}},
    {"Bicubic", {R"({"type": "resize", "size": [24, 40], "interpolation": "bicubic"})"}},
    {"ShorterSideAndMiddle",
     {R"({"type": "resize", "size": 28})", R"({"type": "center_crop", "size": 24})"}},
    {"LongestSide",
     {R"({"type": "resize", "size": 20, "max_size": 30})",
      R"({"type": "center_crop", "size": [25, 33]})"}},
    {"MiddleAlone", {R"({"type": "center_crop", "size": [41, 30]})"}},
    {"Twice",
     {R"({"type": "center_crop", "size": 40})", R"({"type": "resize", "size": [16, 17]})"}},
    {"CropsAfterAResize",
     {R"({"type": "resize", "size": [50, 51]})", R"({"type": "center_crop", "size": 33})",
      R"({"type": "center_crop", "size": 20})"}},
    {"FastaiCrop", {R"({"type": "fastai_resize", "size": [24, 40]})"}},
    {"FastaiSquish", {R"({"type": "fastai_resize", "size": 24, "method": "squish"})"}},
    {"FastaiValidCrop", {R"({"type": "fastai_valid_crop", "size": 24})"}},
};

INSTANTIATE_TEST_SUITE_P(All, ExportPreprocessing, testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace ddptrain
