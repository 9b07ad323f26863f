#include "jobs/scripts/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
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
  const auto devices = written_devices(parallel);
  if (!devices)
    throw Error(Exit::recipe, Option{"parallel.devices"},
                fmt::format("auto is decided by the machine that trains, and a script is written "
                            "before; write how many devices all nodes have together, as in "
                            "'parallel.devices={}'",
                            8 * nodes));
  if (*devices % nodes != 0)
    throw Error(
        Exit::recipe, Option{"parallel.devices"},
        fmt::format("{} devices cannot be shared evenly by {}", *devices, plural(nodes, "node")));
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

}  // namespace

LaunchPlan launch_plan_of(const Recipe& recipe, const Arguments& arguments) {
  const auto given = given_nodes(arguments, recipe.parallel);
  const auto& parallel = recipe.parallel;
  LaunchPlan plan;
  plan.name = recipe.name;
  plan.nodes = given.nodes.value_or(1);
  if (plan.nodes > 1 && !has_ranks(parallel.mode))
    throw Error(Exit::recipe, Option{"parallel.mode"},
                fmt::format("{} train together by ranks; write 'ddp'", plural(plan.nodes, "node")));
  plan.has_replicas = has_replicas(parallel.mode);
  plan.gpus = trains_on_gpus(parallel);
  const auto devices = devices_of_all(parallel, plan.nodes);
  plan_batch(recipe.batch, devices);
  plan.ranks_per_node = static_cast<int>(devices / plan.nodes);
  const auto usual = plan.gpus ? kCoresOfGpu : kCoresOfRank;
  plan.cores_per_rank = static_cast<int>(recipe.train.threads.value.value_or(usual));
  plan.meeting = given.meeting;
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
                fmt::format("{} meet at node 0, and nothing names it: add '--address HOST[:PORT]', "
                            "or 'parallel.rendezvous: HOST:PORT'",
                            plural(plan.nodes, "node")));
  return {plan.meeting->host, plan.meeting->port.value_or(kUsualPort)};
}

}  // namespace ddptrain
