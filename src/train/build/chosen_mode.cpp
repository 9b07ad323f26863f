#include "train/build/chosen_mode.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "base/files/machine_memory.h"
#include "base/output/log.h"
#include "base/text.h"
#include "distributed/control/node_table.h"
#include "distributed/world.h"
#include "launch/failure.h"
#include "models/layers/deferred_init.h"
#include "models/model.h"
#include "optim/optimizer.h"
#include "recipe/mode.h"
#include "recipe/recipe.h"
#include "train/build/block_sizes.h"
#include "train/build/micro_batch.h"
#include "train/build/numerics.h"
#include "train/build/weights_memory.h"
#include "train/device_memory.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// The optimizer's state in the end; it is asked of tensors without memory.
double optimizer_bytes(const Recipe& recipe, const Model& model, at::ScalarType type) {
  std::vector<ParameterGroup> groups(1);
  for (const auto& [name, tensor] : model.named_parameters())
    groups[0].parameters.push_back(
        {name, at::empty(tensor.sizes(), at::TensorOptions(at::kMeta).dtype(type))});
  const auto optimizer = catalog<Optimizer>().build(recipe.optimizer, std::move(groups));
  return static_cast<double>(optimizer->state_bytes());
}

bool fits_on_all(Group& group, bool fits) {
  const auto answers = gather_text(group, fits ? "yes" : "no");
  return std::ranges::count(answers, "no") == 0;
}

/// "ddp 12 GiB, zero1 9 GiB": what those before `chosen` need.
std::string needs_before(Mode chosen, const MemoryParts& parts, std::int64_t sharing) {
  std::vector<std::string> needs;
  for (const auto mode : modes_of_ranks()) {
    if (mode == chosen) break;
    const auto bytes = device_bytes(parts, sharding_of(name_of(mode)), sharing);
    needs.push_back(std::string(name_of(mode)) + " " +
                    format_bytes(static_cast<std::int64_t>(bytes)));
  }
  return join(needs, ", ");
}

/// Builds it, and looks whether a step fits. Null where it does not.
std::unique_ptr<Engine> tried(Training& t, const std::function<std::unique_ptr<Engine>()>& build) {
  bool fits = true;
  try {
    t.engine = build();
    fits = fits_in_memory(t, t.placement.batch.micro);
  } catch (...) {
    if (failure_of(std::current_exception(), t.world->rank).code != Exit::memory) throw;
    fits = false;
  }
  auto engine = std::move(std::experimental::get_underlying(t.engine));
  if (fits_on_all(*t.world->control, fits)) return engine;
  engine.reset();
  accelerator(t.placement.device).empty_cache();
  return nullptr;
}

/// Modes, in the order in which they are to be tried, and why there are no others before them.
struct Candidates {
  std::vector<Mode> modes;
  std::string why;
};

Candidates modes_that_may_fit(const Training& t, const Recipe& recipe, const EngineMaker& maker) {
  const auto memory = memory_of_ranks(t);
  if (!memory) return {{modes_of_ranks().front()}, {}};
  const auto parts = state_parts(recipe, maker.model);
  const auto sharing = t.world->sharing().size();
  Candidates found{modes_within(parts, sharing, static_cast<double>(*memory)), {}};
  const auto needs = needs_before(found.modes.front(), parts, sharing);
  if (!needs.empty())
    found.why = fmt::format(
        "; weights, gradients and the optimizer's state take {} on a rank, which has {}", needs,
        format_bytes(*memory));
  return found;
}

}  // namespace

MemoryParts state_parts(const Recipe& recipe, const ModelFactory& factory) {
  const DeferredInit nothing_is_drawn;
  const auto model = factory();
  const auto form = numerics(recipe);
  const auto sizes = block_sizes(*model);
  const auto all = static_cast<double>(std::max<std::int64_t>(sizes.parameters, 1));
  MemoryParts parts;
  parts.weights = parts.gradients = all * static_cast<double>(c10::elementSize(form.parameters));
  parts.optimizer = optimizer_bytes(recipe, *model, form.parameters);
  if (recipe.train.ema || recipe.train.swa) parts.average = parts.weights;
  parts.root = static_cast<double>(sizes.root) / all;
  parts.block = static_cast<double>(sizes.largest) / all;
  if (travelling_type(form)) parts.cast = static_cast<double>(sizes.cast) / all;
  parts.whole_gradients = recipe.parallel.shard.reduce == ShardReduce::last;
  return parts;
}

std::vector<Mode> modes_within(const MemoryParts& parts, std::int64_t sharing, double bytes) {
  std::vector<Mode> modes;
  auto smallest = modes_of_ranks().front();
  double least = std::numeric_limits<double>::infinity();
  for (const auto mode : modes_of_ranks()) {
    const auto needed = device_bytes(parts, sharding_of(name_of(mode)), sharing);
    if (needed >= least) continue;  // sends more, and gains nothing
    least = needed;
    smallest = mode;
    if (leaves_room(needed, bytes)) modes.push_back(mode);
  }
  if (modes.empty()) modes.push_back(smallest);
  return modes;
}

std::optional<std::int64_t> memory_of_ranks(const Training& t) {
  std::int64_t own = 0;  // unknown
  if (t.placement.on_cpu())
    own = available_memory().value_or(0);
  else
    own = accelerator(t.placement.device)
              .facts(own_devices(t.placement, t.world->local_rank)[0])
              .memory;
  const auto node = t.placement.on_cpu() ? name_of_node() : std::to_string(t.world->rank);
  std::map<std::string, std::vector<std::int64_t>> nodes;
  for (const auto& answer : gather_text(*t.world->control, std::to_string(own) + " " + node)) {
    const auto blank = answer.find(' ');
    nodes[answer.substr(blank)].push_back(parse_integer(answer.substr(0, blank)).value_or(0));
  }
  auto least = std::numeric_limits<std::int64_t>::max();
  for (const auto& [name, bytes] : nodes)
    least = std::min(least, std::ranges::min(bytes) / std::ssize(bytes));
  if (least == 0) return {};
  return least;
}

void build_engine_that_fits(Training& t, Recipe& recipe, const EngineMaker& maker,
                            const std::function<void()>& alive) {
  auto& mode = recipe.parallel.mode;
  if (is_chosen_by_a_run(mode) && t.world->size == 1) mode = mode_of_one_device();
  const auto build = [&] { return with_weights([&] { return maker.engine(recipe); }); };
  if (!is_chosen_by_a_run(mode)) {
    t.engine = build();
    return;
  }
  auto candidates = modes_that_may_fit(t, recipe, maker);
  for (const auto candidate : candidates.modes) {
    mode = candidate;
    if (alive) alive();
    const bool is_tried = candidate != candidates.modes.back() && !t.placement.on_cpu();
    if (is_tried) t.engine = tried(t, build);
    if (!is_tried || t.engine) break;
    candidates.why += fmt::format("; a step of {} does not fit in {}",
                                  plural(t.placement.batch.micro, "sample"), name_of(candidate));
  }
  if (t.world->rank == 0) log::info("parallel.mode auto: {}{}", name_of(mode), candidates.why);
  if (!t.engine) t.engine = build();
}

}  // namespace ddptrain
