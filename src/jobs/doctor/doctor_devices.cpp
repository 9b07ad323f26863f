#include "jobs/doctor/doctor_devices.h"

#include <ATen/ops/full.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "accelerator/devices.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/files/scratch_folder.h"
#include "base/text.h"
#include "distributed/world.h"
#include "launch/ending.h"
#include "launch/in_child.h"
#include "launch/rank_process.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

constexpr std::chrono::seconds kPatience{30};  // of one process with the other
constexpr double kSecondsToAnswer = 90;        // of both together
constexpr double kGrace = 2;                   // once one has failed
constexpr const char* kGuide = "docs/gpu.md says what a GPU needs";

// What the driver shows; whether CUDA works with it is the next line.
Observation shown_gpus(int count) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const auto driver = driver_version();
  Observation found{count == 0 ? "none" : std::to_string(count)};
  if (!driver.empty()) found.text += ", driver " + driver;
  if (visible) found.text += std::string(", with CUDA_VISIBLE_DEVICES=") + visible;
  if (count == 0 && (!driver.empty() || std::filesystem::exists("/proc/driver/nvidia/version")))
    found.advice =
        "there is a driver, and no device is visible: look at CUDA_VISIBLE_DEVICES, and at "
        "what the container was given";
  return found;
}

std::string fact_text(const DeviceFacts& facts) {
  auto text = facts.name;
  if (facts.memory > 0) text += ", " + format_bytes(facts.memory);
  if (!facts.capability.empty()) text += ", compute capability " + facts.capability;
  return text + (facts.traits.has_bf16 ? ", bf16" : "");
}

/// Pairs of devices that reach each other's memory only through the host.
std::string pairs_without_peer_access(const Accelerator& devices) {
  std::vector<std::string> pairs;
  for (int i = 0; i < devices.count(); ++i)
    for (int k = i + 1; k < devices.count(); ++k)
      if (!devices.peer_access(i, k) || !devices.peer_access(k, i))
        pairs.push_back(fmt::format("{}-{}", i, k));
  return join(pairs, ", ");
}

// A finding of a child is a line: name, text and advice, with tabulators between them.

std::string plugin_line(const Accelerator& devices) {
  std::vector<std::string> versions;
  for (const auto& [library, version] : devices.versions())
    versions.push_back(library + " " + version);
  return fmt::format("plug-in\topens; {}\t", join(versions, ", "));
}

std::vector<std::string> device_lines(const Accelerator& devices) {
  std::vector<std::string> lines;
  for (int i = 0; i < devices.count(); ++i)
    lines.push_back(fmt::format("GPU {}\t{}\t", i, fact_text(devices.facts(i))));
  if (devices.count() == 1) return lines;
  const auto pairs = pairs_without_peer_access(devices);
  lines.push_back("peer access\t" +
                  (pairs.empty() ? "between all of them\t"
                                 : "not between " + pairs + ": through the host's memory\t"));
  return lines;
}

/// Up to the first thing that fails.
std::string described(DeviceKind kind) {
  std::vector<std::string> lines;
  try {
    const auto& devices = accelerator(kind);
    lines.push_back(plugin_line(devices));
    for (auto& line : device_lines(devices)) lines.push_back(std::move(line));
  } catch (const std::exception& error) {
    lines.push_back((lines.empty() ? "plug-in\t" : "devices\t") +
                    split(error.what(), '\n').front() + "\tno run can use a GPU; " + kGuide);
  }
  return join(lines, "\n");
}

std::vector<NamedObservation> what_there_is(DeviceKind kind) {
  try {
    std::vector<NamedObservation> found;
    for (const auto& line : split(in_child([&] { return described(kind); }), '\n')) {
      const auto parts = split(line, '\t');
      found.push_back({parts.at(0), {parts.at(1), parts.at(2)}});
    }
    return found;
  } catch (const Error& error) {
    return {{"plug-in", {error.what(), kGuide}}};
  }
}

