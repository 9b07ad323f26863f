#include "jobs/predict/prediction_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "config/catalog.h"
#include "config/complete.h"
#include "recipe/targets.h"
#include "sources/csv/csv.h"
#include "sources/files/file_system.h"
#include "sources/image/image_scan.h"
#include "sources/remote/data_files.h"
#include "sources/table/table_source.h"
#include "sources/text/text_records.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

void add_lines(std::istream& lines, Names& paths) {
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) paths.push_back(line);
  }
}

/// The folder of a path below the folder that was given, where it is called like a class.
std::string class_folder(const std::string& below, const Names& classes) {
  const auto slash = below.find('/');
  if (slash == std::string::npos) return {};
  const auto name = below.substr(0, slash);
  return std::find(classes.begin(), classes.end(), name) == classes.end() ? "" : name;
}

/// What is written for an option, else its default.
std::string option_of(const Recipe& recipe, const std::string& name) {
  const auto options = complete_component(recipe.data.node(), "data", all_catalogs());
  const auto* node = options.find(name);
  if (node && node->is_map()) node = node->find("column");
  return node && !node->is_null() && node->is_scalar() ? node->text : "";
}

std::string column_of(const Recipe& recipe, const std::string& name) {
  const auto* columns = recipe.data.node().find("columns");
  const auto* node = columns ? columns->find(name) : nullptr;
  return node && !node->is_null() ? node->text : name;
}

/// The columns of what is predicted: `label` where the recipe lists no numbers.
Names target_columns(const Recipe& recipe, const std::string& label) {
  auto numbers = listed_numbers(recipe, all_catalogs());
  return numbers.empty() ? Names{label} : numbers;
}

/// Images with what is known of each.
struct Images {
  Names paths;
  std::vector<Names> truths;
  bool any_truth = false;

  void add(const std::string& path, const Names& truth) {
    paths.push_back(path);
    truths.push_back(truth);
    for (const auto& each : truth) any_truth = any_truth || !each.empty();
  }
};

void add_folder(const FileSystem& files, const std::string& folder, const Names& classes,
                Images& images) {
  const auto found = ImageScan(folder, image_extensions(), files).images("");
  if (found.empty()) throw Error(Exit::data, "no images in '{}'", folder);
  for (const auto& below : found)
    images.add((fs::path(folder) / below).string(), {class_folder(below, classes)});
}

void add_manifest(const FileSystem& files, const Recipe& recipe, const std::string& file,
                  Images& images) {
  const Csv csv(file, csv_format_of(recipe.data.node()), files);
  const auto path = csv.required_column(column_of(recipe, "path"));
  std::vector<std::optional<std::size_t>> targets;
  for (const auto& name : target_columns(recipe, column_of(recipe, "label")))
    targets.push_back(csv.column(name));
  const auto written = option_of(recipe, "root");
  const fs::path root = written.empty() ? fs::path(file).parent_path() : fs::path(written);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    Names truth;
    for (const auto& target : targets) truth.push_back(target ? csv.at(row, *target) : "");
    images.add((root / csv.at(row, path)).string(), truth);
  }
}

Images images_of(const Recipe& recipe, const Names& classes, const Names& paths) {
  Images images;
  const auto files = data_files(recipe.data);
  const bool listed = dataset_of(recipe).has("listed_in_csv");
  const bool one_label = written_target(recipe, all_catalogs()) == TargetKind::classes;
  for (const auto& path : paths) {
    if (is_folder(*files, path))
      add_folder(*files, path, one_label ? classes : Names{}, images);
    else if (listed && lower(fs::path(path).extension().string()) == ".csv")
      add_manifest(*files, recipe, path, images);
    else
      images.add(path, {});
  }
  return images;
}

PredictionInput image_input(const Recipe& recipe, const SavedData& saved, const Names& paths) {
  auto images = std::make_shared<const Images>(images_of(recipe, saved.classes, paths));
  PredictionInput input;
  input.name = paths.size() == 1 ? fmt::format("'{}'", paths[0])
                                 : plural(std::int64_t(paths.size()), "path");
  input.open = [images, recipe, saved] { return open_images(recipe, saved, images->paths); };
  if (images->any_truth)
    input.truth = [images](const std::string&, std::int64_t index) {
      return images->truths.at(static_cast<std::size_t>(index));
    };
  return input;
}

using Truth = std::function<Names(const std::string&, std::int64_t)>;

/// None where the file has none of the columns. Numbers are read as data.csv writes them.
Truth truth_in_columns(const FileSystem& files, const Recipe& recipe, const std::string& file,
                       bool numbers) {
  const auto csv = csv_format_of(recipe.data.node());
  const auto option = trait_argument(dataset_of(recipe), "label_column");
  const auto names = target_columns(recipe, option_of(recipe, *option));
  const auto source = std::shared_ptr<const TableSource>(open_table(file, csv, files));
  std::vector<std::optional<ColumnCells>> columns;
  for (const auto& name : names) {
    columns.emplace_back();
    if (const auto column = source->column(name))
      columns.back() = source->read_columns({*column}, {ColumnKind::names}, {})[0];
  }
  if (std::none_of(columns.begin(), columns.end(), [](const auto& each) { return bool(each); }))
    return {};
  const bool written_otherwise = numbers && !csv.plain_numbers();
  return [source, columns, csv, written_otherwise](const std::string&, std::int64_t row) {
    Names truth;
    for (const auto& cells : columns) {
      const auto code = cells ? cells->codes.at(static_cast<std::size_t>(row)) : -1;
      truth.push_back(code < 0 ? "" : std::string(cells->names[static_cast<std::size_t>(code)]));
      if (written_otherwise) truth.back() = plain_number(truth.back(), csv).value_or(truth.back());
    }
    return truth;
  };
}

