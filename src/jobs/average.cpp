// `average RUN|CHECKPOINT|FILE... --output FILE`: the mean of several weights as one file.
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "cli/verb.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// A run stands for all its complete checkpoints.
std::vector<std::string> sources_of(const std::vector<std::string>& words) {
  std::vector<std::string> sources;
  for (const auto& word : words) {
    if (!fs::exists(word + "/recipe.yaml")) {
      sources.push_back(word);
      continue;
    }
    const auto found = list_checkpoints(word + "/checkpoints");
    if (found.empty())
      throw Error(Exit::data, "no complete checkpoint in '" + word + "/checkpoints'");
    sources.insert(sources.end(), found.begin(), found.end());
  }
  return sources;
}

std::vector<NamedTensor> weights_of(const std::string& source) {
  return fs::exists(source + "/MANIFEST.json") ? load_checkpoint(source).model
                                               : read_weights(source);
}

int average(const Arguments& arguments) {
  const auto file = arguments.value("--output");
  if (!file.ends_with(".safetensors"))
    throw Error(Exit::recipe, "average needs --output FILE.safetensors");
  const auto sources = sources_of(arguments.words);
  if (sources.size() < 2)
    throw Error(Exit::recipe, "'" + sources.front() + "' alone has no average; name several");
  std::vector<std::vector<NamedTensor>> models;
  for (const auto& source : sources) models.push_back(weights_of(source));
  write_safetensors(file, {average_weights(models, sources), {{"format", "pt"}}});
  for (const auto& source : sources) log::info("averaged " + source);
  log::info("wrote the mean of " + plural(static_cast<std::int64_t>(sources.size()), "model") +
            " to " + file);
  return 0;
}

}  // namespace

Verb average_verb() {
  return {.name = "average",
          .usage = "RUN_FOLDER|CHECKPOINT|FILE...",
          .summary =
              "the mean of several weights, batch-norm statistics too; a run stands for all "
              "its checkpoints",
          .flags = {{"--output", "FILE", "where the mean is written, as .safetensors"}},
          .min_words = 1,
          .run = average};
}

}  // namespace ddptrain
