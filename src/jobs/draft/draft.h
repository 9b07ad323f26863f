// What the recipes that `init` writes have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobs/draft/init.h"

namespace ddptrain {

struct ColumnProfile;
struct ImageProfile;
struct TableProfile;

struct ClassCount {
  std::string name;
  std::int64_t train = 0;
  std::int64_t valid = 0;
};

/// A folder per class, in folders for train and valid, or in one for both.
struct ClassFolders {
  std::string train = ".";
  std::string valid;  // empty: there is no validation split yet
  std::vector<ClassCount> classes;
  std::vector<std::string> siblings;  // what lies next to them and is no class
  std::vector<std::string> unscored;  // left out: folders that only train has, as IMDB's unsup
};

/// The wanted files in a folder of the root and in those within, sorted.
using ListFiles = std::function<std::vector<std::string>(const std::string& folder)>;

/// The first of these lower-case names that is a folder in `root`, as it is spelled there; empty
/// where none is.
std::string folder_called(const std::string& root, const std::vector<std::string>& names);

/// Nothing where the files are not in class folders.
std::optional<ClassFolders> class_folders_of(const std::string& root, const ListFiles& list);

/// A line for the classes that are left out, if any.
void add_unscored(const ClassFolders& folders, std::vector<std::string>& found);

/// The share that is held out where nothing else is.
constexpr double kHeldOut = 0.2;

std::int64_t training_samples(const std::vector<ClassCount>& classes, bool has_split);
/// "1,234 images in 3 classes: cat 500, dog 400, horse 334", then what is odd about them.
std::vector<std::string> found_classes(const std::vector<ClassCount>& classes,
                                       const std::string& noun);
bool is_unbalanced(const std::vector<ClassCount>& classes);
/// How validation is done, in words: by a folder, or a share that is taken.
std::string found_split(const std::string& split);
/// "  train: .\n  valid: {fraction: 0.2, seed: 42}\n", or the validation folder, with a comment.
std::string split_lines(const ClassFolders& folders);

/// The lines of a recipe about images, from `model` on; adds to `found` what the sizes of the
/// images are. `sample` are some of their paths.
struct ImageLabels {
  std::vector<ClassCount> classes;
  std::int64_t training = 0;  // samples
  bool several = false;       // labels an image
};
std::string image_recipe(const std::string& data, const ImageLabels& labels,
                         const std::vector<std::string>& sample, std::vector<std::string>& found);
/// The same of texts; without classes they have numbers.
std::string text_recipe(const std::string& data, const std::vector<ClassCount>& classes,
                        std::int64_t training);

/// The `transforms` of images with masks or points, which are made one size.
std::string dense_transforms(const ImageProfile& profile);
/// Rows of a table that lists images with points.
bool lists_points(const TableProfile& profile);
Draft draft_points(const InitRequest& request, const TableProfile& profile,
                   const ColumnProfile& paths);
/// Rows of a table that says in its columns' names that it holds ratings; nothing where it does
/// not, or where the user wants another column predicted.
std::optional<Draft> draft_ratings(const InitRequest& request, const TableProfile& profile);

/// The column named by the user, or the first with a name that targets usually have, or the last
/// that may be one; empty where there is none.
std::string choose_target(const InitRequest& request, const std::vector<std::string>& columns,
                          const std::function<bool(const std::string&)>& may_be);

std::string with_commas(std::int64_t count);                     // "1,234"
std::string counted(std::int64_t count, std::string_view noun);  // "1,234 images"
/// A scalar of YAML that reads back as this text, in a flow too.
std::string yaml_text(const std::string& text);
std::string yaml_list(const std::vector<std::string>& texts);
/// The schedule, and what is kept of a run of so many epochs: the last lines of every recipe.
std::string closing_lines(const std::string& metric, int epochs);
/// A power of two that gives about ten steps an epoch, from 8 to `most`.
std::int64_t fitting_batch(std::int64_t training, std::int64_t most);

}  // namespace ddptrain
