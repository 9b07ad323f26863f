#include "sources/split/split.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/names.h"
#include "base/random.h"
#include "base/text.h"
#include "sources/files/file_system.h"
#include "sources/order/torch_order.h"

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

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

/// The lines of a text file, each of which must name a sample.
std::set<std::string> read_names(const std::string& content, const std::string& file,
                                 const std::vector<std::string>& paths, const std::string& noun) {
  std::set<std::string> known, names;
  for (const auto& path : paths) known.insert({path, file_name(path)});
  int line = 0;
  for (const auto& text : split(content, '\n')) {
    ++line;
    const auto name = std::string(trim(text));
    if (name.empty()) continue;
    if (!known.contains(name)) throw Error(Exit::data, "{}:{}: no {} '{}'", file, line, noun, name);
    names.insert(name);
  }
  return names;
}

Parts listed_parts(const FileSystem& files, const std::vector<std::string>& paths,
                   const std::string& file, const std::string& noun) {
  const auto names = read_names(read_text(files, file), file, paths, noun);
  Parts parts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool listed = names.contains(paths[i]) || names.contains(file_name(paths[i]));
    (listed ? parts.valid : parts.train).push_back(static_cast<std::int64_t>(i));
  }
  return parts;
}

Parts held_fold(const std::vector<std::string>& paths, const ValidSpec& spec, FoldKeys keys) {
  const bool grouped = spec.fold->by.value == FoldRule::groups;
  if (grouped && keys.groups.empty()) keys.groups = groups_of_files(paths, *spec.fold);
  return fold_parts(std::ssize(paths), *spec.fold, keys, spec.seed);
}

/// `fold` is that of the spec, or one whose groups are declared otherwise.
template <class Fold>
void valid_fields(Fields& f, ValidSpec& spec, std::optional<Fold>& fold) {
  f("folder", spec.folder,
    {.doc = "Folder of the validation samples, next to the training folder."});
  f("fraction", spec.fraction,
    {.doc = "Share of the training samples that is held out instead.",
     .min = 0,
     .max = 1,
     .above_min = true,
     .below_max = true});
  f("list", spec.list,
    {.doc = "Text file that names the held-out samples instead, one a line.",
     .path = true,
     .address = AddressUse::file});
  f("fold", fold, {.doc = "One of several folds of the training samples instead."});
  f("seed", spec.seed,
    {.doc = "Which samples are held out; of its own, so that runs with other seeds "
            "keep the same ones.",
     .min = 0});
  f("order", spec.order,
    {.doc = "'torch' divides as torch's random_split, 'fastai' as fastai's RandomSplitter."});
  f.require(needs("fold", is("order", "philox")));
}

}  // namespace

std::span<const std::string_view> names(SplitRule) {
  return kNameList<"philox", "torch", "fastai">;
}

void ValidSpec::fields(Fields& f) { valid_fields(f, *this, fold); }

void ValidFiles::fields(Fields& f) {
  std::optional<FileFoldSpec> own;
  if (fold) own.emplace(FileFoldSpec{*fold});
  valid_fields(f, *this, own);
  fold.reset();
  if (own) fold.emplace(*own);
}

Parts split_samples(std::int64_t n, const ValidSpec& spec) {
  if (spec.order == SplitRule::philox) return philox_split(n, spec);
  if (spec.order == SplitRule::fastai) return fastai_split(n, spec);
  auto parts = random_split(split_lengths(n, {1 - *spec.fraction, *spec.fraction}),
                            static_cast<std::uint64_t>(spec.seed));
  return {std::move(parts[0]), std::move(parts[1])};
}

Parts hold_out(const FileSystem& files, const std::vector<std::string>& paths,
               const ValidSpec& spec, const std::string& noun, FoldKeys keys) {
  if (spec.fold) return held_fold(paths, spec, std::move(keys));
  auto parts = spec.list ? listed_parts(files, paths, *spec.list, noun)
                         : split_samples(static_cast<std::int64_t>(paths.size()), spec);
  if (parts.train.empty() || parts.valid.empty())
    throw Error(Exit::data, Option{spec.list ? "data.valid.list" : "data.valid.fraction"},
                "leaves no {} of {} for {}", noun, paths.size(),
                parts.valid.empty() ? "validation" : "training");
  return parts;
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
