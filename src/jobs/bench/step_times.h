// What a training step of a recipe takes, measured by the ranks that train it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "distributed/phases.h"
#include "jobs/bench/machine_limits.h"

namespace ddptrain {

struct Hooks;
struct Job;
struct Topology;

/// Of one number of devices. Times are seconds of a step, by rank 0; work and limits are of one
/// rank, while all of them work.
struct StepTimes {
  int devices = 1;
  int ranks = 1;
  bool on_cpu = true;
  std::string arithmetic;  // "fp32"
  int threads = 1;         // that compute, of each rank
  int workers = 0;         // that load, of each rank
  int cores = 1;           // of the machine
  std::int64_t global = 0;
  std::int64_t micro = 0;
  std::int64_t accumulate = 1;
  bool convolves = false;
  bool channels_last = false;
  bool rounds_gradients = false;  // parallel.ddp.comm.dtype
  bool has_bf16 = false;
  bool decodes_exactly = false;  // images, where they could be decoded faster
  double loader_alone = 0;
  double step = 0;
  std::array<double, kPhases + 1> phases{};  // they sum to `step` on the CPU; the rest comes last
  double flops = 0;
  double bytes = 0;  // that operators read and write
  MachineLimits limits;

  double of(Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
  double rest() const { return phases[kPhases]; }
  /// Of all phases and the rest.
  double sum() const;
  double samples_per_second() const { return static_cast<double>(global) / step; }
};

std::string to_json(const StepTimes& times);
StepTimes step_times_from(const std::string& json);

struct BenchOptions {
  std::int64_t warm_up = 5;
  std::int64_t steps = 20;  // measured, after those
};

/// Steps of a job without evaluation or checkpoint. Leaves nothing behind. Returns the exit code:
/// 0, or that of a signal, without times.
int measure_rank(const Job& job, const BenchOptions& options, const Topology& topology,
                 const Hooks& hooks, StepTimes& times);

}  // namespace ddptrain
