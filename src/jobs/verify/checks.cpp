#include "jobs/verify/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/text.h"
#include "jobs/verify/differences.h"
#include "jobs/verify/noise.h"
#include "jobs/verify/step_gradients.h"
#include "models/model.h"

namespace ddptrain {
namespace {

/// Which runs are compared, and how their rows are called.
struct Comparison {
  std::string what;
  std::string ranks;
  double allowed = 0;
  bool buffers = true;  // whether they are comparable
};

std::string ranks_text(const RunCut& cut) {
  const auto devices = std::to_string(cut.devices);
  return is_worth_a_word(cut.mode) ? fmt::format("{} ({})", devices, name_of(cut.mode)) : devices;
}

std::string one_and(const RunCut& cut) { return "1, " + ranks_text(cut); }

CheckedRow not_comparable(const CheckSetting& setting, const std::string& what,
                          const std::string& ranks, const std::string& why) {
  CheckedRow row{what, precision_name(setting.precision), ranks};
  row.verdict = Verdict::not_comparable;
  row.note = why;
  return row;
}

CheckedRow row_of(const CheckSetting& setting, const Comparison& comparison,
                  const Difference& difference) {
  CheckedRow row{comparison.what + ": " + difference.what, precision_name(setting.precision),
                 comparison.ranks, difference.largest, comparison.allowed};
  row.verdict = difference.beyond ? Verdict::different : Verdict::same;
  row.note = difference.first;
  return row;
}

/// Two runs that stop after the same step.
using PairUntil = std::function<std::pair<std::string, std::string>(std::int64_t until)>;

/// Names the step, out of `first` to `last`, after which the tensors were first apart.
void find_step(Differences& differences, const Comparison& comparison, const PairUntil& pair,
               std::int64_t first, std::int64_t last) {
  for (auto step = first; step <= last; ++step) {
    const auto [reference, other] = pair(step);
    for (const auto& then : checkpoint_differences(reference, other, comparison.allowed))
      for (auto& difference : differences)
        if (then.what == difference.what && then.beyond &&
            difference.first.find(" after step") == std::string::npos)
          difference.first = fmt::format("{} after step {}", then.first, step);
  }
}

Differences tensor_differences(const Comparison& comparison, const std::string& reference,
                               const std::string& other) {
  auto tensors = checkpoint_differences(reference, other, comparison.allowed);
  if (!comparison.buffers)
    std::erase_if(tensors, [](const Difference& each) { return each.what == kBuffers; });
  return tensors;
}

/// Rows of two runs until step `last`, of which `first` is the first that both made.
CheckedRows compare_pair(const CheckSetting& setting, const Comparison& comparison,
                         const PairUntil& pair, std::int64_t first, std::int64_t last) {
  const auto [reference, other] = pair(last);
  CheckedRows rows;
  for (const auto& each : step_differences(reference, other, comparison.allowed))
    rows.push_back(row_of(setting, comparison, each));
  auto tensors = tensor_differences(comparison, reference, other);
  if (std::any_of(tensors.begin(), tensors.end(), [](const auto& each) { return each.beyond; }))
    find_step(tensors, comparison, pair, first, last);
  for (const auto& each : tensors) rows.push_back(row_of(setting, comparison, each));
  return rows;
}

void append_rows(CheckedRows& rows, CheckedRows more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

/// The steps that a run really made: it may be shorter than what was asked for.
std::int64_t last_step(const std::string& folder) {
  const auto steps = traced_steps(folder);
  return steps.empty() ? 0 : steps.back().step;
}

/// Why there is no such run; empty: there is.
std::string why_uncut(const ShortRunPlan& plan, std::int64_t devices) {
  if (plan.global % devices == 0) return {};
  return fmt::format("batch.global {} cannot be split over {}", plan.global,
                     plural(devices, "rank"));
}

/// Why the recipe's own settings let several devices compute something else; empty: they do not.
std::string why_apart(const ShortRunPlan& plan) {
  const auto& comm = plan.recipe.parallel.ddp.comm;
  if (comm.power_sgd)
    return "gradients are compressed between ranks; without 'parallel.ddp.comm.power_sgd' they "
           "would be comparable";
  if (comm.dtype)
    return "gradients are rounded between ranks; 'parallel.ddp.comm.dtype=null' would make it so";
  const auto* section = plan.recipe.data.node().find("loader");
  const auto* shard = section ? section->find("shard") : nullptr;
  if (shard && !shard->is_null() && shard->text != "global_batch")
    return "ranks get the samples of another step; 'data.loader.shard=global_batch' would make it "
           "so";
  return {};
}

/// Micro-batches of a step such that each rank has some rows of each.
std::int64_t accumulate_on(const CheckSetting& setting, std::int64_t ranks) {
  return setting.runs.plan().global % (setting.accumulate * ranks) == 0 ? setting.accumulate : 1;
}

RunCut alone(const CheckSetting& setting, std::int64_t accumulate) {
  return {setting.precision, Mode::none, 1, accumulate};
}

/// Rows of two runs as they ended.
CheckedRows compare_ends(const CheckSetting& setting, const Comparison& comparison,
                         const std::string& reference, const std::string& other) {
  CheckedRows rows;
  for (const auto& each : step_differences(reference, other, comparison.allowed))
    rows.push_back(row_of(setting, comparison, each));
  for (const auto& each : tensor_differences(comparison, reference, other))
    rows.push_back(row_of(setting, comparison, each));
  return rows;
}

bool all_same(const CheckedRows& rows) {
  return std::ranges::all_of(rows, [](const auto& row) { return row.verdict == Verdict::same; });
}

/// Tensors of which a tenth or more of the gradient is rounding errors: "'bias' (8 of 8 numbers)".
std::string noisy_text(const FollowedGradients& gradients) {
  std::vector<std::string> texts;
  for (const auto& [name, noisy, nonzero] : gradients.noisy)
    if (10 * noisy >= nonzero)
      texts.push_back(fmt::format("'{}' ({} of {})", name, noisy, plural(nonzero, "number")));
  if (texts.size() > 8) texts.resize(8), texts.emplace_back("...");
  return join(texts, ", ");
}

std::string why_followed(const CheckSetting& setting, const FollowedGradients& gradients) {
  const auto noisy = noisy_text(gradients);
  const auto& optimizer = setting.runs.plan().recipe.optimizer.type();
  const auto cause = noisy.empty() ? "rounding errors of the gradients grow from step to step"
                                   : "the gradient of " + noisy +
                                         " is nothing but rounding errors, of which '" + optimizer +
                                         "' makes whole steps";
  return cause +
         "; so each step was compared from the same weights, and the weights after steps "
         "with the same gradients";
}

/// How far `own` of the followed gradients are from the others.
Difference difference_of(const FollowedGradients& own, double allowed) {
  return {kGradients, own.largest, !(own.largest <= allowed), fmt::format("step {}", own.step)};
}

/// Judges again what was beyond the precision's bound by the noise of this model.
void allow_for_noise(CheckedRows& rows, const Comparison& comparison,
                     const std::map<std::string, Noise>& noise) {
  for (auto& row : rows) {
    if (row.verdict != Verdict::different) continue;
    const auto found = noise.find(row.what.substr(comparison.what.size() + 2));
    if (found == noise.end()) continue;
    const auto allowance = allowance_of(found->second);
    if (!(row.largest <= allowance.bound) || !std::isfinite(allowance.bound)) continue;
    row.verdict = Verdict::same;
    row.allowed = allowance.bound;
    row.note = allowance.why;
  }
}

/// The same comparison where rounding errors cannot add up: one rank takes the gradients of the
/// other run, so that both have the same weights before each step. No rows where they differ even
/// so.
CheckedRows compare_followed(const CheckSetting& setting, const Comparison& comparison,
                             const RunCut& reference, const RunCut& other, std::int64_t last) {
  const auto kept = setting.runs.kept(other, last);
  const auto following = setting.runs.following(reference, last, kept);
  const auto gradients = followed_gradients(following);
  auto rows = compare_ends(setting, comparison, following, kept);
  rows.push_back(row_of(setting, comparison, difference_of(gradients, comparison.allowed)));
  if (!all_same(rows))
    allow_for_noise(rows, comparison, measured_noise(setting.runs, reference, last));
  if (!all_same(rows)) return {};
  for (auto& row : rows)
    if (row.what == comparison.what + ": weights")
      row.note = why_followed(setting, gradients);
    else if (row.allowed == comparison.allowed)
      row.note.clear();
  return rows;
}

CheckedRows compare_cuts(const CheckSetting& setting, const Comparison& comparison,
                         const RunCut& reference, const RunCut& other) {
  auto& runs = setting.runs;
  const auto last = last_step(runs.trained(reference, setting.steps));
  auto rows =
      compare_ends(setting, comparison, runs.trained(reference, last), runs.trained(other, last));
  if (!all_same(rows)) rows = compare_followed(setting, comparison, reference, other, last);
  if (!rows.empty()) return rows;
  const auto pair = [&](std::int64_t until) {
    return std::pair(runs.trained(reference, until), runs.trained(other, until));
  };
  return compare_pair(setting, comparison, pair, 1, last);
}

/// Batch statistics of each rank are those of as many micro-batches on one: all but the running
/// ones, which are rank 0's, is comparable.
CheckedRows compare_own_statistics(const CheckSetting& setting, Comparison comparison, RunCut cut) {
  cut.accumulate = 1;
  comparison.buffers = false;
  auto rows = compare_cuts(setting, comparison, alone(setting, cut.devices), cut);
  rows.push_back(not_comparable(
      setting, comparison.what + ": " + kBuffers, comparison.ranks,
      "each rank normalizes its own part of a batch (the other rows compare it with as many "
      "micro-batches on one rank); 'parallel.sync_bn=true' would make it so"));
  return rows;
}

CheckedRows check_devices(const CheckSetting& setting, const RunCut& cut) {
  const auto& plan = setting.runs.plan();
  const Comparison comparison{"parallel", one_and(cut), allowed_of(setting.precision)};
  if (const auto why = why_uncut(plan, cut.devices); !why.empty())
    return {not_comparable(setting, comparison.what, comparison.ranks, why)};
  if (const auto why = why_apart(plan); !why.empty())
    return {not_comparable(setting, comparison.what, comparison.ranks, why)};
  const auto reference = alone(setting, cut.accumulate);
  const auto passes = buffers_of_passes(setting.runs.trained(reference, setting.steps));
  const bool shared = plan.recipe.parallel.sync_bn.value.value_or(true);
  if (shared || !passes.statistics) return compare_cuts(setting, comparison, reference, cut);
  if (!passes.iterations) return compare_own_statistics(setting, comparison, cut);
  return {not_comparable(setting, comparison.what, comparison.ranks,
                         "each rank normalizes its own part of a batch, and spectral norm iterates "
                         "once a pass; 'parallel.sync_bn=true' would make it so")};
}

/// Those that a step is cut into: the fewest there can be, and the recipe's own.
std::vector<std::int64_t> pieces_of(const CheckSetting& setting) {
  const auto global = setting.runs.plan().global;
  std::vector<std::int64_t> pieces;
  for (std::int64_t fewest = 2; fewest <= global && pieces.empty(); ++fewest)
    if (global % fewest == 0) pieces.push_back(fewest);
  const auto own = setting.accumulate;
  if (own > 1 && !pieces.empty() && own != pieces[0]) pieces.push_back(own);
  return pieces;
}

CheckedRows check_resume_of(const CheckSetting& setting, const RunCut& cut) {
  auto& runs = setting.runs;
  const Comparison comparison{"resume", ranks_text(cut)};
  const auto made = last_step(runs.trained(cut, 2 * setting.steps));
  const auto half = std::min(setting.steps, made / 2);
  if (half == 0)
    return {not_comparable(setting, comparison.what, comparison.ranks,
                           "the run has one step, and nothing to continue with")};
  const auto saved = runs.trained(cut, half);
  const auto pair = [&](std::int64_t until) {
    return std::pair(runs.trained(cut, until), runs.resumed(cut, until, saved));
  };
  return compare_pair(setting, comparison, pair, half + 1, made);
}

}  // namespace

double allowed_of(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return 1e-12;
    case Precision::fp32:
      return std::sqrt(0x1p-23);
    case Precision::tf32:
    case Precision::fp16:
      return std::sqrt(0x1p-10);
    case Precision::bf16:
      return std::sqrt(0x1p-7);
  }
  return 0;
}

CheckedRows check_parallel(const CheckSetting& setting) {
  CheckedRows rows;
  for (const auto ranks : setting.ranks)
    for (const auto mode : compared_modes(setting.runs.plan().recipe.parallel.mode))
      append_rows(rows, check_devices(setting, {setting.precision, mode, ranks,
                                                accumulate_on(setting, ranks)}));
  return rows;
}

CheckedRows check_accumulate(const CheckSetting& setting) {
  const auto pieces = pieces_of(setting);
  if (pieces.empty())
    return {
        not_comparable(setting, "accumulate", "1", "a global batch of one sample has one part")};
  const auto whole = alone(setting, 1);
  const auto passes = buffers_of_passes(setting.runs.trained(whole, setting.steps));
  if (passes.statistics)
    return {not_comparable(setting, "accumulate", "1",
                           "batch norm normalizes each micro-batch by itself, so that their number "
                           "is part of the model; 'parallel' compares ranks with micro-batches")};
  if (passes.iterations)
    return {not_comparable(setting, "accumulate", "1", "spectral norm iterates once a pass")};
  CheckedRows rows;
  for (const auto count : pieces)
    append_rows(rows, compare_cuts(
                          setting,
                          {fmt::format("accumulate {}", count), "1", allowed_of(setting.precision)},
                          whole, alone(setting, count)));
  return rows;
}

CheckedRows check_eval(const CheckSetting& setting) {
  auto& runs = setting.runs;
  const auto reference = alone(setting, 1);
  const auto trained = runs.trained(reference, setting.steps);
  const auto scores = runs.scored(reference, trained);
  CheckedRows rows;
  for (const auto ranks : setting.ranks)
    for (const auto mode : compared_modes(runs.plan().recipe.parallel.mode)) {
      const RunCut cut{setting.precision, mode, ranks, 1};
      const Comparison comparison{"eval", one_and(cut)};
      if (const auto why = why_uncut(runs.plan(), ranks); !why.empty()) {
        rows.push_back(not_comparable(setting, comparison.what, comparison.ranks, why));
        continue;
      }
      for (const auto& each : score_differences(scores, runs.scored(cut, trained)))
        rows.push_back(row_of(setting, comparison, each));
    }
  return rows;
}

CheckedRows check_resume(const CheckSetting& setting) {
  auto rows = check_resume_of(setting, alone(setting, accumulate_on(setting, 1)));
  const auto most = *std::max_element(setting.ranks.begin(), setting.ranks.end());
  const auto& plan = setting.runs.plan();
  const auto why = why_uncut(plan, most);
  for (const auto mode : compared_modes(plan.recipe.parallel.mode)) {
    const RunCut cut{setting.precision, mode, most, accumulate_on(setting, most)};
    if (why.empty())
      append_rows(rows, check_resume_of(setting, cut));
    else
      rows.push_back(not_comparable(setting, "resume", ranks_text(cut), why));
  }
  return rows;
}

}  // namespace ddptrain
