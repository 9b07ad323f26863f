#include "train/loop/completion.h"

#include <fmt/format.h>

#include <numeric>

#include "base/files/digest.h"
#include "base/text.h"
#include "callbacks/callback.h"
#include "config/encode.h"
#include "recipe/period.h"
#include "schedules/rate_plan.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

/// Steps of the run in epochs of the checkpoint's length.
std::int64_t total_steps(const Recipe& recipe, const SavedState& state) {
  RunLength length;
  length.per_epoch = state.steps_per_epoch;
  length.global = state.environment.global;
  const auto steps = stage_steps(recipe, length);
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

/// The reason of a stop that still holds; empty: none does.
std::string stop_reason(const Recipe& recipe, const SavedState& state) {
  const bool holds = state.stop && state.stop->asked == asked_length(recipe);
  return holds ? state.stop->reason : "";
}

std::string twice(Duration duration) {
  duration.count *= 2;
  return to_text(duration);
}

bool stops_by_patience(const Choice<Callback>& callback) {
  const auto* entry = catalog<Callback>().find(callback.type());
  return entry && entry->has("stops_by_patience");
}

/// `callbacks[0].patience=6` for the first callback with the trait "stops_by_patience": its option
/// `patience` counts evaluations without a better one.
std::string more_patience(Recipe recipe) {
  const auto record = encode(recipe, &all_catalogs());
  const auto* callbacks = record.find("callbacks");
  for (std::size_t i = 0; callbacks && i < callbacks->items.size(); ++i) {
    const auto* patience = callbacks->items[i].find("patience");
    const auto number = patience ? parse_integer(patience->text) : std::nullopt;
    if (stops_by_patience(recipe.callbacks.at(i)) && number)
      return fmt::format("callbacks[{}].patience={}", i, 2 * *number);
  }
  return {};
}

}  // namespace

std::string asked_length(const Recipe& recipe) {
  auto whole = recipe;
  const auto record = encode(whole, &all_catalogs());
  std::vector<Node> parts;
  for (const auto* key : {"duration", "stages", "fine_tune"})
    if (const auto* part = record.find("train")->find(key)) parts.push_back(*part);
  if (const auto* callbacks = record.find("callbacks")) parts.push_back(*callbacks);
  return sha256(to_yaml(Node::list(std::move(parts))));
}

std::string completion(const Recipe& recipe, const SavedState& state) {
  const auto& at = state.position;
  if (at.evaluated != at.step || at.evaluation_due) return {};
  if (const auto reason = stop_reason(recipe, state); !reason.empty()) return "stopped: " + reason;
  if (const auto seconds = seconds_of(recipe))
    return at.seconds >= *seconds ? "done: " + to_text(recipe.train.duration) : std::string();
  if (at.step < total_steps(recipe, state)) return {};
  return "done: " + plural(at.step, "step");
}

std::string extension(const Recipe& recipe, const SavedState& state) {
  const auto made = state.position.step;
  const bool steps_left = !seconds_of(recipe) && made < total_steps(recipe, state);
  if (const auto patience = more_patience(recipe); steps_left && !patience.empty()) return patience;
  const auto& train = recipe.train;
  if (train.fine_tune) return fmt::format("train.fine_tune.epochs={}", 2 * train.fine_tune->epochs);
  if (!train.stages.empty())
    return fmt::format("train.stages[{}].duration={}", train.stages.size() - 1,
                       twice(train.stages.back().duration));
  auto longer = recipe;  // than what was trained, which the recipe may have been cut below
  auto& duration = longer.train.duration;
  do duration.count *= 2;
  while (!seconds_of(recipe) && duration.count < 1e9 && total_steps(longer, state) <= made);
  return "train.duration=" + to_text(duration);
}

}  // namespace ddptrain
