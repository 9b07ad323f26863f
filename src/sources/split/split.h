// Samples of one folder or file divided into train and valid by a seed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "sources/split/fold.h"

namespace ddptrain {

class FileSystem;

/// philox: ours. torch: torch.utils.data.random_split([1 - fraction, fraction]). fastai:
/// RandomSplitter(fraction), whose valid samples come first in the permutation.
enum class SplitRule { philox, torch, fastai };
std::span<const std::string_view> names(SplitRule);

/// `valid`: the name of a folder of its own, or a fraction held out of the training samples, or
/// those that a text file names, one a line, or one fold of several.
struct ValidSpec {
  std::optional<std::string> folder;
  std::optional<double> fraction;
  std::optional<std::string> list;
  std::optional<FoldSpec> fold;
  std::int64_t seed = 42;
  SplitRule order = SplitRule::philox;
  static constexpr std::string_view shorthand = "folder";
  void fields(Fields& f);
  /// Whether it takes some of the training samples, and no folder.
  bool divides() const { return fraction || list || fold; }
};

/// The same of samples that are files, whose groups are in their paths.
struct ValidFiles : ValidSpec {
  void fields(Fields& f);
};

/// Divides samples 0 .. n-1 by `fraction` and `seed`. Ours keeps each part in order; the peers'
/// parts are in the order of their permutation.
Parts split_samples(std::int64_t n, const ValidSpec& spec);

/// Divides samples by their paths: by `fraction` and `seed`, or those that the text file `list`
/// of `files` names, one a line, by path or by file name in any folder (fastai.FileSplitter), or by
/// `fold`
/// (groups that `keys` lack are those of files: groups_of_files). `noun` is what a sample is called
/// in messages. Errors (Exit::data): a line that names no sample, with its file and line; a part
/// without samples; those of fold_parts.
Parts hold_out(const FileSystem& files, const std::vector<std::string>& paths,
               const ValidSpec& spec, const std::string& noun, FoldKeys keys = {});

/// torch.utils.data.random_split with a CPU generator seeded with `seed`.
std::vector<std::vector<std::int64_t>> random_split(const std::vector<std::int64_t>& lengths,
                                                    std::uint64_t seed);
/// How random_split turns fractions into lengths: rounded down, what is left goes round-robin.
std::vector<std::int64_t> split_lengths(std::int64_t n, const std::vector<double>& fractions);

}  // namespace ddptrain
