// Samples divided into folds, each of which is held out once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace ddptrain {

/// random: no matter what samples are. classes: each fold has nearly as many of each class. groups:
/// samples of a group are in one fold.
enum class FoldRule { random, classes, groups };
std::span<const std::string_view> names(FoldRule);

/// `fold`: samples are divided into `of` folds, and that of number `index` is held out.
struct FoldSpec {
  std::int64_t index = 0;
  std::int64_t of = 5;
  Auto<FoldRule> by;                  // auto: classes where targets are classes, else random
  std::optional<std::string> groups;  // a column; of files, a regular expression
  void fields(Fields& f);
};

/// The same of samples that are files: `groups` is checked to be a regular expression with a group.
struct FileFoldSpec : FoldSpec {
  void fields(Fields& f);
};

/// By place in what was divided, from 0.
struct Parts {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> valid;
};

/// What each sample is of; empty where nothing says it.
struct FoldKeys {
  std::vector<std::string> classes;
  std::vector<std::string> groups;
};

/// Divides samples 0 .. n-1, each part in order; over all folds each sample is valid once. `seed`
/// permutes samples, which are then dealt round-robin, class after class: sizes of folds differ by
/// at most one, and so do their numbers of each class (by: classes). Groups go, largest first, to
/// the smallest fold, as scikit-learn's GroupKFold has it; the seed orders those of equal size.
/// Errors (Exit::data), whichever fold is asked for: fewer samples, samples of a class (by:
/// classes) or groups than folds; a fold that has all samples of a class, which its training part
/// then lacks; groups that are the classes; `by` asks for what nothing says.
Parts fold_parts(std::int64_t n, const FoldSpec& spec, const FoldKeys& keys, std::int64_t seed);

/// The group of each file: what the first group ( ) of the regular expression `groups` holds of its
/// path, or without one the folder that the file is in. Errors name the first path that does not
/// match or has an empty group (Exit::data), or what the expression lacks (Exit::recipe).
std::vector<std::string> groups_of_files(const std::vector<std::string>& paths,
                                         const FoldSpec& spec);

}  // namespace ddptrain