Truth truth_in_lines(const FileSystem& files, const Recipe& recipe, const std::string& file) {
  try {
    const auto records = std::make_shared<const std::vector<TextRecord>>(
        read_json_lines(file, decode<TextRecordOptions>(recipe.data.node()), Labels::known,
                        InvalidUtf8::replace, files));
    return [records](const std::string&, std::int64_t row) {
      return Names{records->at(static_cast<std::size_t>(row)).label};
    };
  } catch (const Error&) {
    return {};  // lines without labels; whatever else is wrong with them is found where they are
                // read
  }
}

Truth truth_in_folders(const FileSystem& files, const std::string& folder, const Names& classes) {
  const auto is_class = [&](const std::string& name) {
    return is_folder(files, (fs::path(folder) / name).string());
  };
  if (std::none_of(classes.begin(), classes.end(), is_class)) return {};
  return [classes](const std::string& below, std::int64_t) {
    return Names{class_folder(below, classes)};
  };
}

Truth truth_of(const FileSystem& files, const Recipe& recipe, const Names& classes,
               const std::string& path) {
  const auto& dataset = dataset_of(recipe);
  if (trait_argument(dataset, "label_column"))
    return truth_in_columns(files, recipe, path, classes.empty());
  if (dataset.has("label_in_lines")) return truth_in_lines(files, recipe, path);
  return truth_in_folders(files, path, classes);
}

using Open = std::function<std::unique_ptr<Dataset>(const std::string&)>;

/// Texts are made numbers all at once; where one of a folder is bad, each is a dataset of its own.
std::vector<PredictionInput> single_texts(const FileSystem& files, const Names& extensions,
                                          const std::string& folder, const Open& open,
                                          const Truth& truth) {
  Names found;
  walk(files, folder, [&](const FileEntry& entry) {
    const fs::path path = entry.path;
    if (entry.kind == FileKind::file && std::find(extensions.begin(), extensions.end(),
                                                  path.extension().string()) != extensions.end())
      found.push_back(path.lexically_relative(folder).string());
    return true;
  });
  std::sort(found.begin(), found.end());
  std::vector<PredictionInput> inputs;
  for (const auto& below : found) {
    const auto path = (fs::path(folder) / below).string();
    inputs.push_back({fmt::format("'{}'", path), [=] { return open(path); }, {}, below, {}});
    if (truth)
      inputs.back().truth = [=](const std::string&, std::int64_t) { return truth(below, 0); };
  }
  return inputs;
}

Names extensions_of(const Recipe& recipe) {
  Names extensions;
  if (const auto* node = recipe.data.node().find("extensions"))
    for (const auto& item : node->items) extensions.push_back(item.text);
  return extensions.empty() ? Names{".txt"} : extensions;
}

}  // namespace

std::vector<std::string> listed_inputs(const std::vector<std::string>& words,
                                       const std::string& list) {
  auto paths = words;
  if (list == "-") {
    add_lines(std::cin, paths);
  } else if (!list.empty()) {
    std::istringstream lines(read_given(list, kLongestText));
    add_lines(lines, paths);
  }
  if (paths.empty())
    throw Error(list.empty() ? Exit::recipe : Exit::data,
                list.empty() ? "nothing to predict: name files or folders, or '--list FILE'"
                             : fmt::format("the list '{}' names no file", list));
  return paths;
}

std::vector<PredictionInput> prediction_inputs(const Recipe& recipe, const SavedData& saved,
                                               const std::vector<std::string>& paths,
                                               const std::string& stdin_file) {
  const auto& dataset = dataset_of(recipe);
  if (!dataset.has("unlabeled")) return {image_input(recipe, saved, paths)};
  const auto system = data_files(recipe.data);
  std::vector<PredictionInput> inputs;
  for (const auto& given : paths) {
    const auto path = given == kStdin && !stdin_file.empty() ? stdin_file : given;
    const bool files = dataset.has("file_each");  // of which one may be bad
    if (!files && system->info(path).kind == FileKind::none)
      throw Error(Exit::data, "no file '{}'", path);
    const Open open = [=](const std::string& file) { return build_data(recipe, saved, file); };
    inputs.push_back({fmt::format("'{}'", given),
                      [=] { return open(path); },
                      truth_of(*system, recipe, saved.classes, path),
                      {},
                      {}});
    if (files && !is_folder(*system, path)) inputs.back().sample = path;
    if (files && is_folder(*system, path))
      inputs.back().one_by_one = [=, truth = inputs.back().truth] {
        return single_texts(*system, extensions_of(recipe), path, open, truth);
      };
  }
  return inputs;
}

}  // namespace ddptrain
