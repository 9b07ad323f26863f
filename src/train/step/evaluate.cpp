#include "train/step/evaluate.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "data/dataset.h"
#include "data/loader/bad_samples.h"
#include "data/loader/lengths.h"
#include "data/loader/loader.h"
#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/row_states.h"
#include "distributed/world.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "optim/ema.h"
#include "sources/order/shard.h"
#include "train/requests.h"
#include "train/step/averaged_weights.h"
#include "train/step/projected_terms.h"
#include "train/step/terms_record.h"
#include "train/step/tta.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// Whom an evaluation asks and reports to while it runs.
struct EvaluationContext {
  const std::function<bool()>& asked;  // to stop; may be empty
  const std::function<void()>& alive;  // may be empty
  SampleRecord* record = nullptr;      // of single samples; or null
};

/// What the batches of an evaluation leave behind.
struct EvaluationRecord {
  TermsRecord terms;
  RowStates carried;
  std::int64_t left_out = 0;  // samples
};

/// Samples of one name, whose validation split is scored.
struct Samples {
  const std::string name;  // "valid", "sketch", "test"
  const Dataset& data;
  Loader& loader;
};

std::vector<Samples> all_samples(const Training& t, Evaluated which) {
  std::vector<Samples> all;
  if (which == Evaluated::validation) all.push_back({"valid", *t.data, *t.valid_loader});
  for (const auto& split : which == Evaluated::validation ? t.splits : t.test)
    all.push_back({split.name, *split.data, *split.loader});
  return all;
}

EvaluationCut cut_of(const Training& t, const Dataset& data) {
  const auto& tokens = data.facts().tokens;
  const auto streams = tokens ? tokens->valid_streams : 0;
  const auto batch = t.recipe.eval.batch.value.value();
  return {data.size(Split::valid), streams > 0 ? std::min(batch, streams) : batch, streams};
}

std::vector<Micro> batches_of(const Training& t, const Dataset& data, int rank) {
  auto micros = evaluation_batches(cut_of(t, data), rank, t.world->size);
  if (t.evaluation_batches && micros.size() > *t.evaluation_batches)
    micros.resize(*t.evaluation_batches);
  return micros;
}

EpochPlan plan_of(const Training& t, const Dataset& data) {
  EpochPlan plan;
  plan.order = longest_first(data, Split::valid);
  plan.micros = batches_of(t, data, t.world->rank);
  set_lengths(plan.micros, lengths_of(data, Split::valid, plan.order));
  return plan;
}

/// Where the outputs are; only terms travel.
void add_terms(TermsRecord& record, const Training& t, const at::Tensor& output, const Batch& batch,
               SampleRecord* samples = nullptr) {
  const auto target = batch.targets.at(0).to(output.device());
  if (const auto projection = t.engine->model().projection())
    return record.add(projected_terms(t, output, projection, target));
  const auto loss = (*t.loss)(output, target);
  if (samples) samples->add(output, target, loss, batch.indices);
  std::vector<at::Tensor> terms;
  for (const auto& metric : t.metrics) terms.push_back(metric->sums(output, target, loss));
  record.add(terms);
}

