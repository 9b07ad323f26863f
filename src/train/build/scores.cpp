#include "train/build/scores.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "data/dataset.h"
#include "distributed/engine.h"
#include "losses/rows.h"
#include "recipe/layers/nested.h"
#include "recipe/load/load.h"
#include "train/build/shapes.h"
#include "train/build/splits.h"
#include "train/catalogs.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// A loss or metric, where the recipe names it.
struct Named {
  const ChoiceBase& choice;
  const CatalogBase& catalog;
  std::string path;
  const EntryBase& entry() const { return *catalog.find(choice.type()); }
};

Named loss_of(const Recipe& recipe) { return {*recipe.loss.value, catalog<Loss>(), "loss"}; }

/// The loss and those that it is the sum of, at any depth.
std::vector<NestedChoice> losses_of(const Recipe& recipe) {
  return with_nested(*recipe.loss.value, "loss", all_catalogs());
}

Named named(const NestedChoice& loss) { return {loss.choice, catalog<Loss>(), loss.path}; }

Named metric_of(const Recipe& recipe, std::size_t index) {
  return {recipe.metrics.value->at(index), catalog<Metric>(), fmt::format("metrics[{}]", index)};
}

[[noreturn]] void refuse(const Named& part, const std::string& why) {
  throw Error(Exit::recipe, Option{part.path}, why, part.choice.node().place);
}

/// Does something with a part; an Error of it, about "metrics" or "loss.weight", becomes one about
/// this part with its place.
void with_place(const Named& part, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const auto dot = std::min(error.option().find('.'), error.option().size());
    const auto section = error.option().substr(0, dot), option = error.option().substr(dot);
    const bool of_part = section == "loss" || section == "metrics";
    if (error.code() != Exit::recipe || (error.place().known() && !of_part)) throw;
    throw Error(Exit::recipe, Option{part.path + option}, error.message(),
                error.place().known() ? error.place() : place_within(part.choice.node(), option));
  } catch (const c10::Error& error) {
    const std::string why = error.what_without_backtrace();
    refuse(part, fmt::format("'{}': {}", part.choice.type(), why.substr(0, why.find('\n'))));
  }
}

void require(const Named& part, const std::string& misfit) {
  if (!misfit.empty()) refuse(part, misfit);
}

/// The first held-out sample that can be read; nothing where there is none.
std::optional<Batch> held_out_sample(const Dataset& data) {
  for (std::int64_t index = 0; index < data.size(Split::valid); ++index) {
    auto batch = data.allocate_length(Split::valid, 1, data.length(Split::valid, index));
    batch.indices = {index};
    if (data.load(Split::valid, index, {}, batch, 0)) return batch;
  }
  return {};
}

std::vector<std::int64_t> class_counts(const Dataset& data) {
  std::vector<std::int64_t> counts(data.facts().classes.size());
  for (std::int64_t i = 0; i < data.size(Split::train); ++i) {
    const auto label = data.facts().mask ? -1 : data.label(Split::train, i);
    if (label < 0)
      throw Error(
          Exit::recipe, Option{"loss.class_weights"},
          "'class_weights: balanced' counts samples of one class each, and '{}' has not one",
          data.sample_name(Split::train, i));
    ++counts.at(static_cast<std::size_t>(label));
  }
  return counts;
}

}  // namespace

Scores build_scores(Recipe& recipe, const Dataset& data) {
  const auto targets = targets_of(data.facts());
  settle_scores(recipe, targets.kind);
  const auto& metrics = *recipe.metrics.value;
  const auto void_code = data.facts().mask ? data.facts().mask->void_code : std::nullopt;
  const MetricContext context{data.facts().classes, void_code, data.facts().sample,
                              data.facts().tokens};
  Scores scores;
  const auto fitting = [&](const Named& part) {
    require(part, target_misfit(part.entry(), part.catalog, targets));
  };
  for (const auto& loss : losses_of(recipe)) fitting(named(loss));
  with_place(loss_of(recipe), [&] {
    scores.loss = catalog<Loss>().build(
        *recipe.loss.value,
        LossContext{data.facts().class_count(), void_code, [&data] { return class_counts(data); }});
  });
  const auto is_loss = [](const auto& choice) { return choice.type() == "loss"; };
  if (std::none_of(metrics.begin(), metrics.end(), is_loss))
    scores.metrics.push_back(catalog<Metric>().build(Choice<Metric>("loss"), context));
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    fitting(metric_of(recipe, i));
    with_place(metric_of(recipe, i),
               [&] { scores.metrics.push_back(catalog<Metric>().build(metrics[i], context)); });
  }
  return scores;
}

namespace {

/// What losses and metrics are given of a batch.
struct ScoreInputs {
  at::Tensor output, target;
};

/// Where hidden states are projected, a few places of them.
ScoreInputs score_inputs(Training& t, const at::Tensor& output, const at::Tensor& target) {
  const auto projection = t.engine->model().projection();
  if (!projection) return {output.cpu(), target};
  constexpr std::int64_t few = 8;
  const auto learned = learned_places(output, target.to(output.device()));
  return {project(learned.hidden.slice(0, 0, few), projection).cpu(),
          learned.labels.slice(0, 0, few).cpu()};
}

void try_samples(Training& t, const Dataset& data, const std::string& which) {
  const auto batch = held_out_sample(data);
  if (!batch) return;
  const auto targets = targets_of(data.facts());
  const auto [output, target] =
      score_inputs(t, tried_output(t, *batch, which), batch->targets.at(0));
  const auto shape = output.sizes().vec();
  const ModelOutput given{*catalog<Model>().find(t.recipe.model.type()), shape};
  const auto fitting = [&](const Named& part) {
    require(part, output_misfit(part.entry(), part.choice, targets, given));
  };
  LossTerms loss;
  for (const auto& each : losses_of(t.recipe)) fitting(named(each));
  with_place(loss_of(t.recipe), [&] { loss = (*t.loss)(output, target); });
  const auto implied =
      t.metrics.size() - t.recipe.metrics.value->size();  // "loss", unless the recipe lists it
  for (std::size_t i = 0; i < t.recipe.metrics.value->size(); ++i) {
    const auto part = metric_of(t.recipe, i);
    const auto& metric = *t.metrics[implied + i];
    fitting(part);
    with_place(part, [&] { metric.values(metric.terms(output, target, loss)); });
  }
}

void try_split(Training& t, const ScoredSplit& split) {
  try {
    try_samples(t, *split.data, fmt::format("samples of '{}'", split.name));
  } catch (const Error&) {
    rethrow_of_split(split_path(split.name));
  }
}

}  // namespace

void try_scores(Training& t) {
  try_samples(t, *t.data, "held-out samples");
  for (const auto& split : t.splits) try_split(t, split);
  for (const auto& split : t.test) try_split(t, split);
}

}  // namespace ddptrain
