// `export RUN FILE`: weights under their plain names, for torchvision, fastai and everything that
// reads safetensors; or with --embeddings, what was learned of each name of a column, as CSV.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/safetensors.h"
#include "cli/verb.h"
#include "jobs/export/embeddings.h"
#include "jobs/saved_run.h"
#include "train/run/state.h"

namespace ddptrain {
namespace {

// The averaged parameters over the model's own tensors; buffers where the average has its own.
std::vector<NamedTensor> averaged(const Checkpoint& checkpoint) {
  if (checkpoint.ema.empty())
    throw Error(Exit::recipe, "--ema: this run keeps no average of weights (train.ema, train.swa)");
  auto weights = checkpoint.model;
  for (auto& weight : weights)
    for (const auto& mean : checkpoint.ema)
      if (mean.name == weight.name) weight.tensor = mean.tensor;
  return weights;
}

/// "m.onnx" alone is as clear a wish as "RUN m.onnx".
void check_words(const std::vector<std::string>& words) {
  const auto& file = words.back();
  const auto dot = file.rfind('.');
  const bool named = dot != std::string::npos && file.find('/', dot) == std::string::npos;
  if (words.size() == 2 && file.ends_with(".safetensors")) return;
  if (named && !file.ends_with(".safetensors"))
    throw Error(Exit::recipe, "'" + file +
                                  "': only weights are exported, as .safetensors, which PyTorch, "
                                  "timm and Hugging Face read; there is no graph (ONNX, "
                                  "TorchScript); write 'ddptrain export RUN_FOLDER " +
                                  file.substr(0, dot) + ".safetensors'");
  if (words.size() == 2)
    throw Error(Exit::recipe, "'" + file + "': weights are written as .safetensors");
  throw Error(Exit::recipe, "usage: ddptrain export RUN_FOLDER FILE.safetensors");
}

int export_column(const Arguments& arguments) {
  if (arguments.words.size() != 2 || !arguments.words[1].ends_with(".csv"))
    throw Error(Exit::recipe, "usage: ddptrain export RUN_FOLDER FILE.csv --embeddings COLUMN");
  const auto run = open_run(arguments.words[0], {}, arguments.value(kCheckpoint.name, "last"));
  require_checkpoint(run);
  auto checkpoint = load_checkpoint(run.checkpoint);
  if (arguments.has("--ema")) checkpoint.model = averaged(checkpoint);
  export_embeddings(run.recipe, checkpoint, arguments.value("--embeddings"), arguments.words[1]);
  return 0;
}

int export_weights(const Arguments& arguments) {
  if (arguments.has("--embeddings")) return export_column(arguments);
  check_words(arguments.words);
  const auto& file = arguments.words[1];
  const auto run = open_run(arguments.words[0], {}, arguments.value(kCheckpoint.name, "last"));
  require_checkpoint(run);
  const auto checkpoint = load_checkpoint(run.checkpoint);
  const auto weights = arguments.has("--ema") ? averaged(checkpoint) : checkpoint.model;
  const nlohmann::json classes(saved_data(checkpoint).classes);
  write_safetensors(
      file,
      {weights,
       {{"format", "pt"},
        {"model", run.recipe.model.type()},
        {"classes", classes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}}});
  log::info("wrote " + plural(static_cast<std::int64_t>(weights.size()), "tensor") + " to " + file);
  return 0;
}

}  // namespace

Verb export_verb() {
  return {.name = "export",
          .usage = "RUN_FOLDER FILE.safetensors",
          .summary = "a run's weights with torchvision's or fastai's names",
          .flags = {kCheckpoint,
                    {"--ema", "", "the averaged weights"},
                    {"--embeddings", "COLUMN",
                     "of a table: FILE.csv gets a row for each user, item or other name"}},
          .min_words = 1,
          .max_words = 2,
          .run = export_weights};
}

}  // namespace ddptrain
