#include "data/split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "data/random_order.h"
#include "data/torch_order.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

Parts divided(const std::vector<std::int64_t>& order, std::int64_t valid) {
  const auto cut = order.begin() + valid;
  return {{cut, order.end()}, {order.begin(), cut}};
}

Parts philox_split(std::int64_t n, const ValidSpec& spec) {
  Stream random(mix(static_cast<std::uint64_t>(spec.seed), hash_text("data split")), 0);
  const auto valid = std::llround(*spec.fraction * static_cast<double>(n));
  auto parts = divided(random_order(n, n, random), valid);
  std::sort(parts.train.begin(), parts.train.end());
  std::sort(parts.valid.begin(), parts.valid.end());
  return parts;
}

// fastai.data.transforms.RandomSplitter: int(valid_pct * n) samples are held out.
Parts fastai_split(std::int64_t n, const ValidSpec& spec) {
  TorchGenerator generator(static_cast<std::uint64_t>(spec.seed));
  const auto valid = static_cast<std::int64_t>(*spec.fraction * static_cast<double>(n));
  return divided(torch_randperm(n, generator), valid);
}

constexpr const char* kTakeSome = "valid: {fraction: 0.2, seed: 42}";

bool folder_exists(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

/// The first few folders, sorted.
std::vector<std::string> folders_below(const fs::path& root, std::size_t most) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with('.') && folder_exists(entry.path())) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  if (names.size() > most) names.resize(most), names.emplace_back("...");
  return names;
}

}  // namespace

std::string validation_folder(const ValidSpec& spec, const std::string& root) {
  if (spec.folder) return *spec.folder;
  const std::vector<std::string> usual{"val", "valid", "validation", "test"};
  for (const auto& name : usual) {
    if (!folder_exists(fs::path(root) / name)) continue;
    log::info("validation split: '" + name + "' in '" + root + "'");
    return name;
  }
  throw Error(Exit::data, "no validation split in '" + root + "': none of the folders " +
                              join(usual, ", ") + " is there; write '" + kTakeSome +
                              "' under data, or set data.valid to a folder");
}

void require_split(const std::string& root, const std::string& train) {
  const auto folder = (fs::path(root) / train).string();
  if (folder_exists(folder)) return;
  const auto there = folders_below(root, 3);
  if (folder_exists(root) && !there.empty())
    throw Error(Exit::data, "no folder '" + folder + "'; '" + root + "' has " + join(there, ", ") +
                                ": if these are classes without a split, write 'train: .' and '" +
                                kTakeSome + "' under data");
  throw Error(Exit::data,
              "no folder '" + folder + "'; set data.train, or name an archive under data.source");
}

std::span<const std::string_view> names(SplitRule) {
  static constexpr std::array<std::string_view, 3> words{"philox", "torch", "fastai"};
  return words;
}

void ValidSpec::fields(Fields& f) {
  f("folder", folder, {.doc = "Folder of the validation samples, beside the training folder."});
  f("fraction", fraction,
    {.doc = "Share of the training samples that is held out instead.",
     .min = 0,
     .max = 1,
     .above_min = true,
     .below_max = true});
  f("list", list,
    {.doc = "Text file that names the held-out samples instead, one a line.", .path = true});
  f("seed", seed,
    {.doc = "Which samples are held out; of its own, so that runs with other seeds "
            "keep the same ones.",
     .min = 0});
  f("order", order,
    {.doc = "'torch' divides as torch's random_split, 'fastai' as fastai's RandomSplitter."});
}

Parts split_samples(std::int64_t n, const ValidSpec& spec) {
  if (spec.order == SplitRule::philox) return philox_split(n, spec);
  if (spec.order == SplitRule::fastai) return fastai_split(n, spec);
  auto parts = random_split(split_lengths(n, {1 - *spec.fraction, *spec.fraction}),
                            static_cast<std::uint64_t>(spec.seed));
  return {std::move(parts[0]), std::move(parts[1])};
}

std::vector<std::vector<std::int64_t>> random_split(const std::vector<std::int64_t>& lengths,
                                                    std::uint64_t seed) {
  TorchGenerator generator(seed);
  const auto n = std::accumulate(lengths.begin(), lengths.end(), std::int64_t(0));
  const auto order = torch_randperm(n, generator);
  std::vector<std::vector<std::int64_t>> parts;
  auto first = order.begin();
  for (const auto length : lengths) {
    parts.emplace_back(first, first + length);
    first += length;
  }
  return parts;
}

std::vector<std::int64_t> split_lengths(std::int64_t n, const std::vector<double>& fractions) {
  std::vector<std::int64_t> lengths;
  for (const double fraction : fractions)
    lengths.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(n) * fraction)));
  auto left = n - std::accumulate(lengths.begin(), lengths.end(), std::int64_t(0));
  for (std::size_t i = 0; left > 0; --left, ++i) ++lengths[i % lengths.size()];
  return lengths;
}

}  // namespace ddptrain
