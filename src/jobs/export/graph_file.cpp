#include "jobs/export/graph_file.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "base/version.h"
#include "config/encode.h"
#include "data/dataset.h"
#include "export/onnx/conversion.h"
#include "export/traced_model.h"
#include "jobs/export/decoded_images.h"
#include "jobs/export/preprocessing.h"
#include "models/model.h"
#include "models/stored_state.h"
#include "train/build/build.h"
#include "train/loop/state.h"
#include "train/run/rank.h"

namespace ddptrain {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr const char* kOnnxEnding = ".onnx";
constexpr std::int64_t kMostSamples = 64;
constexpr std::int64_t kSecondBatch = 3;
constexpr double kTolerance = 1e-5;      // of the largest output; the operators are the same
constexpr double kHalfTolerance = 0.05;  // fp16 has 11 bits, and a network many layers

/// The model with the checkpoint's weights, and the data that it reads.
struct ModelAndData {
  std::unique_ptr<Dataset> data;
  std::unique_ptr<Model> model;
  SavedData saved;
  std::unique_ptr<DecodedImages> images = {};  // where the graph has the preprocessing
  Split split = Split::valid;
};

ModelAndData load_model(const SavedRun& run, const GraphFile& file) {
  const auto saved = load_saved_model(run.checkpoint, file.weights);
  ModelAndData loaded;
  loaded.saved = saved.data;
  loaded.data = build_data(run.recipe, saved.data);
  if (file.preprocessing)
    loaded.images = std::make_unique<DecodedImages>(run.recipe, saved.data, *loaded.data);
  if (loaded.data->size(Split::valid) == 0) loaded.split = Split::train;
  if (loaded.data->size(loaded.split) == 0)
    throw Error(Exit::data, "there is no sample to compare the graph with the model on");
  ModelContext context;
  context.data = loaded.data->facts();
  context.generator = at::make_generator<at::CPUGeneratorImpl>(0);
  loaded.model = catalog<Model>().build(run.recipe.model, context);
  restore(saved.weights, stored_state(*loaded.model), "the model");
  return loaded;
}

/// Samples `first` .. `first + rows - 1`, through the transforms of validation.
Batch samples(const ModelAndData& loaded, std::int64_t first, std::int64_t rows) {
  const auto& data = *loaded.data;
  std::int64_t length = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    length = std::max(length, data.length(loaded.split, first + i));
  auto batch = length > 0 ? data.allocate_length(loaded.split, rows, length)
                          : data.allocate(loaded.split, rows);
  Draw draw;
  draw.plain = loaded.split == Split::train;
  std::vector<char> bad(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i)
    bad[static_cast<std::size_t>(i)] = !data.load(loaded.split, first + i, draw, batch, i);
  leave_out(batch, bad);
  if (batch.inputs.at(0).size(0) == 0)
    throw Error(Exit::data, "no sample could be read to compare the graph with the model on");
  return batch;
}

/// Of images after the transforms of validation, which need not give the size of training ones.
std::vector<std::int64_t> sample_shape(const ModelAndData& loaded) {
  const auto& sample = loaded.data->facts().sample;
  if (sample.size() != 3) return sample;
  return samples(loaded, 0, 1).inputs[0].sizes().slice(1).vec();
}

/// A dimension of any size from what is there, again and again.
at::Tensor tiled(const at::Tensor& tensor, std::int64_t dimension, std::int64_t size) {
  const auto places = at::arange(size, at::kLong).remainder(tensor.size(dimension));
  return tensor.index_select(dimension, places);
}

std::vector<std::string> input_names(const EntryBase& model, std::size_t count) {
  std::vector<std::string> names{"images"};
  if (model.has("takes_texts")) names = {"tokens"};
  if (model.has("takes_tables")) names = {"names", "numbers"};
  while (names.size() < count) names.push_back(fmt::format("input{}", names.size()));
  names.resize(count);
  return names;
}

/// What a consumer has to know in addition to the graph.
Json metadata_of(const SavedRun& run, const ModelAndData& loaded, const GraphFile& file) {
  Json json{{"format", 1},
            {"ddptrain", version()},
            {"model", run.recipe.model.type()},
            {"classes", loaded.saved.classes},
            {"input", sample_shape(loaded)},
            {"preprocessing", file.preprocessing}};
  const auto* data = run.tree.find("data");
  const auto* transforms = data ? data->find("transforms") : nullptr;
  const auto* valid = transforms && transforms->is_map() ? transforms->find("valid") : nullptr;
  if (valid) json["transforms"] = to_flow(*valid);
  if (!loaded.saved.fitted.empty()) json["data"] = json_or_null(loaded.saved.fitted);
  return json;
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return INFINITY;
  return a.numel() == 0 ? 0 : a.sub(b).abs().max().item<double>();
}

/// Inputs with what the model makes of them.
struct GraphExample {
  Tensors inputs;
  at::Tensor output;
  std::int64_t samples = 0;  // the inputs may repeat them
};

struct Compared {
  std::int64_t samples = 0;
  double difference = 0;  // the largest
  double output = 0;      // the largest, without its sign
};

class GraphExport {
 public:
  GraphExport(const SavedRun& run, const GraphFile& file)
      : run_(run), file_(file), loaded_(load_model(run, file)), entry_(entry_of(run)) {
    if (trait_argument(entry_, "reads_segments"))
      throw Error(Exit::recipe,
                  "'{}' reads a text segment by segment, as often as its length asks for, and a "
                  "graph has no such loop; its weights can be exported as .safetensors",
                  run.recipe.model.type());
    if (entry_.has("scripted"))
      throw Error(Exit::recipe,
                  "'{}' is a graph already, that of model.file; export its weights as "
                  ".safetensors, and read them in Python with load_state_dict",
                  run.recipe.model.type());
    if (entry_.has("continues_texts"))
      throw Error(Exit::recipe,
                  "'{}' writes a text token by token, which a graph does not; its weights can be "
                  "exported as .safetensors",
                  run.recipe.model.type());
  }

