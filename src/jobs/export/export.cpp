// `export RUN FILE`: weights under their plain names, for torchvision, fastai and everything that
// reads safetensors, or under those of timm; the model as a graph (graph_file.h); or with
// --embeddings, what was learned of each name of a column, as CSV.
#include <ATen/CPUGeneratorImpl.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "checkpoint/published_names.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "cli/verb.h"
#include "jobs/export/embeddings.h"
#include "jobs/export/graph_file.h"
#include "jobs/export/huggingface.h"
#include "jobs/run_texts.h"
#include "jobs/saved_model.h"
#include "jobs/saved_run.h"
#include "models/embeddings.h"
#include "models/model.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

constexpr const char* kUsage = "usage: ddptrain export RUN_FOLDER FILE.safetensors|pt|onnx";
constexpr const char* kFolderUsage =
    "usage: ddptrain export RUN_FOLDER FOLDER --format huggingface";

/// "m.onnx" alone is as clear a wish as "RUN m.onnx".
void check_words(const std::vector<std::string>& words) {
  const auto& file = words.back();
  const bool known = file.ends_with(".safetensors") || is_graph_file(file);
  if (words.size() == 2 && known) return;
  if (words.size() == 2)
    throw Error(Exit::recipe,
                "'{}': a file ends in .safetensors (weights, for PyTorch, timm and Hugging Face), "
                ".pt (TorchScript) or .onnx",
                file);
  if (known)
    throw Error(
        Exit::recipe,
        "'{}' is the file to write; write the run before it: 'ddptrain export RUN_FOLDER {}'", file,
        file);
  throw Error(Exit::recipe, kUsage);
}

WhichWeights weights_of(const Arguments& arguments) {
  return arguments.has("--ema") ? WhichWeights::averaged : WhichWeights::own;
}

int export_column(const Arguments& arguments) {
  if (arguments.words.size() != 2 || !arguments.words[1].ends_with(".csv"))
    throw Error(Exit::recipe, "usage: ddptrain export RUN_FOLDER FILE.csv --embeddings COLUMN");
  const auto run = open_run(arguments.words[0], {}, arguments.value(kCheckpoint.name, "last"));
  require_checkpoint(run);
  export_embeddings(run.recipe, load_saved_model(run.checkpoint, weights_of(arguments)),
                    arguments.value("--embeddings"), arguments.words[1]);
  return 0;
}

constexpr Flag kGraphBatch{"--batch", "N",
                           "of a graph: batches of N rows alone, instead of any number"};
constexpr Flag kPrecision{"--precision", "fp32|fp16",
                          "of a graph: what it computes in; inputs and outputs stay float32"};
constexpr Flag kNames{"--names", "torchvision|timm",
                      "of weights: what that library calls them (default: their own names)"};
constexpr Flag kPreprocessing{"--with-preprocessing", "",
                              "of a graph: it takes decoded images of any size, and resizes, "
                              "crops and normalizes them itself"};

std::int64_t rows_of(const Arguments& arguments) {
  const auto text = arguments.value(kGraphBatch.name, "dynamic");
  if (text == "dynamic") return 0;
  const auto rows = parse_integer(text);
  if (!rows || *rows < 1)
    throw Error(Exit::recipe, "--batch: '{}' is neither 'dynamic' nor a number of rows", text);
  return *rows;
}

bool is_half(const Arguments& arguments) {
  const auto text = arguments.value(kPrecision.name, "fp32");
  if (text != "fp32" && text != "fp16")
    throw Error(Exit::recipe, "--precision: '{}' is not 'fp32' or 'fp16'", text);
  return text == "fp16";
}

constexpr Flag kFolderFormat{"--format", "huggingface",
                             "a folder for transformers, with the tokenizer of texts"};

/// Flags that only a graph has.
void refuse_graph_flags(const Arguments& arguments) {
  for (const auto& flag : {kGraphBatch, kPrecision, kPreprocessing})
    if (arguments.has(flag.name))
      throw Error(Exit::recipe,
                  "{} is of a graph, and weights have none; write FILE.pt or FILE.onnx", flag.name);
}

/// Rows of the tensor that the trait `embeds` names, of a model of texts; 0: it has none.
std::int64_t vocabulary_of(const Recipe& recipe, const SavedModel& saved) {
  const auto& entry = *catalog<Model>().find(recipe.model.type());
  if (!entry.has("takes_texts")) return 0;
  const auto names = embedding_names(entry, 0);
  for (const auto& [name, tensor] : saved.weights)
    if (!names.empty() && name == names.front()) return tensor.size(0);
  return 0;
}

