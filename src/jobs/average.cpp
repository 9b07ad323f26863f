// `average RUN|CHECKPOINT|FILE... --output FILE`: the mean of several weights as one file.
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "cli/verb.h"
#include "jobs/saved_model.h"
#include "recipe/run_folders.h"
#include "train/transfer/fitted_names.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// A run stands for all its complete checkpoints.
std::vector<std::string> sources_of(const std::vector<std::string>& words) {
  std::vector<std::string> sources;
  for (const auto& word : words) {
    const bool weights = fs::is_regular_file(word) || fs::exists(word + "/MANIFEST.json") ||
                         fs::exists(word + "/model.safetensors");
    if (!weights && !fs::exists(word + "/" + kRecipeYaml)) throw no_run_folder(word);
    if (weights) {
      sources.push_back(word);
      continue;
    }
    const auto found = list_checkpoints(word + "/checkpoints");
    if (found.empty()) throw Error(Exit::data, "no complete checkpoint in '{}/checkpoints'", word);
    sources.insert(sources.end(), found.begin(), found.end());
  }
  return sources;
}

SavedWeights weights_of(const std::string& source, Calls calls) {
  if (!fs::exists(source + "/MANIFEST.json")) return read_saved_weights(source, calls);
  auto checkpoint = load_checkpoint(source);
  return {std::move(checkpoint.model), saved_names(checkpoint.state)};
}

[[noreturn]] void refuse_names(const std::string& source, const std::string& first,
                               const std::string& what) {
  throw Error(Exit::data,
              "'{}' cannot be averaged with '{}': its {} are others, or stand in another order, so "
              "that equal rows do not mean the same",
              source, first, what);
}

/// Rows that are added up must stand for the same: classes, words, categories.
void require_same_names(const SavedNames& names, const SavedNames& wanted,
                        const std::string& source, const std::string& first) {
  const auto here = fitted_names(names.fitted), there = fitted_names(wanted.fitted);
  if (names.classes != wanted.classes) refuse_names(source, first, "classes");
  if (names.targets != wanted.targets) refuse_names(source, first, "targets");
  const auto& columns = there.columns.empty() ? here.columns : there.columns;
  if (here.columns != there.columns)
    refuse_names(source, first,
                 columns[0].is_vocabulary ? "words" : "columns and their categories");
  if (here.numbers != there.numbers) refuse_names(source, first, "columns of numbers");
}

/// What all of them say that their rows stand for, where they say it.
SavedNames common_names(const std::vector<SavedNames>& all,
                        const std::vector<std::string>& sources) {
  std::size_t first = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == SavedNames()) continue;
    if (first == all.size()) first = i;
    require_same_names(all[i], all[first], sources[i], sources[first]);
  }
  return first == all.size() ? SavedNames() : all[first];
}

int average(const Arguments& arguments) {
  const auto file = arguments.value("--output");
  if (!file.ends_with(".safetensors"))
    throw Error(Exit::recipe, "average needs --output FILE.safetensors");
  const auto sources = sources_of(arguments.words);
  if (sources.size() < 2)
    throw Error(Exit::recipe,
                "'{}' alone has no average; name several, or a run that kept several "
                "(checkpoint.keep_last=5)",
                sources.front());
  std::vector<std::vector<NamedTensor>> models;
  std::vector<SavedNames> names;
  for (const auto& source : sources) {
    auto saved = weights_of(source, asked_calls(arguments));
    models.push_back(std::move(saved.tensors));
    names.push_back(std::move(saved.names));
  }
  const auto common = common_names(names, sources);
  auto header = common == SavedNames() ? std::map<std::string, std::string>() : header_of(common);
  header["format"] = "pt";
  write_safetensors(file, {average_weights(models, sources), header});
  for (const auto& source : sources) log::info("averaged {}", source);
  log::info("wrote the mean of {} to {}",
            plural(static_cast<std::int64_t>(sources.size()), "model"), file);
  return 0;
}

}  // namespace

Verb average_verb() {
  return {
      .name = "average",
      .usage = "RUN_FOLDER|CHECKPOINT|FILE...",
      .summary =
          "the mean of several weights, batch-norm statistics too; a run stands for all "
          "its checkpoints",
      .flags = {{"--output", "FILE", "where the mean is written, as .safetensors"}, kAllowCalls},
      .min_words = 1,
      .run = average};
}

}  // namespace ddptrain
