#include "train/step/evaluate.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "data/dataset.h"
#include "data/loader/lengths.h"
#include "data/loader/loader.h"
#include "data/loader/tolerant.h"
#include "data/order/shard.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "optim/ema.h"
#include "train/requests.h"
#include "train/step/swapped.h"
#include "train/step/terms_record.h"
#include "train/step/tta.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// What an evaluation asks of the process around it.
struct Surroundings {
  const std::function<bool()>& asked;  // to stop; may be empty
  const std::function<void()>& alive;  // may be empty
};

std::vector<Micro> valid_batches(const Training& t, int rank) {
  auto micros = evaluation_batches(t.data->size(Split::valid), t.recipe.eval.batch.value.value(),
                                   rank, t.world->size);
  if (t.evaluation_batches && micros.size() > *t.evaluation_batches)
    micros.resize(*t.evaluation_batches);
  return micros;
}

EpochPlan valid_plan(const Training& t) {
  EpochPlan plan;
  plan.order = longest_first(*t.data, Split::valid);
  plan.micros = valid_batches(t, t.world->rank);
  set_lengths(plan.micros, lengths_of(*t.data, Split::valid, plan.order));
  return plan;
}

/// Where the outputs are; only terms travel.
void add_terms(TermsRecord& record, const Training& t, const at::Tensor& output,
               const Batch& batch) {
  const auto target = batch.targets.at(0).to(output.device());
  const auto loss = (*t.loss)(output, target);
  std::vector<at::Tensor> terms;
  for (const auto& metric : t.metrics) terms.push_back(metric->sums(output, target, loss));
  record.add(terms);
}

/// Outputs of the passes that follow a batch's plain one, which `batches` begins with.
void run_passes(const Training& t, std::vector<Batch>& batches, std::vector<at::Tensor>& outputs,
                const std::function<void()>& alive) {
  for (std::int64_t pass = 1; pass <= t.recipe.eval.tta->n; ++pass) {
    auto again = t.valid_loader->next();
    if (again.indices != batches.front().indices)
      throw Error(Exit::data,
                  "a held-out sample could be read in one pass of eval.tta and not in another; see "
                  "the warnings above, and leave it out of the data");
    outputs.push_back(t.engine->evaluate(again));
    again.inputs.clear();
    batches.push_back(std::move(again));
    if (alive) alive();
  }
}

/// Adds terms of the next batch, those of test-time augmentation behind the plain ones; how many of
/// its samples were left out.
std::int64_t score_batch(const Training& t, TermsRecord& record,
                         const std::function<void()>& alive) {
  const auto& tta = t.recipe.eval.tta;
  const auto batch = t.valid_loader->next();
  std::vector<at::Tensor> outputs{t.engine->evaluate(batch)};
  add_terms(record, t, outputs.front(), batch);
  if (alive) alive();
  if (!tta) return batch.left_out;
  std::vector<Batch> batches{batch};
  run_passes(t, batches, outputs, alive);
  add_terms(record, t, combined(outputs, *t.loss, *tta, alignment(*t.data, batches)), batch);
  return batch.left_out;
}

/// Terms of every batch of this rank; nothing where all ranks left early.
std::optional<std::string> score_own_batches(const Training& t, const Surroundings& around) {
  const at::NoGradGuard no_grad;
  auto plan = valid_plan(t);
  const auto batches = plan.micros.size();
  const auto rounds = valid_batches(t, 0).size();  // no rank has more
  if (t.recipe.eval.tta) plan.micros = with_passes(plan.micros, t.recipe.eval.tta->n);
  t.valid_loader->start(std::move(plan));
  TermsRecord record;
  std::int64_t left_out = 0;
  const auto score_round = [&](std::size_t round) {
    if (round < batches) left_out += score_batch(t, record, around.alive);
  };
  if (!in_rounds(*t.world->control, rounds, around.asked, score_round)) return {};
  std::string count;
  const auto all = static_cast<double>(left_out);
  append(count, &all, 1);
  return count + record.take();
}

/// How many samples were left out. All ranks see all records, so all of them throw.
std::int64_t check_left_out(const Training& t, const std::vector<std::string>& records,
                            std::vector<std::size_t>& at) {
  double left_out = 0;
  for (std::size_t rank = 0; rank < records.size(); ++rank)
    left_out += take(records[rank], at[rank]).at(0);
  const auto count = static_cast<std::int64_t>(left_out);
  require_few_bad(t.recipe.policy, count, t.data->size(Split::valid), "validation samples");
  return count;
}

