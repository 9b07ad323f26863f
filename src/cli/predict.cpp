// `predict RUN FOLDER`: a CSV of path, label and the probability of each class, in data order.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/softmax.h>

#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/saved_run.h"
#include "cli/verb.h"
#include "data/loader.h"
#include "train/build.h"
#include "train/rank.h"
#include "train/state.h"

namespace ddptrain {
namespace {

/// The run's own data section with other files: every picture below a folder, labels unknown.
Choice<Dataset> pictures_of(const Recipe& recipe, const std::string& folder) {
  auto node =
      Node::map({{"type", {}, Node::scalar("pictures")}, {"root", {}, Node::quoted_text(folder)}});
  if (const auto* transforms = recipe.data.node().find("transforms"))
    node.set("transforms", *transforms);
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

std::string header(const std::vector<std::string>& classes) {
  std::string line = "path,label";
  for (const auto& name : classes) line += "," + csv_field(name);
  return line + "\n";
}

std::string rows(const Dataset& data, const Batch& batch, const at::Tensor& output,
                 const std::vector<std::string>& classes) {
  const auto probabilities = at::softmax(output.to(at::kDouble), 1);
  const auto best = at::argmax(probabilities, 1);
  std::string text;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const auto label = static_cast<std::size_t>(best[row].item<std::int64_t>());
    text +=
        csv_field(data.sample_name(Split::valid, batch.indices.at(static_cast<std::size_t>(row))));
    text += "," + csv_field(classes.at(label));
    for (std::int64_t c = 0; c < probabilities.size(1); ++c)
      text += "," + format_number(probabilities[row][c].item<double>());
    text += "\n";
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
  return plan;
}

std::string predictions(const SavedRun& run, Recipe recipe, const Placement& placement) {
  prepare_process(recipe, placement);
  auto world = join_world(recipe, placement, {});
  const auto checkpoint = load_checkpoint(run.checkpoint);
  const auto classes = class_names(checkpoint);
  const auto data = build_data(recipe, fitted_state(checkpoint));
  auto facts = data->facts();
  facts.classes = classes;
  recipe.parallel.mode = Mode::none;
  auto engine = build_engine(recipe, placement, world, facts);
  restore(checkpoint.model, engine->model().state(), "the model");
  auto plan = all_in_order(*data, recipe.eval.batch.value.value());
  const auto batches = plan.micros.size();
  const auto loader = make_loader(*data, {.split = Split::valid, .workers = placement.threads});
  loader->start(std::move(plan));
  const at::NoGradGuard no_grad;
  std::string text = header(classes);
  for (std::size_t i = 0; i < batches; ++i) {
    const auto batch = loader->next();
    text += rows(*data, batch, engine->evaluate(batch).cpu(), classes);
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
  run.recipe.data = pictures_of(run.recipe, arguments.words[1]);
  const auto placement = place(run.recipe, {});
  const auto text = predictions(run, resolved(run.recipe, placement), placement);
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
      .usage = "RUN_FOLDER FOLDER",
      .summary = "a CSV of path, label and probabilities for every picture below a folder",
      .flags = {{"--checkpoint", "WHICH", "last (default), best, or a name such as step-00000740"},
                {"--output", "FILE", "write there instead of stdout"}},
      .min_words = 2,
      .max_words = 2,
      .run = predict};
}

}  // namespace ddptrain
