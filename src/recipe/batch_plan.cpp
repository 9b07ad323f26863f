#include "recipe/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace ddptrain {
namespace {

/// Where the recipe says nothing.
constexpr std::int64_t kUsualGlobal = 64;

std::string many_devices(std::int64_t devices) {
  return std::to_string(devices) + (devices == 1 ? " device" : " devices");
}

/// The multiples of `unit` around `value` ("128, 256"), the upper alone where the lower is 0.
std::string around(std::int64_t value, std::int64_t unit) {
  const auto below = value / unit * unit;
  const auto above = std::to_string(below + unit);
  return below == 0 ? above : fmt::format("{}, {}", below, above);
}

[[noreturn]] void refuse(const BatchSpec& spec, std::int64_t global, std::int64_t devices,
                         const std::string& with, std::int64_t unit) {
  const bool per_device = spec.per_device.has_value();
  const auto value = per_device ? *spec.per_device : global;
  throw Error(Exit::recipe, Option{per_device ? "batch.per_device" : "batch.global"},
              "{} cannot be split over {}{}; nearest: {}", value, many_devices(devices), with,
              around(value, per_device ? unit / devices : unit));
}

BatchSpec with_usual_global(BatchSpec spec) {
  spec.global = kUsualGlobal;
  return spec;
}

void check_uncut(const BatchSpec& spec, std::int64_t global, std::int64_t devices,
                 std::int64_t accumulate) {
  const auto pieces = accumulate * devices;
  if (global % pieces == 0) return;
  const auto with = accumulate == 1 ? "" : fmt::format(" with batch.accumulate {}", accumulate);
  refuse(spec, global, devices, with, pieces);
}

/// Micro-batches as large as batch.accumulate, 1 by default, leaves them.
BatchPlan plan_of_global(const BatchSpec& spec, std::int64_t global, std::int64_t devices) {
  BatchPlan plan;
  plan.devices = devices;
  plan.global = global;
  plan.accumulate = spec.accumulate.value.value_or(1);
  check_uncut(spec, plan.global, devices, plan.accumulate);
  plan.micro = plan.global / (plan.accumulate * devices);
  return plan;
}

/// What batch.micro and batch.accumulate, 1 by default, make up.
BatchPlan plan_of_micro(std::int64_t micro, std::int64_t accumulate, std::int64_t devices) {
  BatchPlan plan;
  plan.devices = devices;
  plan.micro = micro;
  plan.accumulate = accumulate;
  plan.global = plan.micro * plan.accumulate * devices;
  return plan;
}

}  // namespace

std::optional<std::int64_t> written_devices(const ParallelSpec& parallel) {
  if (!has_devices(parallel.mode)) return 1;
  if (!parallel.devices.ids.empty()) return static_cast<std::int64_t>(parallel.devices.ids.size());
  return parallel.devices.count.value;
}

BatchPlan plan_batch(const BatchSpec& spec, std::int64_t devices) {
  DDP_CHECK(devices >= 1, "a plan for no device");
  if (spec.global && spec.per_device)
    throw Error(Exit::recipe, Option{"batch"},
                "both 'global' and 'per_device' are given; keep one of them");
  BatchPlan plan;
  plan.devices = devices;
  const auto micro = spec.micro.value;
  const auto accumulate = spec.accumulate.value;
  if (!spec.global && !spec.per_device)
    return micro ? plan_of_micro(*micro, accumulate.value_or(1), devices)
                 : plan_batch(with_usual_global(spec), devices);
  plan.global = spec.global ? *spec.global : *spec.per_device * devices;
  if (!micro) return plan_of_global(spec, plan.global, devices);
  const auto unit = *micro * devices;
  if (plan.global % unit != 0)
    refuse(spec, plan.global, devices, fmt::format(" with batch.micro {}", *micro), unit);
  plan.micro = *micro;
  plan.accumulate = plan.global / unit;
  if (accumulate && *accumulate != plan.accumulate)
    throw Error(Exit::recipe, Option{"batch.accumulate"},
                "{} does not fit; batch.global {} = micro {} x accumulate {} x {}", *accumulate,
                plan.global, *micro, plan.accumulate, many_devices(devices));
  return plan;
}

std::int64_t usual_eval_batch(std::int64_t global) {
  return std::clamp<std::int64_t>(global, 64, 256);
}

void require_full_batch(std::int64_t steps, std::int64_t samples, std::int64_t global) {
  if (steps > 0) return;
  throw Error(Exit::data, Option{"batch.global"},
              "an epoch has no full batch: {} training samples, and batch.global is {}; make the "
              "batch smaller, or write 'drop_last: false'",
              samples, global);
}

std::string to_text(const BatchPlan& plan) {
  return fmt::format("global {} = micro {} x accumulate {} x {}", plan.global, plan.micro,
                     plan.accumulate, many_devices(plan.devices));
}

}  // namespace ddptrain