void require_sum(const at::Tensor& tensor, double expected) {
  const auto sum = tensor.sum().item<double>();
  if (sum != expected)
    throw Error(Exit::device, "it gives {} where {} is right", format_number(sum),
                format_number(expected));
}

/// Ones on the first device, twos on the second.
int add_up(DeviceKind kind, const Topology& topology) {
  const auto& devices = accelerator(kind);
  devices.select(topology.rank);
  const at::Device device(devices.type(), static_cast<at::DeviceIndex>(topology.rank));
  constexpr double elements = 1024;
  auto tensor = at::full({static_cast<std::int64_t>(elements)}, topology.rank + 1,
                         at::TensorOptions(device).dtype(at::kFloat));
  require_sum(tensor, elements * (topology.rank + 1));
  JoinOptions options{.accelerator = &devices, .device = topology.rank};
  options.start = options.step = kPatience;
  options.connects_alone = true;
  auto world = join(topology, options);
  world.gradients->all_reduce(tensor);
  require_sum(tensor, elements * topology.world * (topology.world + 1) / 2);
  world.control->barrier();
  return 0;
}

using Processes = std::vector<std::unique_ptr<RankProcess>>;

Processes started(DeviceKind kind, int ranks, const std::string& store) {
  Processes processes;
  sigset_t signals;
  ::sigprocmask(SIG_SETMASK, nullptr, &signals);
  for (int rank = 0; rank < ranks; ++rank) {
    Topology topology;
    topology.rank = topology.local_rank = rank;
    topology.world = topology.local_world = ranks;
    topology.store = store;
    processes.push_back(std::make_unique<RankProcess>(
        topology, [kind](const Topology& own) { return add_up(kind, own); }, "/dev/null", signals));
  }
  return processes;
}

/// Until all have ended, one has failed and the others had time to say why too, or they take too
/// long.
void wait(const Processes& processes) {
  double until = seconds_now() + kSecondsToAnswer;
  for (bool running = true; running && seconds_now() < until;) {
    running = false;
    for (const auto& process : processes) {
      process->reap();
      running = running || process->running();
      if (!process->running() && process->code() != 0)
        until = std::min(until, process->ended_at() + kGrace);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// What is still running is killed.
std::vector<Ending> ended(const Processes& processes, const std::string& store) {
  std::vector<Ending> endings;
  for (const auto& process : processes) {
    const bool hangs = process->running();
    if (hangs) process->send(SIGKILL);
    process->wait();
    endings.push_back({process->rank(), process->code(), process->killed_by(), process->ended_at(),
                       read_failure(store, process->rank()), hangs});
  }
  return endings;
}

Observation sum_over(DeviceKind kind, int ranks) {
  const ScratchFolder store;
  const auto processes = started(kind, ranks, store.path());
  wait(processes);
  const std::string advice =
      ranks > 1 ? "training on several devices cannot work; NCCL_DEBUG=INFO says more" : kGuide;
  const auto endings = ended(processes, store.path());
  const auto* cause = first_cause(endings, 0);
  if (cause == nullptr) return {"right over a tensor on " + plural(ranks, "device")};
  if (cause->ended_by_us) return {"no answer in " + format_seconds(kSecondsToAnswer), advice};
  return {describe(*cause), advice};
}

}  // namespace

std::vector<NamedObservation> device_observations() {
  const auto kind = examined_kind();
  std::vector<NamedObservation> found;
  if (kind == automatic_kind()) {
    const int count = visible_gpus();
    found.push_back({"GPUs", shown_gpus(count)});
    if (count == 0) return found;
  }
  for (auto& each : what_there_is(kind)) found.push_back(std::move(each));
  const auto devices =
      std::ranges::count_if(found, [](const auto& each) { return each.name.starts_with("GPU "); });
  if (devices > 0)
    found.push_back({"all-reduce", sum_over(kind, static_cast<int>(std::min(devices, 2L)))});
  return found;
}

}  // namespace ddptrain