  void write() {
    TraceOptions options;
    const auto example = example_inputs(options);
    options.inputs = input_names(entry_, example.size());
    options.rows = file_.rows;
    options.tokens = entry_.has("takes_texts");
    options.half = file_.half;
    const auto expected_outputs = expected();
    if (file_.half) loaded_.model->to(at::kCPU, at::kHalf);
    auto traced = trace(*loaded_.model, examples(example), options);
    auto bytes = saved(traced);
    std::istringstream stream(bytes);
    auto read = torch::jit::load(stream);
    const auto compared = compare(read, expected_outputs);
    if (file_.path.ends_with(kOnnxEnding))
      bytes = to_bytes(onnx(traced, example, expected_outputs[0].output));
    write_atomically(file_.path, bytes);
    log::info("wrote {} ({}); largest difference between the traced graph and the model on {}: {}",
              file_.path, format_bytes(std::ssize(bytes)), plural(compared.samples, "sample"),
              short_number(compared.difference));
  }

 private:
  static const EntryBase& entry_of(const SavedRun& run) {
    return *catalog<Model>().find(run.recipe.model.type());
  }

  std::int64_t most() const { return std::min(loaded_.data->size(loaded_.split), kMostSamples); }

  /// What the graph takes, and what then becomes of it before the model.
  Tensors example_inputs(TraceOptions& options) const {
    if (!loaded_.images) return samples(loaded_, 0, std::min(most(), kSecondBatch)).inputs;
    const auto image = loaded_.images->image(loaded_.split, 0);
    const auto shape = sample_shape(loaded_);
    const Extent result{static_cast<int>(shape[0]), static_cast<int>(shape[1]),
                        static_cast<int>(shape[2])};
    options.prepare = image_preparation(size_changes_of(run_.recipe, result), *image.pixels);
    return {image.inputs[0]};
  }

  static ExampleInputs examples(const Tensors& inputs) {
    return [inputs](std::int64_t rows, std::int64_t tokens) {
      Tensors all;
      for (const auto& input : inputs) all.push_back(tiled(input, 0, rows));
      if (inputs[0].dim() == 2 && inputs[0].scalar_type() == at::kLong && inputs.size() == 1)
        all[0] = tiled(all[0], 1, tokens);
      return all;
    };
  }

  /// A value of the ONNX graph with the shape of an example, but for what follows the batch.
  OnnxValue value_of(const std::string& name, const at::Tensor& example,
                     const std::vector<std::string>& dynamic) const {
    OnnxValue value{name, example.scalar_type(), {}};
    for (const auto size : example.sizes()) value.shape.emplace_back(size);
    if (file_.rows > 0)
      value.shape[0] = file_.rows;
    else
      value.shape[0] = "batch";
    for (std::size_t i = 0; i < dynamic.size(); ++i) value.shape[i + 1] = dynamic[i];
    return value;
  }

