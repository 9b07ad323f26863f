#include "jobs/scripts/launch_plan.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/error.h"
#include "base/output/log.h"
#include "base/quoting.h"
#include "base/text.h"
#include "jobs/nodes.h"
#include "recipe/batch_plan.h"

namespace ddptrain {
namespace {

constexpr int kCoresOfGpu = 8;   // that read and augment for it
constexpr int kCoresOfRank = 4;  // on the CPU

/// Of all nodes.
std::int64_t devices_of_all(const ParallelSpec& parallel, int nodes) {
  if (!parallel.devices.ids.empty()) return nodes * std::ssize(parallel.devices.ids);
  // A mode without ranks has one device, which is no number for several nodes.
  const bool of_mode = nodes == 1 || has_ranks(parallel.mode);
  const auto devices = of_mode ? written_devices(parallel) : parallel.devices.count.value;
  if (!devices)
    throw Error(Exit::recipe, Option{"parallel.devices"},
                "auto is decided by the machine that trains, and a script is written before; write "
                "how many devices all nodes have together, as in 'parallel.devices={}'",
                8 * nodes);
  if (*devices % nodes != 0)
    throw Error(Exit::recipe, Option{"parallel.devices"}, "{} cannot be shared evenly by {}",
                plural(*devices, "device"), plural(nodes, "node"));
  return *devices;
}

bool trains_on_gpus(const ParallelSpec& parallel) {
  if (parallel.device == DeviceKind::automatic)
    throw Error(Exit::recipe, Option{"parallel.device"},
                "auto is decided by the machine that trains, and a script is written before; write "
                "'parallel.device=cuda' or 'parallel.device=cpu'");
  return parallel.device != DeviceKind::cpu;
}

bool is_of_launch(std::string_view flag) {
  const auto others = {std::string_view("--print"), kNodes.name, kNodeRank.name, kAddress.name,
                       kAutoResume.name};
  return std::ranges::find(others, flag) != others.end();
}

std::vector<std::string> words_of_run(const Arguments& arguments) {
  std::vector<std::string> words{called_as(), "run"};
  words.insert(words.end(), arguments.words.begin(), arguments.words.end());
  for (const auto& [flag, value] : arguments.flags) {
    if (is_of_launch(flag)) continue;
    words.push_back(flag);
    if (!value.empty()) words.push_back(value);
  }
  return words;
}

void require_ranks_on(int nodes, Mode mode) {
  if (nodes > 1 && !has_ranks(mode))
    throw Error(Exit::recipe, Option{"parallel.mode"}, "{} train together by ranks; write 'ddp'",
                plural(nodes, "node"));
}

/// All that the recipe leaves open at once: every failure but the last is logged, that is thrown.
void check_all(const std::vector<std::function<void()>>& checks) {
  std::optional<Error> last;
  for (const auto& check : checks) try {
      check();
    } catch (const Error& error) {
      if (last) log::error(last->what());
      last = error;
    }
  if (last) throw *last;
}

std::vector<std::string> variables_of_ranks() {
  std::vector<std::string> names{"PATH"};
  if (std::getenv("DDPTRAIN_DATA")) names.emplace_back("DDPTRAIN_DATA");
  return names;
}

}  // namespace

LaunchPlan launch_plan_of(const Recipe& recipe, const Arguments& arguments) {
  const auto given = given_nodes(arguments, recipe.parallel);
  const auto& parallel = recipe.parallel;
  LaunchPlan plan;
  plan.name = recipe.name;
  plan.nodes = given.nodes.value_or(1);
  plan.has_replicas = has_replicas(parallel.mode);
  std::int64_t devices = 0;
  check_all({[&] { require_ranks_on(plan.nodes, parallel.mode); },
             [&] { plan.gpus = trains_on_gpus(parallel); },
             [&] { devices = devices_of_all(parallel, plan.nodes); }});
  plan_batch(recipe.batch, devices);
  plan.ranks_per_node = static_cast<int>(devices / plan.nodes);
  const auto usual = plan.gpus ? kCoresOfGpu : kCoresOfRank;
  plan.cores_per_rank = static_cast<int>(recipe.train.threads.value.value_or(usual));
  plan.meeting = given.meeting;
  plan.variables = variables_of_ranks();
  plan.folder = std::filesystem::current_path().string();
  plan.words = words_of_run(arguments);
  return plan;
}

std::string typed_command(const LaunchPlan& plan, const std::vector<std::string>& more) {
  auto words = plan.words;
  words.insert(words.end(), more.begin(), more.end());
  return shell_line(words);
}

HostPort meeting_of(const LaunchPlan& plan) {
  if (!plan.meeting)
    throw Error(Exit::recipe,
                "{} meet at node 0, and nothing names it: add '--address HOST[:PORT]', or "
                "'parallel.rendezvous: HOST:PORT'",
                plural(plan.nodes, "node"));
  return {plan.meeting->host, plan.meeting->port.value_or(kUsualPort)};
}

}  // namespace ddptrain