/// Adds up records in which each batch has the terms of all metrics once for each prefix.
Evaluation add_up(const Training& t, const std::vector<std::string>& records,
                  const std::vector<std::string>& prefixes) {
  const auto count = t.metrics.size();
  std::vector<Metric::Terms> totals(count * prefixes.size());
  std::vector<std::size_t> at(records.size(), 0);
  Evaluation found;
  found.left_out = check_left_out(t, records, at);
  for (std::size_t rank = 0; at[rank] < records[rank].size(); rank = (rank + 1) % records.size())
    for (std::size_t i = 0; i < totals.size(); ++i)
      t.metrics[i % count]->add(totals[i], take(records[rank], at[rank]));
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const auto prefix = prefixes[i / count] + "/";
    for (auto& [name, value] : t.metrics[i % count]->values(totals[i]))
      found.values.emplace_back(prefix + name, value);
    for (auto& table : t.metrics[i % count]->tables(totals[i])) {
      table.name = prefix + table.name;
      found.tables.push_back(std::move(table));
    }
  }
  return found;
}

std::optional<Evaluation> score(const Training& t, const std::string& prefix,
                                const Surroundings& around) {
  std::vector<std::string> prefixes{prefix};
  if (t.recipe.eval.tta) prefixes.push_back(prefix + "_tta");
  const auto record = score_own_batches(t, around);
  if (!record) return {};
  return add_up(t, gather_text(*t.world->control, *record), prefixes);
}

std::optional<Evaluation> score_average(const Training& t, const std::string& prefix,
                                        const Surroundings& around) {
  const Swapped parameters(t.engine->model().named_parameters(), t.ema->parameters());
  const Swapped buffers(t.engine->model().named_buffers(), t.ema->buffers());
  return score(t, prefix, around);
}

// An average that has not begun is the model itself.
Evaluation under_prefix(const std::string& prefix, Evaluation found) {
  const auto rename = [&](std::string& name) {
    name.replace(0, std::string("valid").size(), prefix);
  };
  for (auto& value : found.values) rename(value.first);
  for (auto& table : found.tables) rename(table.name);
  return found;
}

/// Names of metrics that the recipe asks for, with their split.
std::vector<std::string> asked_for(const Recipe& recipe) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    names.push_back(name.starts_with("valid") ? name : "valid/" + name);
  };
  for (const auto& expected : recipe.expect) add(expected.first);
  if (recipe.checkpoint.keep_best) add(recipe.checkpoint.keep_best->metric);
  for (const auto& callback : recipe.callbacks)
    if (const auto* metric = callback.node().find("metric")) add(metric->text);
  return names;
}

void add_asked_cells(const Recipe& recipe, Evaluation& found) {
  for (const auto& name : asked_for(recipe)) {
    const auto is_there = [&](const auto& value) { return value.first == name; };
    if (std::any_of(found.values.begin(), found.values.end(), is_there)) continue;
    for (const auto& table : found.tables)
      if (const auto cell = find_cell(table, name)) {
        found.values.emplace_back(name, *cell);
        break;
      }
  }
}

bool scores_average(const Training& t) { return t.ema && t.ema->updates() > 0; }

}  // namespace

std::optional<Evaluation> evaluate_unless(const Training& t, const std::function<bool()>& asked,
                                          const std::function<void()>& alive) {
  const Surroundings around{asked, alive};
  t.engine->broadcast_buffers();
  auto found = score(t, "valid", around);
  if (!found) return {};
  if (t.ema) {
    const std::string prefix = t.recipe.train.swa ? "valid_swa" : "valid_ema";
    auto averaged = scores_average(t) ? score_average(t, prefix, around)
                                      : std::optional(under_prefix(prefix, *found));
    if (!averaged) return {};
    std::move(averaged->values.begin(), averaged->values.end(), std::back_inserter(found->values));
    std::move(averaged->tables.begin(), averaged->tables.end(), std::back_inserter(found->tables));
  }
  add_asked_cells(t.recipe, *found);
  return found;
}

std::int64_t evaluation_calls(const Training& t) {
  auto batches = evaluation_batches(t.data->size(Split::valid), t.recipe.eval.batch.value.value(),
                                    t.world->rank, t.world->size)
                     .size();
  if (t.evaluation_batches) batches = std::min(batches, *t.evaluation_batches);
  const auto passes = t.recipe.eval.tta ? 1 + t.recipe.eval.tta->n : 1;
  return static_cast<std::int64_t>(batches) * passes * (scores_average(t) ? 2 : 1);
}

Evaluation evaluate(const Training& t, const std::function<void()>& alive) {
  auto found = evaluate_unless(t, {}, alive);
  if (!found) fail_without_data(*t.world->control);
  return std::move(*found);
}

}  // namespace ddptrain
