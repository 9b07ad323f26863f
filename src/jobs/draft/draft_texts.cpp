// `init` from texts: a folder of them, or lines of JSON.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "jobs/draft/draft.h"
#include "jobs/draft/draft_language.h"
#include "sources/files/mapped_file.h"
#include "sources/image/image_scan.h"
#include "sources/text/text_records.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// What `text_folder` would take for a class, and is none.
std::vector<std::string> ignored_names(const std::string& root, const ClassFolders& folders) {
  auto names = folders.siblings;
  for (const auto& split : {folders.train, folders.valid}) {
    std::error_code error;
    if (split.empty()) continue;
    for (const auto& entry : fs::directory_iterator(fs::path(root) / split, error)) {
      const auto name = entry.path().filename().string();
      const bool known = std::any_of(folders.classes.begin(), folders.classes.end(),
                                     [&](const ClassCount& one) { return one.name == name; });
      if (!known && !is_hidden(entry.path())) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

struct JsonKeys {
  std::string text;
  std::vector<std::string> labels;
};

/// The longest text of the first object, and what may be a label.
JsonKeys keys_of(const std::string& file) {
  const MappedFile mapped(file);
  const auto bytes = mapped.bytes();
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto line = trim(all.substr(0, std::min(all.find('\n'), all.size())));
  const auto object = json_or_null(line);
  if (!object.is_object())
    throw Error(Exit::data, "{}:1: not an object, {{\"text\": ..., \"label\": ...}}, in a line",
                file);
  JsonKeys keys;
  std::size_t longest = 0;
  for (const auto& [key, value] : object.items()) {
    const auto length = value.is_string() ? value.get<std::string>().size() : 0;
    if (length > longest) keys.text = key, longest = length;
  }
  for (const auto& [key, value] : object.items())
    if (key != keys.text && (value.is_string() || value.is_number_integer() || value.is_boolean()))
      keys.labels.push_back(key);
  return keys;
}

std::vector<ClassCount> classes_of_lines(const std::string& file, const JsonKeys& keys,
                                         const std::string& label) {
  TextRecordOptions options;
  options.file = file;
  options.text = {keys.text};
  options.label = label;
  std::map<std::string, std::int64_t> counts;
  for (const auto& record : read_json_lines(file, options, Labels::known, InvalidUtf8::error))
    ++counts[record.label];
  std::vector<ClassCount> classes;
  for (const auto& [name, count] : counts) classes.push_back({name, count, 0});
  return classes;
}

/// Of lines that a key tells apart: no label does.
bool differ_in_most(const std::vector<ClassCount>& classes) {
  std::int64_t lines = 0;
  for (const auto& one : classes) lines += one.train;
  return lines > 2 && 2 * std::ssize(classes) > lines;
}

}  // namespace

std::string text_recipe(const std::string& data, const std::vector<ClassCount>& classes,
                        std::int64_t training) {
  const int epochs = training < 1000 ? 20 : training < 10000 ? 8 : 4;
  const bool few = training < 5000;
  const auto scores = classes.empty()
                          ? std::string("loss: mse\nmetrics: [rmse, mae, r2]\n")
                          : fmt::format(
                                "loss: cross_entropy\n"
                                "metrics: [accuracy{}]\n",
                                is_unbalanced(classes) ? ", {type: f1, average: macro}" : "");
  return fmt::format(
      "# An embedding of each word and pair of words, averaged: small, fast and hard to beat.\n"
      "# Others: text_transformer, awd_lstm; `ddptrain describe model awd_lstm`.\n"
      "model: {{type: bag_of_embeddings, dim: 32, ngrams: 2, buckets: {}, dropout: 0.3, "
      "token_dropout: 0.2}}\n\n"
      "data:\n"
      "{}  vocabulary: {{min_freq: {}}}\n"
      "  max_length: 512\n"
      "  sampler: length_sorted               # little padding\n\n"
      "batch: {{global: {}}}\n"
      "train: {{duration: {} epochs}}\n"
      "{}optimizer: {{type: adamw, lr: 1e-2, weight_decay: 0}}\n{}",
      few ? "20000" : "200000", data, few ? "2" : "3", fitting_batch(training, 64), epochs, scores,
      closing_lines(classes.empty() ? "rmse" : "accuracy", epochs));
}

Draft draft_texts(const InitRequest& request) {
  const ImageScan scan(request.path, {".txt"});
  const auto list = [&](const std::string& folder) { return scan.images(folder); };
  auto folders = class_folders_of(request.path, list);
  if (request.language || !folders || folders->classes.size() == 1)
    return draft_language_folder(request);
  Draft draft;
  draft.found = found_classes(folders->classes, "text");
  add_unscored(*folders, draft.found);
  draft.found.push_back(kLearnsToContinue);
  draft.found.push_back(found_split(folders->valid.empty() ? "" : "folder " + folders->valid));
  auto data = fmt::format("  type: text_folder\n  root: {}\n{}", yaml_text(request.written),
                          split_lines(*folders));
  if (const auto ignored = ignored_names(request.path, *folders); !ignored.empty())
    data += fmt::format("  ignore: {}\n", yaml_list(ignored));
  draft.recipe = text_recipe(data, folders->classes,
                             training_samples(folders->classes, !folders->valid.empty()));
  return draft;
}

Draft draft_json_lines(const InitRequest& request) {
  const auto keys = keys_of(request.path);
  if (keys.text.empty()) throw Error(Exit::data, "{}:1: no text in it", request.path);
  const auto label =
      request.language ? "" : choose_target(request, keys.labels, [](const auto&) { return true; });
  if (label.empty())
    return draft_language_lines(request, keys.text,
                                "no key looks like a label, --target KEY names one");
  const auto classes = classes_of_lines(request.path, keys, label);
  if (request.target.empty() && differ_in_most(classes))
    return draft_language_lines(request, keys.text,
                                "'" + label + "' differs in most lines, --target " + label +
                                    " takes it for a label nevertheless");
  Draft draft;
  draft.found = found_classes(classes, "text");
  draft.found.push_back(fmt::format("texts: key '{}'; target: key '{}'{}", keys.text, label,
                                    request.target.empty() ? "; --target KEY takes another" : ""));
  draft.found.push_back(kLearnsToContinue);
  draft.found.push_back(found_split(""));
  const auto data = fmt::format(
      "  type: text_jsonl\n"
      "  file: {}\n"
      "  text: [{}]\n"
      "  label: {}\n"
      "  valid: {{fraction: 0.2, seed: 42}}     # 20 % of the lines, always the same\n",
      yaml_text(request.written), yaml_text(keys.text), yaml_text(label));
  draft.recipe = text_recipe(data, classes, training_samples(classes, false));
  return draft;
}

}  // namespace ddptrain
