// The time of an optimizer step on any number of devices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/machine.h"

namespace ddptrain {

/// What each device holds a part of: nothing (ddp), the optimizer's state (zero1), gradients too
/// (zero2: weights are gathered once a step), weights too (fsdp: a unit at a time).
enum class Sharding { none, optimizer, gradients, weights };

/// Of a mode of recipes by its name; `none` for those that shard nothing.
Sharding sharding_of(std::string_view mode);

/// What a step asks of each device.
struct Work {
  double micro = 1;  // samples of a forward pass
  double accumulate = 1;
  double flops = 0;       // of the forward pass of a sample; a multiply-add counts as two
  double activation = 0;  // bytes of a sample that the backward pass reads
  bool recomputes = false;
  bool convolves = false;
  std::string arithmetic = "fp32";
  std::vector<double> pieces =
      {};                   // bytes of gradients on the wire, as the backward pass finishes them
  double weight_bytes = 0;  // on the wire, of all pieces
  double update_bytes = 0;  // that the optimizer reads and writes
  std::int64_t group = 0;   // devices that share gradients and weights; 0: all
  double fixed = 0;         // seconds of a step whatever its batch
  double load = 0;          // seconds of a CPU core for a sample
  Sharding sharding = Sharding::none;

  double samples() const { return micro * accumulate; }
};

/// Seconds of a step, and what they are made of.
struct StepForecast {
  double seconds = 0;
  double compute = 0;  // passes, fixed cost and optimizer
  double network = 0;  // communication that nothing hides, and what hidden one slows
  double jitter = 0;   // waiting for the slowest device
  double loader = 0;   // waiting for data

  double share(double part) const { return seconds > 0 ? part / seconds : 0; }
};

/// Gradients of `bytes` in buckets of at most `most`, the last of at most `last`, as
/// distributed/buckets.h cuts them.
std::vector<double> bucket_pieces(double bytes, double most, double last);
/// Equal ones.
std::vector<double> unit_pieces(double bytes, std::int64_t units);

/// Seconds of the passes of a sample: three times the forward pass's arithmetic, four with
/// recomputing, or as long as its activations take to be written, read, and their gradients too.
double sample_seconds(const KnownMachine& machine, const Work& work);

/// `sample` seconds of passes each.
StepForecast forecast_step(const KnownMachine& machine, const Work& work, std::int64_t devices,
                           double sample);

/// The seconds of a sample with which a step on `devices` takes as long as it was measured to; 0 if
/// the network alone takes longer.
double fitted_sample(const KnownMachine& machine, const Work& work, std::int64_t devices,
                     double measured_step);

}  // namespace ddptrain
