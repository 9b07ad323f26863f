#include "jobs/bench/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace ddptrain {
namespace {

std::string whole_percent(double share) { return format_fixed(100 * share, 0) + " %"; }

/// More samples a step: what each step costs once is spread over more of them.
std::string larger_batch(const StepTimes& t) {
  return fmt::format("batch.global={}", 2 * t.global);
}

int cores_of_rank(const StepTimes& t) { return std::max(1, t.cores / std::max(1, t.ranks)); }

/// Whether batches come as fast as the model takes them without anything else at work.
bool loader_keeps_up(const StepTimes& t) { return t.loader_alone < t.step - t.of(Phase::loader); }

StepLimit of_loader(const StepTimes& t, double share) {
  const auto start = fmt::format("the loader limits: a step waits for its batch for {} of its time",
                                 whole_percent(share));
  if (loader_keeps_up(t))
    return {"loader", start + ", although batches are loaded fast enough: more of them ahead help",
            "data.loader.prefetch=16"};
  if (t.workers < cores_of_rank(t))
    return {"loader", start + "; more loading threads help",
            fmt::format("data.loader.workers={}", cores_of_rank(t))};
  if (t.decodes_exactly)
    return {"loader", start + "; faster decoding of images helps", "data.decode=fast"};
  return {"loader", start + ", and its threads have all cores: smaller files or fewer transforms",
          ""};
}

StepLimit of_communication(const StepTimes& t, double share) {
  const auto start = fmt::format("communication limits: ranks wait for each other for {} of a step",
                                 whole_percent(share));
  if (!t.rounds_gradients && t.ranks > 1)
    return {"communication", start + "; gradients of half the size help",
            "parallel.ddp.comm.dtype=bf16"};
  return {"communication", start + "; larger batches need it less often", larger_batch(t)};
}

/// Forward and backward pass.
StepLimit of_compute(const StepTimes& t, double share) {
  const double reached = t.limits.flops > 0 ? t.flops / t.step / t.limits.flops : 0;
  const auto start = "the model's arithmetic limits: forward and backward pass take " +
                     whole_percent(share) + " of a step, at " + whole_percent(reached) +
                     " of what a matrix product reaches here";
  if (t.on_cpu && t.threads * t.ranks < t.cores)
    return {"compute", start + "; more threads help",
            fmt::format("train.threads={}", cores_of_rank(t))};
  if (t.convolves && !t.channels_last)
    return {"compute", start + "; another layout of images may help", "train.channels_last=true"};
  if (t.has_bf16 && t.arithmetic == "fp32")
    return {"compute", start + "; mixed precision helps", "train.precision=bf16"};
  if (!t.on_cpu && reached < 0.2)
    return {"compute", start + "; larger batches use more of the device", larger_batch(t)};
  if (t.on_cpu)
    return {"compute", start + ": a smaller model, smaller inputs or a faster machine", ""};
  return {"compute", start + "; more devices help",
          fmt::format("parallel.devices={}", 2 * t.devices)};
}

StepLimit of_optimizer(const StepTimes& t, double share) {
  return {"optimizer",
          "the optimizer limits: its step takes " + whole_percent(share) +
              " of the time, whatever the batch; larger batches need it less often",
          larger_batch(t)};
}

StepLimit of_transfer(const StepTimes&, double share) {
  return {"transfer",
          "the transfer limits: moving and normalizing batches takes " + whole_percent(share) +
              " of a step; smaller inputs help",
          ""};
}

/// What no part accounts for.
StepLimit of_host(const StepTimes& t, double share) {
  return {"other",
          "the host limits: " + whole_percent(share) +
              " of a step is outside of all parts; larger batches have fewer steps",
          larger_batch(t)};
}

}  // namespace

StepLimit bottleneck(const StepTimes& t) {
  const double all = t.sum();
  if (all <= 0) return {};
  struct Part {
    double seconds;
    StepLimit (*explain)(const StepTimes&, double);
  };
  const Part parts[] = {
      {t.of(Phase::loader), of_loader},
      {t.of(Phase::communication), of_communication},
      {t.of(Phase::forward) + t.of(Phase::backward), of_compute},
      {t.of(Phase::optimizer), of_optimizer},
      {t.of(Phase::transfer), of_transfer},
      {t.rest(), of_host},
  };
  const auto largest = std::ranges::max_element(parts, {}, &Part::seconds);
  return largest->explain(t, largest->seconds / all);
}

}  // namespace ddptrain
