// `predict RUN INPUT`: a CSV of what each sample is called, its label and the probability of each
// class, or its value in a regression, in data order.
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/verb.h"
#include "data/lengths.h"
#include "data/loader.h"
#include "jobs/saved_run.h"
#include "losses/activation.h"
#include "train/build.h"
#include "train/rank.h"
#include "train/state.h"
#include "train/tta.h"

namespace ddptrain {
namespace {

/// Every picture below a folder, through the run's transforms: what data sets of pictures predict.
Choice<Dataset> pictures_of(const Recipe& recipe, const std::string& folder) {
  auto node =
      Node::map({{"type", {}, Node::scalar("pictures")}, {"root", {}, Node::quoted_text(folder)}});
  for (const auto* option : {"transforms", "decode", "max_pixels"})
    if (const auto* given = recipe.data.node().find(option)) node.set(option, *given);
  Choice<Dataset> data;
  data.choose(std::move(node));
  return data;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// What outputs mean: one class a row, any number of labels, or without names numbers.
struct Classes {
  std::vector<std::string> names;
  OutputActivation activation;
  std::string delimiter = " ";
  bool several() const { return activation.kind == OutputActivation::Kind::sigmoid; }
};

/// By the loss and the data section that the run was trained with.
Classes classes_of(const SavedRun& run, const Loss& loss, std::vector<std::string> names) {
  Classes classes{std::move(names), loss.activation()};
  const bool numbers = classes.names.empty();
  if (!numbers && !classes.several()) classes.activation = {OutputActivation::Kind::softmax};
  if (numbers) classes.activation = {};
  const auto* data = run.tree.find("data");
  const auto* delimiter = data ? data->find("label_delimiter") : nullptr;
  if (delimiter && !delimiter->is_null()) classes.delimiter = delimiter->text;
  return classes;
}

std::string header(const std::string& name, const std::vector<std::string>& classes) {
  std::string line = name + (classes.empty() ? ",value" : ",label");
  for (const auto& each : classes) line += "," + csv_field(each);
  return line + "\n";
}

/// The likeliest class; of several labels those that are likelier than not.
std::string named(std::span<const double> probabilities, const Classes& classes) {
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  if (!classes.several())
    return classes.names.at(static_cast<std::size_t>(best - probabilities.begin()));
  std::vector<std::string> labels;
  for (std::size_t c = 0; c < probabilities.size(); ++c)
    if (probabilities[c] > 0.5) labels.push_back(classes.names.at(c));
  return join(labels, classes.delimiter);
}

/// What follows a sample's name, from its row of outputs.
std::string prediction(std::span<const double> output, const Classes& classes) {
  std::string text;
  if (!classes.names.empty()) text += "," + csv_field(named(output, classes));
  for (const double number : output) text += "," + format_number(number);
  return text;
}

std::string rows(const Dataset& data, const Batch& batch, const at::Tensor& output,
                 const Classes& classes) {
  const auto numbers =
      ddptrain::predictions(output, classes.activation).reshape({batch.rows, -1}).contiguous();
  const auto width = static_cast<std::size_t>(numbers.size(1));
  std::string text;
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
    text += csv_field(data.sample_name(Split::valid, batch.indices.at(row)));
    text += prediction({numbers.const_data_ptr<double>() + row * width, width}, classes) + "\n";
  }
  return text;
}

EpochPlan all_in_order(const Dataset& data, std::int64_t batch) {
  EpochPlan plan;
  plan.order.resize(static_cast<std::size_t>(data.size(Split::valid)));
  std::iota(plan.order.begin(), plan.order.end(), 0);
  for (std::int64_t first = 0; first < data.size(Split::valid); first += batch) {
    Micro micro;
    micro.positions.resize(
        static_cast<std::size_t>(std::min(batch, data.size(Split::valid) - first)));
    std::iota(micro.positions.begin(), micro.positions.end(), first);
    plan.micros.push_back(std::move(micro));
  }
  set_lengths(plan.micros, lengths_of(data, Split::valid, plan.order));
  return plan;
}

/// Of the plain pass, or of all that eval.tta asks for.
at::Tensor output_of_batch(const Batch& batch, Loader& loader, Engine& engine, const Loss& loss,
                           const std::optional<TtaSpec>& tta) {
  std::vector<at::Tensor> outputs{engine.evaluate(batch).cpu()};
  if (!tta) return outputs.front();
  for (std::int64_t pass = 1; pass <= tta->n; ++pass)
    outputs.push_back(engine.evaluate(loader.next()).cpu());
  return combined(outputs, loss, *tta);
}

std::string predictions(const SavedRun& run, Recipe recipe, const Placement& placement,
                        const std::string& input) {
  prepare_process(recipe, placement);
  auto world = join_world(recipe, placement, {});
  const auto checkpoint = load_checkpoint(run.checkpoint);
  const auto names = class_names(checkpoint);
  const auto loss =
      catalog<Loss>().build(recipe.loss, LossContext{static_cast<std::int64_t>(names.size())});
  const auto classes = classes_of(run, *loss, names);
  const auto data = build_data(recipe, fitted_state(checkpoint), input);
  auto facts = data->facts();
  facts.classes = classes.names;
  recipe.parallel.mode = Mode::none;
  auto engine = build_engine(recipe, placement, world, facts);
  restore(checkpoint.model, engine->model().state(), "the model");
  auto plan = all_in_order(*data, recipe.eval.batch.value.value());
  const auto batches = plan.micros.size();
  const auto& tta = recipe.eval.tta;
  if (tta) plan.micros = with_passes(plan.micros, tta->n);
  const auto loader = make_loader(*data, {.split = Split::valid,
                                          .workers = placement.threads,
                                          .seed = static_cast<std::uint64_t>(recipe.seed)});
  loader->start(std::move(plan));
  const at::NoGradGuard no_grad;
  std::string text = header(data->name_kind(), classes.names);
  for (std::size_t i = 0; i < batches; ++i) {
    const auto batch = loader->next();
    text += rows(*data, batch, output_of_batch(batch, *loader, *engine, *loss, tta), classes);
  }
  return text;
}

int predict(const Arguments& arguments) {
  auto run = open_run(arguments.words[0], {}, arguments.value("--checkpoint", "last"));
  require_checkpoint(run);
  run.recipe.parallel.mode = Mode::none;
  run.recipe.parallel.devices = {};
  run.recipe.batch = {};
  run.recipe.batch.global = run.recipe.eval.batch.value.value_or(64);
  const auto& input = arguments.words[1];
  const bool by_itself = catalog<Dataset>().find(run.recipe.data.type())->has("unlabelled");
  if (!by_itself) run.recipe.data = pictures_of(run.recipe, input);
  const auto placement = place(run.recipe, {});
  const auto text = predictions(run, resolved(run.recipe, placement), placement, input);
  if (arguments.has("--output"))
    write_atomically(arguments.value("--output"), text);
  else
    std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

Verb predict_verb() {
  return {
      .name = "predict",
      .usage = "RUN_FOLDER INPUT",
      .summary =
          "a CSV of label and probabilities, or value, for every picture below a folder or "
          "row of a table",
      .flags = {{"--checkpoint", "WHICH", "last (default), best, or a name such as step-00000740"},
                {"--output", "FILE", "write there instead of stdout"}},
      .min_words = 2,
      .max_words = 2,
      .run = predict};
}

}  // namespace ddptrain
