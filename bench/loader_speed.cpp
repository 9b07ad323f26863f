// Images per CPU-second of one thread: read, decode a random window, resize, flip, normalize.
// The peers' figures for the same are in bench/peers. Usage:
//   bench_loader_speed FOLDER [IMAGES [CACHE]]
// With CACHE, a folder: from a cache of decoded images in it, and the pass before, which fills it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "sources/image/stored_image.h"
#include "transforms/pipeline/pipeline.h"

namespace {

using namespace ddptrain;

std::vector<std::string> images(const std::string& folder, std::size_t count) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (std::size_t i = paths.size(); i > 1; --i)
    std::swap(paths[i - 1], paths[mix(1, i) % i]);  // a random order, as in training
  paths.resize(std::min(count, paths.size()));
  return paths;
}

Choice<Transform> step(const std::string& type,
                       std::vector<std::pair<std::string, std::string>> options) {
  Node node = Node::map();
  node.set("type", Node::scalar(type));
  for (auto& [key, value] : options) {
    if (value.front() != '[') {
      node.set(key, Node::scalar(value));
      continue;
    }
    const auto comma = value.find(',');
    node.set(key, Node::list({Node::scalar(value.substr(1, comma - 1)),
                              Node::scalar(value.substr(comma + 1, value.size() - comma - 2))}));
  }
  Choice<Transform> choice;
  choice.choose(std::move(node));
  return choice;
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double pass_rate(const Pipeline& pipeline, const std::vector<std::string>& paths, int pass,
                 const PixelCache* cache = nullptr) {
  constexpr std::size_t batch = 64, side = 128;
  const Extent expected{3, side, side};
  std::vector<float> rows(batch * 3 * side * side);
  const double start = cpu_seconds();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    StoredImage source({local_files(), paths[i]}, {}, cache);
    pipeline.load(source, {1, pass, std::int64_t(i)}, expected, &rows[i % batch * 3 * side * side]);
  }
  return double(paths.size()) / (cpu_seconds() - start);
}

/// Best of five passes.
double rate(const Pipeline& pipeline, const std::vector<std::string>& paths,
            const PixelCache* cache = nullptr) {
  double best = 0;
  for (int pass = 0; pass < 5; ++pass)
    best = std::max(best, pass_rate(pipeline, paths, pass, cache));
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: bench_loader_speed FOLDER [IMAGES [CACHE]]\n"), 2;
  const auto paths = images(argv[1], argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2560);
  const std::vector<Choice<Transform>> train{
      step("random_resized_crop", {{"size", "128"}, {"scale", "[0.35,1.0]"}}),
      step("horizontal_flip", {}), step("normalize", {{"preset", "imagenet"}})};
  const std::vector<Choice<Transform>> valid{step("resize", {{"size", "152"}}),
                                             step("center_crop", {{"size", "128"}}),
                                             step("normalize", {{"preset", "imagenet"}})};
  std::printf("%zu images, images per CPU-second\n", paths.size());
  if (argc > 3) {
    const PixelCache cache({argv[3], argv[1], std::ssize(paths), std::int64_t{4} << 30});
    const Pipeline pipeline(train, {.mode = DecodeMode::fast});
    std::printf("train, first pass: %6.0f\n", pass_rate(pipeline, paths, -1, &cache));
    return std::printf("train, cached: %6.0f\n", rate(pipeline, paths, &cache)), 0;
  }
  std::printf("train, fast:  %6.0f\n", rate(Pipeline(train, {.mode = DecodeMode::fast}), paths));
  std::printf("train, exact: %6.0f\n", rate(Pipeline(train), paths));
  std::printf("valid, exact: %6.0f\n", rate(Pipeline(valid), paths));
}
