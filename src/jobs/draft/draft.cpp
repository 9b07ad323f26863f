#include "jobs/draft/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "sources/image/image_scan.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code unknown;
    if (entry.is_directory(unknown) && !is_hidden(entry.path()))
      names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::int64_t count_in(const ListFiles& list, const fs::path& folder) {
  return static_cast<std::int64_t>(list(folder.lexically_normal().string()).size());
}

bool is_split_name(const std::string& name) {
  const std::vector<std::string> words{"train", "training", "val", "valid", "validation", "test"};
  return std::find(words.begin(), words.end(), lower(name)) != words.end();
}

/// The first of the names that is a folder here, as it is spelled there.
std::string first_of(const std::vector<std::string>& folders,
                     const std::vector<std::string>& names) {
  for (const auto& name : names)
    for (const auto& folder : folders)
      if (lower(folder) == name) return folder;
  return "";
}

/// Classes of the training folder; a folder without files is none.
void add_classes(ClassFolders& found, const fs::path& root, const ListFiles& list) {
  for (const auto& name : folders_in(root / found.train)) {
    const auto train = count_in(list, fs::path(found.train) / name);
    if (train == 0) {
      found.siblings.push_back(name);
      continue;
    }
    const auto valid = fs::path(found.valid) / name;
    std::error_code unknown;
    const bool scored = !found.valid.empty() && fs::is_directory(root / valid, unknown);
    found.classes.push_back({name, train, scored ? count_in(list, valid) : 0});
  }
}

void leave_out_unscored(ClassFolders& found) {
  const auto is_unscored = [](const ClassCount& one) { return one.valid == 0; };
  if (found.valid.empty() || std::ranges::all_of(found.classes, is_unscored)) return;
  for (const auto& one : found.classes)
    if (is_unscored(one)) found.unscored.push_back(one.name);
  std::erase_if(found.classes, is_unscored);
}

std::int64_t total(const ClassCount& one) { return one.train + one.valid; }

std::pair<std::int64_t, std::int64_t> fewest_and_most(const std::vector<ClassCount>& classes) {
  const auto less = [](const auto& a, const auto& b) { return total(a) < total(b); };
  const auto [few, many] = std::minmax_element(classes.begin(), classes.end(), less);
  return {total(*few), total(*many)};
}

/// What columns of targets are called, the surest first.
const std::vector<std::string> kTargetNames{
    "target",  "label",    "labels", "class",    "y",         "outcome", "diagnosis",
    "species", "survived", "churn",  "churned",  "price",     "preis",   "kaufpreis",
    "prix",    "precio",   "salary", "income",   "gehalt",    "sales",   "revenue",
    "umsatz",  "default",  "fraud",  "category", "kategorie", "score",   "rating"};

/// Whether a column has this name, or as one of its words: "price_eur", "SalePrice".
bool is_called(const std::string& column, const std::string& usual, bool whole) {
  if (whole) return lower(column) == usual;
  std::string word;
  bool found = false;
  for (std::size_t i = 0; i <= column.size(); ++i) {
    const auto c = i < column.size() ? static_cast<unsigned char>(column[i]) : '_';
    const bool starts =
        std::isupper(c) && i > 0 && std::islower(static_cast<unsigned char>(column[i - 1]));
    if (!std::isalnum(c) || starts) {
      found = found || (usual.size() > 1 && lower(word) == usual);
      word.clear();
    }
    if (std::isalnum(c)) word += static_cast<char>(c);
  }
  return found;
}

}  // namespace

std::string folder_called(const std::string& root, const std::vector<std::string>& names) {
  return first_of(folders_in(root), names);
}

std::optional<ClassFolders> class_folders_of(const std::string& root, const ListFiles& list) {
  const auto folders = folders_in(root);
  ClassFolders found;
  if (const auto train = first_of(folders, {"train", "training"}); !train.empty()) {
    found.train = train;
    found.valid = first_of(folders, {"val", "valid", "validation", "test"});
    if (!found.valid.empty() && count_in(list, found.valid) == 0) found.valid.clear();
  }
  add_classes(found, root, list);
  const bool only_splits =
      std::all_of(found.classes.begin(), found.classes.end(),
                  [](const ClassCount& one) { return is_split_name(one.name); });
  if (found.classes.empty() || (found.train == "." && only_splits)) return {};
  leave_out_unscored(found);
  return found;
}

