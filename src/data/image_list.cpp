#include "data/image_list.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "data/split.h"

namespace ddptrain {
namespace {

template <class T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<std::int64_t>& indices) {
  std::vector<T> some;
  some.reserve(indices.size());
  for (const auto i : indices) some.push_back(all[static_cast<std::size_t>(i)]);
  return some;
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// Each line of a text file must name a picture.
std::set<std::string> read_names(const std::string& file, const std::vector<ImageFile>& all) {
  std::set<std::string> known, names;
  for (const auto& each : all) known.insert({each.path, file_name(each.path)});
  int line = 0;
  for (const auto& text : split(read_text(file), '\n')) {
    ++line;
    const auto name = std::string(trim(text));
    if (name.empty()) continue;
    if (!known.contains(name))
      throw Error(Exit::data, file + ":" + std::to_string(line) + ": no picture '" + name + "'");
    names.insert(name);
  }
  return names;
}

Parts listed_parts(const std::vector<ImageFile>& all, const std::string& file) {
  const auto names = read_names(file, all);
  Parts parts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool held = names.contains(all[i].path) || names.contains(file_name(all[i].path));
    (held ? parts.valid : parts.train).push_back(static_cast<std::int64_t>(i));
  }
  return parts;
}

bool in_numeric_order(const std::string& a, const std::string& b) {
  return *parse_integer(a) < *parse_integer(b);
}

}  // namespace

void require_one_way(const ValidSpec& valid) {
  std::vector<std::string> ways;
  if (valid.folder) ways.push_back("'folder'");
  if (valid.fraction) ways.push_back("'fraction'");
  if (valid.list) ways.push_back("'list'");
  if (ways.size() > 1)
    throw Error(Exit::recipe,
                "data.valid has both " + ways[0] + " and " + ways[1] + "; write one of them");
}

void hold_out(ImageList& list, const ValidSpec& valid) {
  const auto all = std::move(list.files[0]);
  const auto weights = std::move(list.weights[0]);
  const auto parts = valid.list ? listed_parts(all, *valid.list)
                                : split_samples(static_cast<std::int64_t>(all.size()), valid);
  list.files = {chosen(all, parts.train), chosen(all, parts.valid)};
  if (!weights.empty()) list.weights = {chosen(weights, parts.train), chosen(weights, parts.valid)};
  const std::string way = valid.list ? "data.valid.list" : "data.valid.fraction";
  if (list.files[1].empty() || list.files[0].empty())
    throw Error(Exit::data, way + " leaves no sample of " + std::to_string(all.size()) + " for " +
                                (list.files[1].empty() ? "validation" : "training"));
}

std::vector<std::string> class_order(std::vector<std::string> labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const auto is_number = [](const auto& name) { return parse_integer(name).has_value(); };
  if (std::all_of(labels.begin(), labels.end(), is_number))
    std::stable_sort(labels.begin(), labels.end(), in_numeric_order);
  return labels;
}

void require_known_in_train(const ImageList& list) {
  std::vector<bool> known(list.classes.size());
  const auto each_label = [](const ImageFile& file, auto&& work) {
    if (file.label >= 0) work(static_cast<std::size_t>(file.label));
    for (const auto label : file.labels) work(static_cast<std::size_t>(label));
  };
  for (const auto& file : list.files[0])
    each_label(file, [&](std::size_t label) { known[label] = true; });
  for (const auto& file : list.files[1])
    each_label(file, [&](std::size_t label) {
      if (!known[label])
        throw Error(Exit::data, "class '" + list.classes[label] + "' (of '" + file.path +
                                    "') is only in the valid split");
    });
}

}  // namespace ddptrain
