#include "forecast/ranks.h"

#include <algorithm>

namespace ddptrain {
namespace {

const MeasuredStep& basis(const std::vector<MeasuredStep>& measured, std::int64_t devices) {
  const auto exact = std::ranges::find(measured, devices, &MeasuredStep::devices);
  if (exact != measured.end()) return *exact;
  return *std::ranges::max_element(measured, {}, &MeasuredStep::devices);
}

/// How much longer a rank takes because there are more compute threads than cores.
double sharing(const MeasuredStep& step) {
  return std::max(
      1.0, static_cast<double>(step.devices * step.threads) / static_cast<double>(step.cores));
}

double samples_of_rank(const MeasuredStep& step) {
  return step.samples / static_cast<double>(step.devices);
}

double ring(std::int64_t devices) {
  const auto n = static_cast<double>(devices);
  return 2 * (n - 1) / n;
}

}  // namespace

MeasuredStep forecast_ranks(const std::vector<MeasuredStep>& measured, std::int64_t devices,
                            std::int64_t threads, double samples) {
  const auto& from = basis(measured, devices);
  MeasuredStep step = from;
  step.devices = devices;
  step.threads = threads;
  step.samples = samples;
  const double shared = sharing(step) / sharing(from);
  const double rows = samples_of_rank(step) / samples_of_rank(from);
  const double faster = static_cast<double>(from.threads) / static_cast<double>(threads);
  step.passes = from.passes * rows * shared * faster;
  step.update = from.update * shared;
  step.communication =
      from.devices > 1 ? from.communication * ring(devices) / ring(from.devices) : 0;
  step.loader_alone = from.loader_alone * rows * shared;
  step.loader = std::max(0.0, step.loader_alone - (step.seconds() - step.loader));
  return step;
}

}  // namespace ddptrain
