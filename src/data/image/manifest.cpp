// data manifest: images listed in a CSV file, with a label, any number of them (fastai's
// ImageDataLoaders.from_csv), or numbers.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/image/image_files.h"
#include "data/targets/number_target.h"
#include "sources/csv/csv.h"
#include "sources/csv/csv_columns.h"
#include "sources/image/image_csv.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

/// What columns are called.
struct ManifestColumns {
  std::string path = "path";
  std::string label = "label";
  std::optional<std::string> weight;
  std::optional<std::string> split;
  void fields(Fields& f) {
    f("path", path, {.doc = "The image's file."});
    f("label", label, {.doc = "What it shows."});
    f("weight", weight,
      {.doc = "For sampler weighted; null reads column 'weight' if there is one."});
    f("split", split,
      {.doc = "'train' or 'valid', or as fastai's is_valid 'False' or 'True'; null reads column "
              "'split' if there is one."});
  }
};

struct ManifestOptions {
  std::string file;
  std::optional<std::string> root;
  ManifestColumns columns;
  std::optional<std::string> label_delimiter;
  std::vector<std::string> numbers;
  ValidSpec valid;
  CsvFormat csv;
  ImageFileOptions images;
  void fields(Fields& f) {
    f("file", file,
      {.doc = "CSV file with a row for each image.",
       .required = true,
       .path = true,
       .address = AddressUse::file,
       .example = "data/images.csv"});
    f("root", root,
      {.doc = "Folder that paths are relative to; the file's own if null.",
       .path = true,
       .address = AddressUse::file});
    f("columns", columns, {.doc = "What the columns are called."});
    f("label_delimiter", label_delimiter,
      {.doc = "What stands between labels where an image has any number of them, such as ' '; "
              "targets are then zeros and ones for 'loss: bce_with_logits'.",
       .min_items = 1});
    f("numbers", numbers,
      {.doc = "Columns of numbers that are the target instead of a label; an empty cell is missing "
              "and counts in no loss."});
    f("valid", valid,
      {.doc = "The fraction, the list or the fold that is held out where no column says it."});
    csv_field(f, csv);
    images.fields(f);
    f.require(always(unset("valid.folder")));
    f.require(not_both("label_delimiter", "numbers"));
  }
};

std::string root_of(const ManifestOptions& options) {
  return options.root.value_or(std::filesystem::path(options.file).parent_path().string());
}

double weight_at(const Csv& csv, std::size_t row, std::size_t column) {
  const auto weight = cell_number(csv.cell(row, column), csv.format());
  if (weight.is == CellNumber::number && weight.value >= 0) return weight.value;
  csv.fail(row, column, "'" + csv.at(row, column) + "' is not a weight (a number from 0 up)");
}

/// A cell cut at the delimiter; an empty one of several labels means none.
std::vector<std::string> labels_at(const Csv& csv, std::size_t row, std::size_t column,
                                   const std::optional<std::string>& delimiter) {
  const std::string& cell = csv.at(row, column);
  if (!delimiter) {
    if (cell.empty()) csv.fail(row, column, "empty");
    return {cell};
  }
  std::vector<std::string> labels;
  for (std::size_t at = 0; at <= cell.size();) {
    const auto end = std::min(cell.find(*delimiter, at), cell.size());
    if (end > at) labels.push_back(cell.substr(at, end - at));
    at = end + delimiter->size();
  }
  std::sort(labels.begin(), labels.end());
  const auto twice = std::adjacent_find(labels.begin(), labels.end());
  if (twice != labels.end()) csv.fail(row, column, "label '" + *twice + "' is written twice");
  return labels;
}

std::vector<std::vector<std::string>> labels_of(const ManifestOptions& options, const Csv& csv) {
  const auto column = csv.required_column(options.columns.label);
  std::vector<std::vector<std::string>> labels;
  for (std::size_t row = 0; row < csv.rows(); ++row)
    labels.push_back(labels_at(csv, row, column, options.label_delimiter));
  return labels;
}

std::vector<std::string> all_of(const std::vector<std::vector<std::string>>& labels) {
  std::vector<std::string> all;
  for (const auto& some : labels) all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// What the target of each row is.
using RowTargets = std::function<ImageFile(std::size_t row)>;

RowTargets number_targets(const ManifestOptions& options, const Csv& csv) {
  std::vector<std::size_t> columns;
  for (const auto& name : options.numbers) columns.push_back(csv.required_column(name));
  return [&csv, columns](std::size_t row) {
    ImageFile file{{}, -1};
    file.numbers = numbers_at(csv, row, columns);
    return file;
  };
}

/// Numbers the classes of the list.
RowTargets label_targets(const ManifestOptions& options, const Csv& csv, ImageList& list) {
  auto labels = labels_of(options, csv);
  list.multi_label = options.label_delimiter.has_value();
  list.classes = class_order(all_of(labels));
  if (list.classes.empty()) throw Error(Exit::data, "{}: no row has a label", options.file);
  std::map<std::string, std::int64_t> classes;
  for (const auto& name : list.classes) classes.emplace(name, std::ssize(classes));
  return [labels, classes, several = list.multi_label](std::size_t row) {
    if (!several) return ImageFile{{}, classes.at(labels[row].front())};
    ImageFile file{{}, -1};
    for (const auto& label : labels[row]) file.labels.push_back(classes.at(label));
    return file;
  };
}

ImageList read_rows(const FileSystem& system, const ManifestOptions& options, const Csv& csv) {
  const auto path = csv.required_column(options.columns.path);
  const auto weight = column_of(csv, options.columns.weight, "weight");
  const auto split = column_of(csv, options.columns.split, "split");
  ImageList list(system);
  list.root = root_of(options);
  list.groups = groups_at(csv, options.valid, split);
  const auto target =
      options.numbers.empty() ? label_targets(options, csv, list) : number_targets(options, csv);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (csv.at(row, path).empty()) csv.fail(row, path, "empty");
    const auto side = split_at(csv, row, split);
    list.files[side].push_back(target(row));
    list.files[side].back().path = csv.at(row, path);
    if (weight) list.weights[side].push_back(weight_at(csv, row, *weight));
  }
  return list;
}

ImageList read_manifest(const FileSystem& system, const ManifestOptions& options,
                        const KnownClasses& known) {
  const Csv csv(options.file, options.csv, system);
  auto list = read_rows(system, options, csv);
  divide_rows(list, options.valid, csv, column_of(csv, options.columns.split, "split").has_value());
  if (options.numbers.empty()) number_classes(list, known, classes_in_train(list));
  return list;
}

}  // namespace

Entry<Dataset> manifest_dataset() {
  return entry<Dataset, ManifestOptions>(
      "manifest", "Images listed in a CSV file.",
      [](const ManifestOptions& options, const DataContext& context) -> std::unique_ptr<Dataset> {
        const auto& system = *context.file_system;
        auto list = context.images.empty() ? read_manifest(system, options, context.classes)
                                           : unlabeled_images(context.images, system);
        if (options.numbers.empty())
          return std::make_unique<ImageFiles>(std::move(list), options.images, context);
        return std::make_unique<ImageFiles>(std::move(list), options.images, context,
                                            number_target(options.numbers));
      },
      {"gives_images", "gives_weights", "gives_class", "labels_by label_delimiter",
       "numbers_by numbers", "listed_in_csv", "predicts_images"});
}

}  // namespace ddptrain