  OnnxModel onnx(const TracedModel& traced, const Tensors& inputs, const at::Tensor& output) const {
    std::vector<std::string> dynamic;
    if (entry_.has("takes_texts")) dynamic = {"tokens"};
    if (loaded_.images) dynamic = {"height", "width"};
    std::vector<OnnxValue> values;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      values.push_back(value_of(traced.inputs[i], inputs[i], dynamic));
    const auto name = loaded_.saved.classes.empty() ? "output" : "logits";
    auto model = Conversion(traced.module).convert(values, value_of(name, output, {}));
    const auto metadata = metadata_of(run_, loaded_, file_);
    for (const auto& [key, value] : metadata.items())
      model.metadata.emplace_back(
          key, value.is_string() ? value.get<std::string>() : lossy_json_text(value));
    return model;
  }

  std::string saved(TracedModel& traced) const {
    std::ostringstream stream;
    const auto metadata = lossy_json_text(metadata_of(run_, loaded_, file_));
    traced.module.save(stream, {{"ddptrain.json", metadata}});
    return stream.str();
  }

  /// What the model gives for as many samples as there may be, and for one: a graph must not have
  /// taken the size of one batch. Decoded images differ in size, and so come one by one, the first
  /// repeated.
  std::vector<GraphExample> expected() const {
    std::vector<GraphExample> all;
    if (!loaded_.images) {
      const auto count = file_.rows > 0 ? std::min(most(), file_.rows) : most();
      all.push_back(expected(0, count, file_.rows));
      if (file_.rows > 0) return all;
      all.push_back(expected(most() - 1, 1, 0));
      all.back().samples = 0;  // it is counted already
      return all;
    }
    for (std::int64_t i = 0; i < most(); ++i) {
      const auto rows = file_.rows > 0 ? file_.rows : i == 0 ? kSecondBatch : 1;
      all.push_back(expected(i, 1, rows));
      all.back().inputs = {tiled(loaded_.images->image(loaded_.split, i).inputs[0], 0, rows)};
    }
    return all;
  }

  /// Of `count` samples, repeated to `rows`; 0: as they are.
  GraphExample expected(std::int64_t first, std::int64_t count, std::int64_t rows) const {
    const at::NoGradGuard no_grad;
    const auto batch = samples(loaded_, first, count);
    GraphExample example{batch.inputs, {}, batch.inputs[0].size(0)};
    if (rows > 0)
      for (auto& input : example.inputs) input = tiled(input, 0, rows);
    example.output = loaded_.model->run(example.inputs, {});
    return example;
  }

  Compared compare(torch::jit::Module& graph, const std::vector<GraphExample>& examples) const {
    const at::NoGradGuard no_grad;
    Compared compared;
    for (const auto& [inputs, expected, count] : examples) {
      const auto output = graph.forward({inputs.begin(), inputs.end()}).toTensor();
      compared.samples += count;
      const auto difference = largest_difference(output, expected);
      if (!(difference <= compared.difference)) compared.difference = difference;
      compared.output = std::max(compared.output, expected.abs().max().item<double>());
    }
    const double most = file_.half ? kHalfTolerance : kTolerance;
    if (!(compared.difference <= most * std::max(1.0, compared.output)))
      throw Error(
          Exit::expect,
          "the graph is not the model: on {} the largest difference is {}; nothing was written",
          plural(compared.samples, "sample"), short_number(compared.difference));
    return compared;
  }

  const SavedRun& run_;
  const GraphFile& file_;
  ModelAndData loaded_;
  const EntryBase& entry_;
};

/// In this process, on the CPU, in single precision.
Recipe on_this_machine(Recipe recipe) {
  recipe.parallel.mode = Mode::none;
  recipe.train.precision.value = Precision::fp32;
  return recipe;
}

}  // namespace

bool is_graph_file(const std::string& path) {
  return path.ends_with(".pt") || path.ends_with(kOnnxEnding);
}

void export_graph(const SavedRun& run, const GraphFile& file) {
  SavedRun here = run;
  here.recipe = on_this_machine(run.recipe);
  GraphExport(here, file).write();
}

}  // namespace ddptrain
