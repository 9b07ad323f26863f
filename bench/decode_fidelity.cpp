// How far fast decoding is from exact decoding: mean and greatest difference of windows as training
// draws them. docs/image-decoding.md has the figures. Usage:
//   bench_decode_fidelity FOLDER [IMAGES]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/random.h"
#include "transforms/codecs/decode.h"

namespace {

using namespace ddptrain;

struct Differences {
  std::vector<double> means;  // of each image, in levels of 0 .. 255
  double worst_pixel = 0;
  std::array<double, 3> bias{};  // mean of fast - exact
};

/// A window of 35 % to 100 % of the area, as random_resized_crop draws it.
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

void compare(const Image& fast, const Image& exact, Differences& all) {
  double sum = 0;
  for (std::size_t i = 0; i < exact.bytes.size(); ++i) {
    const double difference = double(fast.bytes[i]) - exact.bytes[i];
    sum += std::abs(difference);
    all.bias[i % 3] += difference / double(exact.bytes.size() / 3);
    all.worst_pixel = std::max(all.worst_pixel, std::abs(difference));
  }
  all.means.push_back(sum / double(exact.bytes.size()));
}

Differences measure(const std::vector<std::string>& paths, int out) {
  Differences all;
  Image work, fast, exact;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string bytes = read_text(paths[i]);
    const EncodedImage file{{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                            paths[i]};
    Stream random(1, i);
    const Window window = draw(image_size(file), out, random);
    decode_window(file, {window, DecodeMode::fast}, {}, work, fast);
    decode_window(file, {window, DecodeMode::exact}, {}, work, exact);
    compare(fast, exact, all);
  }
  std::sort(all.means.begin(), all.means.end());
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: bench_decode_fidelity FOLDER [IMAGES]\n"), 2;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1]))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  const std::size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000;
  const std::size_t step = std::max<std::size_t>(1, paths.size() / count);
  std::vector<std::string> some;
  for (std::size_t i = 0; i < paths.size() && some.size() < count; i += step)
    some.push_back(paths[i]);
  std::printf("%zu images; levels of 0 .. 255\n", some.size());
  for (int out : {128, 64, 32}) {
    const auto all = measure(some, out);
    double sum = 0;
    for (double mean : all.means) sum += mean;
    const double n = double(all.means.size());
    std::printf(
        "to %3d px: mean %.3f, 99th percentile of images %.3f, worst image %.3f, worst "
        "pixel %.0f, bias %+.3f %+.3f %+.3f\n",
        out, sum / n, all.means[all.means.size() * 99 / 100], all.means.back(), all.worst_pixel,
        all.bias[0] / n, all.bias[1] / n, all.bias[2] / n);
  }
}