/// The checkpoint's model for its options and the names of its tensors alone: no data are read, and
/// no weight of it counts.
std::unique_ptr<Model> model_of(const Recipe& recipe, const SavedModel& saved) {
  ModelContext context;
  context.data.classes = saved.data.classes;
  if (context.data.classes.empty()) context.data.classes.resize(2);
  if (const auto words = vocabulary_of(recipe, saved); words > 0) {
    context.data.cardinalities = {words};
    context.data.padding = 0;
  }
  context.generator = at::make_generator<at::CPUGeneratorImpl>(0);
  return catalog<Model>().build(recipe.model, context);
}

std::vector<NamedTensor> named_weights(const Arguments& arguments, const Recipe& recipe,
                                       const SavedModel& saved) {
  if (!arguments.has(kNames.name)) return saved.weights;
  const auto library = arguments.chosen(kNames) == 0 ? Library::torchvision : Library::timm;
  const auto model = model_of(recipe, saved);
  for (const auto& table : model->name_tables())
    if (const auto why = table.differs ? table.differs("") : "";
        table.library == library && !why.empty())
      log::warning("the weights fit {}'s network, which computes otherwise: {}", name_of(library),
                   why);
  return published_as(library, saved.weights, *model);
}

int export_folder(const Arguments& arguments) {
  if (arguments.value(kFolderFormat.name) != "huggingface")
    throw Error(Exit::recipe, "--format: '{}' is not 'huggingface'",
                arguments.value(kFolderFormat.name));
  if (arguments.words.size() != 2 || is_graph_file(arguments.words[1]) ||
      arguments.words[1].ends_with(".safetensors"))
    throw Error(Exit::recipe, kFolderUsage);
  refuse_graph_flags(arguments);
  if (arguments.has(kNames.name))
    throw Error(Exit::recipe, "--names: a folder for transformers has the names of transformers");
  const auto run = open_run(arguments.words[0], {}, arguments.value(kCheckpoint.name, "last"));
  require_checkpoint(run);
  const auto saved = load_saved_model(run.checkpoint, weights_of(arguments));
  const auto model = model_of(run.recipe, saved);
  const auto texts = published_texts(run.recipe, saved.data, arguments.value(kTokenizerFile.name));
  write_huggingface_folder(arguments.words[1], *model, saved.weights, texts);
  return 0;
}

int export_model(const Arguments& arguments) {
  if (arguments.has("--embeddings")) return export_column(arguments);
  if (arguments.has(kFolderFormat.name)) return export_folder(arguments);
  if (arguments.has(kTokenizerFile.name))
    throw Error(Exit::recipe,
                "--tokenizer is of a folder for transformers; add --format huggingface");
  check_words(arguments.words);
  const auto& file = arguments.words[1];
  const bool graph = is_graph_file(file);
  if (!graph) refuse_graph_flags(arguments);
  if (graph && arguments.has(kNames.name))
    throw Error(Exit::recipe,
                "--names is of weights, and a graph has none; write FILE.safetensors");
  const GraphFile wanted{file, rows_of(arguments), is_half(arguments),
                         arguments.has(kPreprocessing.name), weights_of(arguments)};
  const auto run = open_run(arguments.words[0], {}, arguments.value(kCheckpoint.name, "last"));
  require_checkpoint(run);
  if (graph) return export_graph(run, wanted), 0;
  const auto saved = load_saved_model(run.checkpoint, weights_of(arguments));
  auto header = header_of(saved_names(read_text(run.checkpoint + "/" + kStateJson)));
  header["format"] = "pt";
  header["model"] = run.recipe.model.type();
  const auto weights = named_weights(arguments, run.recipe, saved);
  write_safetensors(file, {weights, header});
  log::info("wrote {} to {}", plural(std::ssize(weights), "tensor"), file);
  return 0;
}

}  // namespace

Verb export_verb() {
  return {.name = "export",
          .usage = "RUN_FOLDER FILE.safetensors|pt|onnx",
          .summary = "a run's weights as .safetensors, or its model as TorchScript or ONNX",
          .flags = {kCheckpoint,
                    {"--ema", "", "the averaged weights"},
                    {"--embeddings", "COLUMN",
                     "of a table: FILE.csv gets a row for each user, item or other name"},
                    kNames,
                    kFolderFormat,
                    kTokenizerFile,
                    kGraphBatch,
                    kPrecision,
                    kPreprocessing},
          .min_words = 1,
          .max_words = 2,
          .run = export_model};
}

}  // namespace ddptrain
