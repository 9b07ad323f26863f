// How far fast decoding may be from exact decoding on photographs (docs/image-decoding.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "images.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> photographs(std::size_t count) {
  const char* data = std::getenv("DDPTRAIN_DATA");
  std::vector<std::string> paths, some;
  if (!data || !fs::exists(fs::path(data) / "imagenette2-224/val")) return {};
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(data) / "imagenette2-224/val"))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (std::size_t i = 0; i < paths.size(); i += std::max<std::size_t>(1, paths.size() / count))
    some.push_back(paths[i]);
  return some;
}

Window draw(ImageSize size, int out, Stream& random) {
  const double share = std::sqrt(random.uniform(0.35, 1));
  Window window;
  window.width = std::floor(size.width * share);
  window.height = std::floor(size.height * share);
  window.left = std::floor(random.uniform() * (size.width - window.width + 1));
  window.top = std::floor(random.uniform() * (size.height - window.height + 1));
  window.out_width = window.out_height = out;
  return window;
}

/// The mean absolute difference in levels of 0 .. 255 for one file.
double difference(const std::string& path, int out, std::uint64_t index) {
  std::ifstream in(path, std::ios::binary);
  const test::Bytes bytes(std::istreambuf_iterator<char>(in), {});
  Stream random(1, index);
  const Window window = draw(image_size({bytes, path}), out, random);
  Image work, fast, exact;
  decode_window({bytes, path}, {window, DecodeMode::fast}, {}, work, fast);
  decode_window({bytes, path}, {window, DecodeMode::exact}, {}, work, exact);
  double sum = 0;
  for (std::size_t i = 0; i < exact.bytes.size(); ++i)
    sum += std::abs(fast.bytes[i] - exact.bytes[i]);
  return sum / double(exact.bytes.size());
}

struct Result {
  double mean = 0, worst = 0;
};

Result measure(const std::vector<std::string>& paths, int out) {
  Result result;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const double levels = difference(paths[i], out, i);
    result.mean += levels / double(paths.size());
    result.worst = std::max(result.worst, levels);
  }
  return result;
}

TEST(FastDecoding, IsWithinWhatItsDocumentSays) {
  const auto paths = photographs(1000);
  if (paths.empty()) GTEST_SKIP() << "DDPTRAIN_DATA names no folder with imagenette2-224";
  const Result unscaled = measure(paths, 128);
  EXPECT_LT(unscaled.mean, 0.25);
  EXPECT_LT(unscaled.worst, 0.5);
  const Result scaled = measure(paths, 64);
  EXPECT_LT(scaled.mean, 2);
  EXPECT_LT(scaled.worst, 8);
}

}  // namespace
}  // namespace ddptrain
