#include "jobs/predict/predictor.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "data/loader/lengths.h"
#include "data/loader/loader.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "models/model.h"
#include "models/stored_state.h"
#include "recipe/load/load.h"
#include "train/build/build.h"
#include "train/loop/state.h"
#include "train/step/tta.h"

namespace ddptrain {
namespace {

EpochPlan all_in_order(const Dataset& data, std::int64_t rows, const World& world) {
  EpochPlan plan;
  const auto size = data.size(Split::valid);
  plan.order.resize(static_cast<std::size_t>(size));
  std::iota(plan.order.begin(), plan.order.end(), 0);
  for (std::int64_t first = 0; first < size; first += rows) {
    if (first / rows % world.size != world.rank) continue;
    Micro micro;
    micro.positions.resize(static_cast<std::size_t>(std::min(rows, size - first)));
    std::iota(micro.positions.begin(), micro.positions.end(), first);
    plan.micros.push_back(std::move(micro));
  }
  set_lengths(plan.micros, lengths_of(data, Split::valid, plan.order));
  return plan;
}

/// With the loss that goes with the targets, where the recipe leaves it to them.
Recipe settled(Recipe recipe, const SavedData& saved) {
  settle_scores(recipe, saved.classes.empty() ? TargetKind::numbers : TargetKind::classes);
  return recipe;
}

/// What a language model has computed of a text is no prediction.
void require_predictions(const Recipe& recipe) {
  if (catalog<Model>().find(recipe.model.type())->has("continues_texts"))
    throw Error(Exit::recipe,
                "model '{}' predicts the next token of a text; 'ddptrain generate' writes texts, "
                "'ddptrain eval' scores them",
                recipe.model.type());
}

}  // namespace

Predictor::Predictor(const PredictorJob& job, const Placement& placement, World& world)
    : placement_(placement),
      world_(world),
      saved_(load_saved_model(job.checkpoint)),
      recipe_(settled(job.recipe, saved())),
      loss_(catalog<Loss>().build(*recipe_.loss.value, LossContext{std::ssize(saved().classes)})) {
  require_predictions(recipe_);
}

Predictor::~Predictor() = default;

std::vector<PredictionInput> Predictor::inputs(const std::vector<std::string>& paths,
                                               const std::string& stdin_file) const {
  return prediction_inputs(recipe_, saved(), paths, stdin_file);
}

void Predictor::build(const Dataset& data) {
  auto facts = data.facts();
  facts.classes = saved().classes;  // of images whose labels are unknown
  auto recipe = recipe_;
  recipe.parallel.mode = Mode::none;
  engine_ = build_engine(recipe, placement_, world_, facts);
  restore(saved_.weights, stored_state(engine_->model()), "the model");
  saved_.weights.clear();
}

void Predictor::start(std::shared_ptr<const SkippingDataset> data, std::int64_t rows) {
  data_ = std::move(data);
  if (!engine_) build(*data_);
  auto plan = all_in_order(*data_, rows, world_);
  batches_ = static_cast<std::int64_t>(plan.micros.size());
  if (recipe_.eval.tta) plan.micros = with_passes(plan.micros, recipe_.eval.tta->n);
  const auto spec = decode<DataSection>(recipe_.data.node()).loader;
  LoaderOptions options;
  options.split = Split::valid;
  options.workers = static_cast<int>(spec.workers.value.value_or(placement_.threads));
  options.prefetch = static_cast<int>(spec.prefetch);
  options.seed = seed_of_data(recipe_);
  loader_ = build_loader(*data_, options, placement_, world_);
  loader_->start(std::move(plan));
}

Batch Predictor::next(at::Tensor& output) {
  const auto& tta = recipe_.eval.tta;
  std::vector<Batch> batches{loader_->next()};
  std::vector<at::Tensor> outputs{engine_->evaluate(batches.front())};
  for (std::int64_t pass = 1; tta && pass <= tta->n; ++pass) {
    batches.push_back(loader_->next());
    outputs.push_back(engine_->evaluate(batches.back()));
  }
  output = tta ? combined(outputs, *loss_, *tta, alignment(*data_, batches)) : outputs.front();
  output = output.cpu();
  return std::move(batches.front());
}

}  // namespace ddptrain
