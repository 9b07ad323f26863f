// data manifest: pictures listed in a CSV file with columns path and label, and optionally weight
// and split.
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "data/csv.h"
#include "data/datasets.h"
#include "data/image_files.h"
#include "data/split.h"

namespace ddptrain {
namespace {

struct ManifestOptions {
  std::string file;
  std::optional<std::string> root;
  ValidSpec valid;
  ImageFileOptions images;
  void fields(Fields& f) {
    f("file", file,
      {.doc = "CSV file with columns path and label, and optionally weight (for sampler weighted) "
              "and split ('train' or 'valid').",
       .required = true,
       .path = true});
    f("root", root,
      {.doc = "Folder that paths are relative to; the file's own if null.", .path = true});
    f("valid", valid, {.doc = "The fraction that is held out where there is no column split."});
    images.fields(f);
  }
};

std::string root_of(const ManifestOptions& options) {
  return options.root.value_or(std::filesystem::path(options.file).parent_path().string());
}

bool in_numeric_order(const std::string& a, const std::string& b) {
  return *parse_integer(a) < *parse_integer(b);
}

/// Names of all labels, bytewise, or as numbers where all are.
std::vector<std::string> class_names(const Csv& csv, std::size_t column) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (csv.at(row, column).empty()) csv.fail(row, column, "empty");
    names.push_back(csv.at(row, column));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto is_number = [](const auto& name) { return parse_integer(name).has_value(); };
  if (std::all_of(names.begin(), names.end(), is_number))
    std::stable_sort(names.begin(), names.end(), in_numeric_order);
  return names;
}

Split split_at(const Csv& csv, std::size_t row, std::optional<std::size_t> column) {
  if (!column) return Split::train;
  const auto& word = csv.at(row, *column);
  if (word == "train") return Split::train;
  if (word == "valid") return Split::valid;
  csv.fail(row, *column, "'" + word + "' is neither 'train' nor 'valid'");
}

double weight_at(const Csv& csv, std::size_t row, std::size_t column) {
  const auto weight = parse_number(csv.at(row, column));
  if (weight && *weight >= 0) return *weight;
  csv.fail(row, column, "'" + csv.at(row, column) + "' is not a weight (a number from 0 up)");
}

ImageList read_rows(const ManifestOptions& options, const Csv& csv) {
  const auto path = csv.required_column("path"), label = csv.required_column("label");
  const auto weight = csv.column("weight"), split = csv.column("split");
  ImageList list;
  list.root = root_of(options);
  list.classes = class_names(csv, label);
  std::map<std::string, std::int64_t> labels;
  for (const auto& name : list.classes)
    labels.emplace(name, static_cast<std::int64_t>(labels.size()));
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (csv.at(row, path).empty()) csv.fail(row, path, "empty");
    const auto side = static_cast<std::size_t>(split_at(csv, row, split));
    list.files[side].push_back({csv.at(row, path), labels.at(csv.at(row, label))});
    if (weight) list.weights[side].push_back(weight_at(csv, row, *weight));
  }
  return list;
}

void require_known_in_train(const ImageList& list) {
  std::vector<bool> known(list.classes.size());
  for (const auto& file : list.files[0]) known[static_cast<std::size_t>(file.label)] = true;
  for (const auto& file : list.files[1])
    if (!known[static_cast<std::size_t>(file.label)])
      throw Error(Exit::data, "class '" + list.classes[static_cast<std::size_t>(file.label)] +
                                  "' (of '" + file.path + "') is only in the valid split");
}

ImageList read_manifest(const ManifestOptions& options) {
  const Csv csv(options.file);
  auto list = read_rows(options, csv);
  if (options.valid.folder)
    throw Error(Exit::recipe,
                "data.valid.folder has no effect in a manifest; a column 'split' or "
                "data.valid.fraction has");
  const bool has_split = csv.column("split").has_value();
  if (!has_split && !options.valid.fraction)
    throw Error(Exit::data,
                options.file + ": no column 'split'; add one, or write data.valid.fraction");
  if (has_split && options.valid.fraction)
    throw Error(Exit::recipe,
                "data.valid.fraction has no effect: '" + options.file + "' has a column 'split'");
  if (!has_split) hold_out(list, options.valid);
  for (const auto split : {0, 1})
    if (list.files[static_cast<std::size_t>(split)].empty())
      throw Error(Exit::data,
                  options.file + ": no rows in split '" + (split == 0 ? "train'" : "valid'"));
  require_known_in_train(list);
  return list;
}

}  // namespace

Entry<Dataset> manifest_dataset() {
  return entry<Dataset, ManifestOptions>(
      "manifest", "Pictures listed in a CSV file.",
      [](const ManifestOptions& options, const DataContext& context) -> std::unique_ptr<Dataset> {
        return std::make_unique<ImageFiles>(read_manifest(options), options.images, context);
      });
}

}  // namespace ddptrain
