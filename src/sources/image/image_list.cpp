#include "sources/image/image_list.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "sources/classes.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

template <class T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<std::int64_t>& indices) {
  std::vector<T> some;
  some.reserve(indices.size());
  for (const auto i : indices) some.push_back(all[static_cast<std::size_t>(i)]);
  return some;
}

std::vector<std::string> paths_of(const std::vector<ImageFile>& files) {
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(file.path);
  return paths;
}

std::vector<std::int64_t> labels_of(const ImageFile& file) {
  if (file.label < 0) return file.labels;
  return {file.label};
}

/// False where a label is of a class that is left out.
bool renumber(ImageFile& file, const ImageList& list, ClassNumbers& numbers) {
  const auto number = [&](std::int64_t label) {
    return numbers.of(list.classes[static_cast<std::size_t>(label)],
                      (std::filesystem::path(list.root) / file.path).string());
  };
  if (file.label >= 0) {
    const auto found = number(file.label);
    if (found) file.label = *found;
    return found.has_value();
  }
  for (auto& label : file.labels) {
    const auto found = number(label);
    if (!found) return false;
    label = *found;
  }
  return true;
}

/// The class of each file; none where they have not one each.
std::vector<std::string> classes_of(const ImageList& list, const std::vector<ImageFile>& files) {
  std::vector<std::string> classes;
  for (const auto& file : files) {
    if (file.label < 0 || list.classes.empty()) return {};
    classes.push_back(list.classes[static_cast<std::size_t>(file.label)]);
  }
  return classes;
}

bool in_numeric_order(const std::string& a, const std::string& b) {
  return *parse_integer(a) < *parse_integer(b);
}

/// Whether a path lies below a folder; both relative to root.
bool is_below(const std::string& path, const std::string& folder) {
  const auto inside = std::filesystem::path(path).lexically_relative(folder);
  return !inside.empty() && *inside.begin() != "..";
}

}  // namespace

ImageList unlabeled_images(const std::vector<std::string>& paths, const FileSystem& files) {
  ImageList list(files);
  for (const auto& path : paths) list.files[1].push_back({path, -1});
  list.files[0] = {list.files[1].front()};
  return list;
}

void hold_out(ImageList& list, const ValidSpec& valid) {
  const auto all = std::move(list.files[0]);
  const auto weights = std::move(list.weights[0]);
  const auto parts = hold_out(*list.file_system, paths_of(all), valid, "image",
                              {classes_of(list, all), std::move(list.groups)});
  list.files = {chosen(all, parts.train), chosen(all, parts.valid)};
  if (!weights.empty()) list.weights = {chosen(weights, parts.train), chosen(weights, parts.valid)};
}

void divide(ImageList& list, const ValidSpec& valid) {
  if (valid.divides()) return hold_out(list, valid);
  auto& files = list.files[0];
  const auto held = std::stable_partition(files.begin(), files.end(), [&](const auto& file) {
    return !is_below(file.path, *valid.folder);
  });
  list.files[1].assign(held, files.end());
  files.erase(held, files.end());
  if (files.empty() || list.files[1].empty())
    throw Error(Exit::data, Option{"data.valid.folder"}, "{} images are in '{}'",
                files.empty() ? "all" : "no", *valid.folder);
}

std::vector<std::string> class_order(std::vector<std::string> labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const auto is_number = [](const auto& name) { return parse_integer(name).has_value(); };
  if (std::all_of(labels.begin(), labels.end(), is_number))
    std::stable_sort(labels.begin(), labels.end(), in_numeric_order);
  return labels;
}

std::vector<std::string> classes_in_train(const ImageList& list) {
  std::vector<bool> met(list.classes.size());
  for (const auto& file : list.files[0])
    for (const auto label : labels_of(file)) met[static_cast<std::size_t>(label)] = true;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < met.size(); ++i)
    if (met[i]) names.push_back(list.classes[i]);
  return names;
}

void number_classes(ImageList& list, const KnownClasses& known,
                    const std::vector<std::string>& own) {
  ClassNumbers numbers(known, own);
  for (const std::size_t split : {0, 1}) {
    std::vector<std::int64_t> kept;
    auto& files = list.files[split];
    for (std::size_t i = 0; i < files.size(); ++i)
      if (renumber(files[i], list, numbers)) kept.push_back(static_cast<std::int64_t>(i));
    if (kept.size() == files.size()) continue;
    if (kept.empty())
      throw Error(Exit::data, "no sample of the {} split has a known class: {}",
                  split == 0 ? "training" : "validation", numbers.left_out());
    files = chosen(files, kept);
    if (!list.weights[split].empty()) list.weights[split] = chosen(list.weights[split], kept);
  }
  list.classes = numbers.names();
  if (const auto note = numbers.left_out(); !note.empty()) log::warning(note);
}

}  // namespace ddptrain
