// Batch arithmetic.
#include "base/error.h"
#include "recipe/batch_plan.h"
#include "recipe/load.h"
#include "recipe/rules.h"

namespace ddptrain {
namespace {

/// How many devices the recipe itself says; nothing when that depends on the machine.
std::optional<std::int64_t> written_devices(const Recipe& recipe) {
  const auto& parallel = recipe.parallel;
  if (parallel.mode == Mode::none) return 1;
  if (!parallel.devices.ids.empty()) return static_cast<std::int64_t>(parallel.devices.ids.size());
  return parallel.devices.count.value;
}

void batch_is_cut_evenly(const RuleContext& rule) {
  // Without a number of devices one device still shows what no machine can cut.
  const auto devices = written_devices(rule.recipe);
  if (!devices && rule.recipe.batch.global && !rule.recipe.batch.per_device) return;
  rule.add(check_batch(rule.recipe, rule.tree, devices.value_or(1)));
}

}  // namespace

Problems check_batch(const Recipe& recipe, const Node& tree, std::int64_t devices) {
  try {
    plan_batch(recipe.batch, devices);
    return {};
  } catch (const Error& error) {
    const std::string text = error.what();
    const auto colon = text.find(": ");
    const auto path = text.substr(0, colon);
    return {{Severity::error, "batch", nearest_place(tree, path), path, text.substr(colon + 2)}};
  }
}

std::vector<Rule> batch_rules() {
  return {
      {{"batch", "The global batch is micro x accumulate x devices.",
        "A batch that cannot be cut into equal pieces would make some samples count more than "
        "others, or the batch another one than the recipe says.",
        "batch: {global: 250, micro: 32}\nparallel: {mode: ddp, devices: 4}\n",
        "batch: {global: 256, micro: 32}\nparallel: {mode: ddp, devices: 4}\n"},
       batch_is_cut_evenly},
  };
}

}  // namespace ddptrain
