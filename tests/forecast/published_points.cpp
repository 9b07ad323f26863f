#include "forecast/published_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"

namespace ddptrain::test {
namespace {

constexpr double kLlama8B = 8.03e9;  // parameters
KnownMachine machine_of(const char* name, int node = 0) {
  auto machine = *find_machine(name);
  if (node > 0) machine.node = node;
  return machine;
}

/// Sharded in 33 units (32 blocks and the root): bf16 gathered, fp32 reduced, as FSDP2 does.
Work llama_fsdp(double micro, double accumulate, bool recomputes = false) {
  return {.micro = micro,
          .accumulate = accumulate,
          .recomputes = recomputes,
          .pieces = unit_pieces(4 * kLlama8B, 33),
          .weight_bytes = 2 * kLlama8B,
          .sharding = Sharding::weights};
}

/// Megatron's distributed optimizer with overlap: one reduce-scatter and one all-gather a step,
/// bf16. Micro-steps are counted as one, since they send once.
Work llama_megatron(double samples) {
  return {.micro = samples,
          .pieces = unit_pieces(2 * kLlama8B, 33),
          .weight_bytes = 2 * kLlama8B,
          .sharding = Sharding::gradients};
}

constexpr const char* kModelParallel = "outside: context or tensor parallel";
constexpr const char* kSmallerBatch = "outside: the batch of a device is smaller";

using Points = std::vector<PublishedPoint>;

void add(Points& points, PublishedPoint point) { points.push_back(std::move(point)); }

void add_torchtitan(Points& points) {
  const auto row = [&](const char* name, double base, double rate) {
    add(points, {.name = std::string("torchtitan Llama 3.1 8B, FSDP") + name + ", H100",
                 .machine = machine_of("h100x8"),
                 .base = llama_fsdp(2, 1),
                 .base_rate = base,
                 .per_sample = 8192,
                 .devices = 128,
                 .micro = 2,
                 .rate = rate});
  };
  row("", 5762, 5605);
  row(", compiled", 6667, 6514);
  row(", compiled, float8", 8532, 8380);
  add(points, {.name = "torchtitan Llama 3.1 8B, FSDP, H200",
               .machine = machine_of("h200x8"),
               .base = llama_fsdp(2, 1),
               .base_devices = 32,
               .base_rate = 10938,
               .per_sample = 8192,
               .devices = 64,
               .micro = 2,
               .rate = 10753});
}

void add_mlperf_llama(Points& points) {
  const auto row = [&](const char* who, const char* machine, double base, std::int64_t devices,
                       double batch, double rate, const char* outside, Use use) {
    const auto n = static_cast<double>(devices);
    add(points, {.name = std::string("MLPerf v5.1 Llama 3.1 8B, ") + who,
                 .use = use,
                 .machine = machine_of(machine),
                 .base = llama_megatron(2),
                 .base_rate = base / 8,
                 .devices = devices,
                 .micro = batch / n,
                 .rate = rate / n,
                 .outside = outside});
  };
  row("B200 (Nebius)", "b200x8", 33.9, 16, 32, 62.7, "", Use::calibration);
  row("B200 (Nebius)", "b200x8", 33.9, 32, 32, 115.9, kSmallerBatch, Use::held_out);
  row("B200 (Oracle)", "b200x8", 34.0, 64, 32, 164, kModelParallel, Use::held_out);
  row("GB200", "gb200x72", 37.9, 72, 36, 205, kModelParallel, Use::held_out);
  row("GB200", "gb200x72", 37.9, 512, 64, 695, kModelParallel, Use::held_out);
}

/// Whose batches of a device are not published with them, so that there is nothing to forecast.
void add_without_figures(Points& points) {
  const auto row = [&](const char* name, std::int64_t base, std::int64_t devices, double rate,
                       const char* outside) {
    add(points, {.name = name,
                 .machine = machine_of("h100x8"),
                 .base_devices = base,
                 .devices = devices,
                 .rate = rate,
                 .outside = outside});
  };
  row("MLPerf v3.0 ResNet-50, H100", 8, 64, 4602, kSmallerBatch);
  row("MLPerf v3.0 ResNet-50, H100", 8, 512, 4030, kSmallerBatch);
  row("MLPerf v3.0 ResNet-50, H100", 8, 3584, 0, kSmallerBatch);
  row("MLPerf v5.1 Llama 2 70B LoRA, B200 (Nebius)", 8, 32, 17.1 / 32, kModelParallel);
}

void add_kempner(Points& points) {
  const auto row = [&](std::int64_t base_devices, double base_rate, const Work& base,
                       std::int64_t devices, double micro, double accumulate, double rate,
                       const char* outside) {
    add(points, {.name = "KempnerForge Llama 3 8B, FSDP, 4 H200 a node",
                 .machine = machine_of("h200x8", 4),
                 .base = base,
                 .base_devices = base_devices,
                 .base_rate = base_rate / static_cast<double>(base_devices),
                 .per_sample = 4096,
                 .devices = devices,
                 .micro = micro,
                 .accumulate = accumulate,
                 .rate = rate / static_cast<double>(devices),
                 .outside = outside});
  };
  row(1, 10471, llama_fsdp(2, 4, true), 2, 2, 4, 18728, "");
  row(1, 10471, llama_fsdp(2, 4, true), 4, 4, 2, 38983, "");
  row(4, 38983, llama_fsdp(4, 2, true), 8, 4, 2, 44299, "outside: tensor parallel 4 x FSDP 2");
}

std::string percent(double share) { return format_fixed(100 * share, 1) + " %"; }

std::string row_of(const PublishedPoint& point) {
  const bool known = point.rate > 0, forecast = known && point.micro > 0;
  const auto digits = point.rate < 100 ? 2 : 0;
  return fmt::format("| {} | {} → {} | {} | {} | {} | {} | {} |", point.name, point.base_devices,
                     point.devices, known ? format_fixed(point.rate, digits) : "–",
                     forecast ? format_fixed(forecast_rate(point), digits) : "–",
                     forecast ? percent(error_of(point)) : "–",
                     forecast ? percent(error_without_losses(point)) : "–",
                     point.use == Use::calibration ? "calibration"
                     : point.outside.empty()       ? "inside"
                                                   : point.outside);
}

/// Held-out points that the model claims first, of each kind the worst first.
bool worse(const PublishedPoint& a, const PublishedPoint& b) {
  const auto key = [](const PublishedPoint& point) {
    const bool forecast = point.rate > 0 && point.micro > 0;
    return std::tuple(point.use == Use::calibration, !point.outside.empty(),
                      forecast ? -std::abs(error_of(point)) : 0);
  };
  return key(a) < key(b);
}

}  // namespace

double forecast_rate(const PublishedPoint& point) {
  const double measured = point.base.samples() * point.per_sample / point.base_rate;
  const double sample = fitted_sample(point.machine, point.base, point.base_devices, measured);
  auto work = point.base;
  work.micro = point.micro;
  work.accumulate = point.accumulate;
  const auto step = forecast_step(point.machine, work, point.devices, sample);
  return work.samples() * point.per_sample / step.seconds;
}

double error_of(const PublishedPoint& point) { return forecast_rate(point) / point.rate - 1; }

double error_without_losses(const PublishedPoint& point) {
  return point.base_rate / point.rate - 1;
}

std::vector<PublishedPoint> published_points() {
  Points points;
  add_torchtitan(points);
  add_mlperf_llama(points);
  add_without_figures(points);
  add_kempner(points);
  return points;
}

std::vector<std::string> points_table() {
  auto points = published_points();
  std::ranges::stable_sort(points, worse);
  std::vector<std::string> lines;
  for (const auto& point : points) lines.push_back(row_of(point));
  return lines;
}

}  // namespace ddptrain::test