void add_unscored(const ClassFolders& folders, std::vector<std::string>& found) {
  if (folders.unscored.empty()) return;
  found.push_back("not in the validation split, and left out: " + join(folders.unscored, ", "));
}

std::int64_t training_samples(const std::vector<ClassCount>& classes, bool has_split) {
  std::int64_t train = 0;
  for (const auto& one : classes) train += one.train;
  return has_split ? train : train - std::llround(kHeldOut * static_cast<double>(train));
}

bool is_unbalanced(const std::vector<ClassCount>& classes) {
  const auto [few, many] = fewest_and_most(classes);
  return many > 3 * few;
}

std::vector<std::string> found_classes(const std::vector<ClassCount>& classes,
                                       const std::string& noun) {
  constexpr std::size_t shown = 8;
  std::int64_t sum = 0;
  std::vector<std::string> counts;
  for (const auto& one : classes) {
    sum += total(one);
    if (counts.size() < shown) counts.push_back(one.name + " " + with_commas(total(one)));
  }
  if (classes.size() > shown) counts.emplace_back("...");
  std::vector<std::string> found{
      fmt::format("{} in {}{}{}", counted(sum, noun), classes.size(),
                  classes.size() == 1 ? " class: " : " classes: ", join(counts, ", "))};
  if (classes.size() < 2)
    throw Error(Exit::data, "{}; a classifier needs two classes or more", found[0]);
  const auto [few, many] = fewest_and_most(classes);
  if (few < 10)
    found.push_back(fmt::format("the smallest class has {}, which is very few to learn from",
                                counted(few, noun)));
  if (is_unbalanced(classes))
    found.push_back(fmt::format("classes differ in size ({} to {}): look at f1 as well as accuracy",
                                with_commas(few), with_commas(many)));
  return found;
}

std::string found_split(const std::string& split) {
  return split.empty() ? "no validation split: 20 % are held out, the same ones in each run"
                       : "validation split: " + split;
}

std::string split_lines(const ClassFolders& folders) {
  std::string lines = fmt::format("  train: {}\n", yaml_text(folders.train));
  if (folders.valid.empty())
    return lines +
           "  valid: {fraction: 0.2, seed: 42}     # 20 % of the samples, always the same\n";
  return lines + "  valid: " + yaml_text(folders.valid) +
         "     # the folder of the validation split, next to that of training\n";
}

std::string choose_target(const InitRequest& request, const std::vector<std::string>& columns,
                          const std::function<bool(const std::string&)>& may_be) {
  if (!request.target.empty()) {
    if (std::find(columns.begin(), columns.end(), request.target) != columns.end())
      return request.target;
    const auto near = nearest(request.target, columns);
    throw Error(Exit::recipe, "--target: there is no column '{}'{}", request.target,
                did_you_mean(near, "; there are " + join(columns, ", ")));
  }
  for (const bool whole : {true, false})
    for (const auto& usual : kTargetNames)
      for (const auto& column : columns)
        if (is_called(column, usual, whole) && may_be(column)) return column;
  const auto last = std::find_if(columns.rbegin(), columns.rend(), may_be);
  return last == columns.rend() ? "" : *last;
}

std::string with_commas(std::int64_t count) {
  const auto digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string counted(std::int64_t count, std::string_view noun) {
  const auto ending = count == 1 ? "" : noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", with_commas(count), noun, ending);
}

std::string yaml_text(const std::string& text) { return to_flow(Node::quoted_text(text)); }

std::string yaml_list(const std::vector<std::string>& texts) {
  std::vector<Node> items;
  for (const auto& text : texts) items.push_back(Node::quoted_text(text));
  return to_flow(Node::list(std::move(items)));
}

std::string closing_lines(const std::string& metric, int epochs) {
  return std::string("schedule: one_cycle                      # the rate rises, then falls to ") +
         "nothing\ncheckpoint: {" + (epochs >= 10 ? "every: 5 epochs, " : "") +
         "keep_best: {metric: " + metric +
         "}}\n# callbacks: [{type: early_stopping, metric: " + metric + ", patience: 5}]\n";
}

std::int64_t fitting_batch(std::int64_t training, std::int64_t most) {
  std::int64_t batch = 8;
  while (batch < most && batch * 10 <= training) batch *= 2;
  return batch;
}

}  // namespace ddptrain