/// Outputs of the passes that follow a batch's plain one, which `batches` begins with.
void run_passes(Training& t, Loader& loader, std::vector<Batch>& batches,
                std::vector<at::Tensor>& outputs, const std::function<void()>& alive) {
  for (std::int64_t pass = 1; pass <= t.recipe.eval.tta->n; ++pass) {
    auto again = loader.next();
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

/// Adds the next batch: its terms, and those of test-time augmentation behind the plain ones.
void score_batch(Training& t, const Samples& samples, EvaluationRecord& record,
                 const EvaluationContext& context) {
  const auto& alive = context.alive;
  const auto& tta = t.recipe.eval.tta;
  const auto batch = samples.loader.next();
  record.left_out += batch.left_out;
  const auto carried = record.carried.of({batch.first_row, batch.rows});
  std::vector<at::Tensor> outputs{t.engine->evaluate(batch, carried.get())};
  add_terms(record.terms, t, outputs.front(), batch, context.record);
  if (alive) alive();
  if (!tta) return;
  std::vector<Batch> batches{batch};
  run_passes(t, samples.loader, batches, outputs, alive);
  add_terms(record.terms, t, combined(outputs, *t.loss, *tta, alignment(samples.data, batches)),
            batch);
}

std::int64_t passes_of_a_batch(const Training& t) {
  return t.recipe.eval.tta ? 1 + t.recipe.eval.tta->n : 1;
}

/// Terms of every batch of this rank; nothing where all ranks left early.
std::optional<at::Tensor> score_own_batches(Training& t, const Samples& samples,
                                            const EvaluationContext& context) {
  const at::NoGradGuard no_grad;
  auto plan = plan_of(t, samples.data);
  const auto batches = plan.micros.size();
  const auto rounds = batches_of(t, samples.data, 0).size();  // no rank has more
  if (t.recipe.eval.tta) plan.micros = with_passes(plan.micros, t.recipe.eval.tta->n);
  samples.loader.start(std::move(plan));
  EvaluationRecord record;
  const auto score_round = [&](std::size_t round) {
    if (round < batches) return score_batch(t, samples, record, context);
    for (std::int64_t pass = 0; pass < passes_of_a_batch(t); ++pass) t.engine->follow();
  };
  if (!in_rounds(*t.world->control, rounds, context.asked, score_round)) return {};
  return record.terms.drain(record.left_out);
}

/// How many samples were left out. All ranks see all records, so all of them throw.
std::int64_t check_left_out(const Training& t, const Samples& samples,
                            const std::vector<TermsReader>& ranks) {
  std::int64_t count = 0;
  for (const auto& rank : ranks) count += rank.left_out();
  require_few_bad(
      t.recipe.policy, count, samples.data.size(Split::valid),
      samples.name == "valid" ? "validation samples" : "samples of '" + samples.name + "'");
  return count;
}

/// Adds up records in which each batch has the terms of all metrics once for each prefix.
Evaluation add_up(const Training& t, const Samples& samples, std::vector<TermsReader> ranks,
                  const std::vector<std::string>& prefixes) {
  const auto count = t.metrics.size();
  std::vector<Metric::Terms> totals(count * prefixes.size());
  Evaluation found;
  found.left_out = check_left_out(t, samples, ranks);
  const auto cut = cut_of(t, samples.data);
  const auto reader = [&](std::int64_t batch) -> TermsReader& {
    return ranks[static_cast<std::size_t>(cut.rank_of(batch, std::ssize(ranks)))];
  };
  for (std::int64_t batch = 0; !reader(batch).at_end(); ++batch)
    for (std::size_t i = 0; i < totals.size(); ++i)
      t.metrics[i % count]->add(totals[i], reader(batch).next());
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

/// Scores under "sketch", or of averaged weights "sketch_ema".
std::optional<Evaluation> score(Training& t, const Samples& samples, const std::string& average,
                                const EvaluationContext& context) {
  std::vector<std::string> prefixes{samples.name + average};
  if (t.recipe.eval.tta) prefixes.push_back(prefixes.front() + "_tta");
  const auto record = score_own_batches(t, samples, context);
  if (!record) return {};
  const auto all = gather_rows(*t.world->control, *record);
  return add_up(t, samples, {all.begin(), all.end()}, prefixes);
}

std::optional<Evaluation> score_average(Training& t, const Samples& samples,
                                        const std::string& average,
                                        const EvaluationContext& context) {
  const AverageInPlace in_place(t);
  return score(t, samples, average, context);
}

// An average that has not begun is the model itself.
Evaluation under_average(const Samples& samples, const std::string& average, Evaluation found) {
  const auto rename = [&](std::string& name) { name.insert(samples.name.size(), average); };
  for (auto& value : found.values) rename(value.first);
  for (auto& table : found.tables) rename(table.name);
  return found;
}

void add(Evaluation& all, Evaluation more) {
  std::move(more.values.begin(), more.values.end(), std::back_inserter(all.values));
  std::move(more.tables.begin(), more.tables.end(), std::back_inserter(all.tables));
}

/// Adds what the weights score on some samples, and what their average does; false where all ranks
/// left early.
bool add_scores(Training& t, const Samples& samples, const EvaluationContext& context,
                Evaluation& all) {
  const bool shown = t.recipe.output.report && samples.name == "valid";
  SampleRecord record(t.loss->activation(), samples.data.size(Split::valid));
  auto found = score(t, samples, "", {context.asked, context.alive, shown ? &record : nullptr});
  if (!found) return false;
  all.left_out += found->left_out;
  std::optional<Evaluation> averaged;
  if (t.ema) {
    const auto average = average_suffix(t);
    averaged = has_average(t) ? score_average(t, samples, average, context)
                              : std::optional(under_average(samples, average, *found));
    if (!averaged) return false;
  }
  if (shown) all.samples = all_outcomes(gather_rows(*t.world->control, record.drain()));
  add(all, std::move(*found));
  if (averaged) add(all, std::move(*averaged));
  return true;
}

/// Names of metrics that the recipe asks for, with their split.
std::vector<std::string> asked_for(const Recipe& recipe) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    names.push_back(name.find('/') == std::string::npos ? "valid/" + name : name);
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

}  // namespace

std::optional<Evaluation> evaluate_unless(Training& t, const std::function<bool()>& asked,
                                          const std::function<void()>& alive, Evaluated which) {
  const PhaseScope phase(Phase::evaluation);
  t.engine->broadcast_buffers();
  Evaluation found;
  for (const auto& samples : all_samples(t, which))
    if (!add_scores(t, samples, {asked, alive}, found)) return {};
  add_asked_cells(t.recipe, found);
  return found;
}

std::int64_t evaluation_calls(const Training& t, Evaluated which) {
  std::size_t batches = 0;
  for (const auto& samples : all_samples(t, which))
    batches += batches_of(t, samples.data, t.world->rank).size();
  return static_cast<std::int64_t>(batches) * passes_of_a_batch(t) * (has_average(t) ? 2 : 1);
}

Evaluation evaluate(Training& t, const std::function<void()>& alive) {
  auto found = evaluate_unless(t, {}, alive);
  if (!found) fail_without_data(*t.world->control);
  return std::move(*found);
}

}  // namespace ddptrain
