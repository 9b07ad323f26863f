// docs/forecast.md explains the terms.
#include "forecast/step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "forecast/collectives.h"

namespace ddptrain {
namespace {

/// A pass with communication: how long it takes, and how long its collectives take.
struct Pass {
  double seconds = 0;
  double communication = 0;

  Pass& operator+=(const Pass& other) {
    seconds += other.seconds;
    communication += other.communication;
    return *this;
  }
};

class StepModel {
 public:
  StepModel(const KnownMachine& machine, const Work& work, std::int64_t devices, double sample)
      : machine_(machine), work_(work), devices_(devices) {
    const double passes = work.recomputes ? 4 : 3;
    forward_ = work.micro * sample / passes;
    backward_ = work.micro * sample - forward_;
    wire_ = std::accumulate(work.pieces.begin(), work.pieces.end(), 0.0);
    const bool grouped = work.sharding >= Sharding::gradients && work.group > 0;
    sharing_ = grouped ? std::min(work.group, devices) : devices;
  }

  StepForecast forecast() const {
    const auto all = devices_ > 1 ? communicating() : Pass{};
    const double alone = work_.accumulate * (forward_ + backward_);
    const double exposed = devices_ > 1 ? all.seconds - alone : 0;
    StepForecast step;
    step.compute = alone + work_.fixed + update_seconds();
    step.network = exposed + small_sums() + interference(all.communication - exposed, alone);
    step.jitter = jitter(alone);
    const double ready = step.compute + step.network + step.jitter;
    step.loader = std::max(0.0, loader_seconds() - ready);
    step.seconds = ready + step.loader;
    return step;
  }

 private:
  Pass communicating() const {
    switch (work_.sharding) {
      case Sharding::none:
        return replicated();
      case Sharding::optimizer:
        return sharded_optimizer();
      case Sharding::gradients:
        return sharded_gradients();
      case Sharding::weights:
        return sharded_weights();
    }
    return {};
  }

  Pass without(double times) const { return {times * (forward_ + backward_), 0}; }

  /// Buckets are summed in the last backward pass only, each as soon as it is full.
  Pass replicated() const {
    auto step = without(work_.accumulate - 1);
    step += {forward_, 0};
    return step +=
           reducing([this](double bytes) { return reduce_seconds(machine_, devices_, bytes); });
  }

  Pass sharded_optimizer() const {
    auto step = without(work_.accumulate - 1);
    step += {forward_, 0};
    step += reducing([this](double bytes) { return gather(bytes); });
    const double weights = gather(work_.weight_bytes);
    return step += {weights, weights};  // after the update, with nothing to hide it
  }

  Pass sharded_gradients() const {
    auto step = gathering();
    step += {(work_.accumulate - 1) * forward_, 0};
    const auto backward = reducing([this](double bytes) { return gather(bytes); });
    step += {work_.accumulate * backward.seconds, work_.accumulate * backward.communication};
    return step += among_groups();
  }

  Pass sharded_weights() const {
    auto micro = gathering();
    micro += gathering_and_reducing();
    Pass step{work_.accumulate * micro.seconds, work_.accumulate * micro.communication};
    return step += among_groups();
  }

  /// Sums of the groups, after the last pass, with nothing to hide it.
  Pass among_groups() const {
    const double seconds =
        replica_seconds(machine_, devices_, sharing_, wire_ / static_cast<double>(sharing_));
    return {seconds, seconds};
  }

  /// A backward pass whose pieces are sent one after another as they are finished.
  template <class Seconds>
  Pass reducing(Seconds seconds_of) const {
    double finished = 0, sent = 0, communication = 0;
    for (const auto piece : work_.pieces) {
      finished += part(backward_, piece);
      const double seconds = seconds_of(piece);
      sent = std::max(sent, finished) + seconds;
      communication += seconds;
    }
    return {std::max(sent, backward_), communication};
  }

  /// A forward pass that gathers the next unit's weights while a unit computes: the first gather is
  /// exposed, then the longer of the two counts.
  Pass gathering() const {
    const auto& units = work_.pieces;
    if (units.empty()) return {forward_, 0};
    Pass pass{gather(weights(units.back())), gather(weights(units.back()))};
    for (std::size_t i = units.size(); i-- > 0;) {
      const double next = i > 0 ? gather(weights(units[i - 1])) : 0;
      pass += {std::max(part(forward_, units[i]), next), next};
    }
    return pass;
  }

  /// A backward pass that gathers the unit before and reduces the one behind while a unit computes:
  /// the last reduce-scatter is exposed.
  Pass gathering_and_reducing() const {
    const auto& units = work_.pieces;
    if (units.empty()) return {backward_, 0};
    Pass pass;
    for (std::size_t i = 0; i < units.size(); ++i) {
      double communication = i + 1 < units.size() ? gather(weights(units[i + 1])) : 0;
      if (i > 0) communication += gather(units[i - 1]);
      pass += {std::max(part(backward_, units[i]), communication), communication};
    }
    const double last = gather(units.back());
    return pass += {last, last};
  }

  double gather(double bytes) const { return gather_seconds(machine_, sharing_, bytes); }
  double part(double seconds, double piece) const {
    return wire_ > 0 ? seconds * piece / wire_ : 0;
  }
  double weights(double piece) const { return part(work_.weight_bytes, piece); }

  /// Loss, weight and flags are one small sum; a norm of sharded gradients is another.
  double small_sums() const {
    return latency(machine_, devices_) * (work_.sharding == Sharding::none ? 1 : 2);
  }

  /// What is hidden takes processors and memory from what hides it.
  double interference(double hidden, double alone) const {
    return common_constants().interference.value * std::clamp(hidden, 0.0, alone);
  }

  /// The largest of n normal numbers lies sqrt(2 ln n) deviations above their mean, at most.
  double jitter(double alone) const {
    return common_constants().jitter.value * alone *
           std::sqrt(2 * std::log(static_cast<double>(devices_)));
  }

  double update_seconds() const {
    const double parts = work_.sharding == Sharding::none ? 1 : static_cast<double>(sharing_);
    return work_.update_bytes / parts / machine_.bandwidth.value;
  }

  double loader_seconds() const { return work_.samples() * work_.load / machine_.cores.value; }

  const KnownMachine& machine_;
  const Work& work_;
  std::int64_t devices_;
  std::int64_t sharing_ = 1;           // that have a model together
  double forward_ = 0, backward_ = 0;  // seconds of a micro-batch
  double wire_ = 0;
};

const Constant& peak(const KnownMachine& machine, std::string_view arithmetic) {
  if (arithmetic == "fp64") return machine.fp64;
  if (arithmetic == "fp32") return machine.fp32;
  return arithmetic == "tf32" ? machine.tf32 : machine.bf16;
}

/// FLOP/s that a step reaches on a device.
double reached_flops(const KnownMachine& machine, const Work& work) {
  const bool plain = work.arithmetic == "fp32" || work.arithmetic == "fp64";
  const auto& reached = plain            ? machine.reached_plain
                        : work.convolves ? machine.reached_convolution
                                         : machine.reached_product;
  return peak(machine, work.arithmetic).value * reached.value;
}

}  // namespace

Sharding sharding_of(std::string_view mode) {
  if (mode == "zero1") return Sharding::optimizer;
  if (mode == "zero2") return Sharding::gradients;
  return mode == "fsdp" ? Sharding::weights : Sharding::none;
}

std::vector<double> bucket_pieces(double bytes, double most, double last) {
  if (bytes <= last) return {bytes};
  const double rest = bytes - last;
  const auto count = std::ceil(rest / most);
  std::vector<double> pieces(static_cast<std::size_t>(count), rest / count);
  pieces.push_back(last);
  return pieces;
}

std::vector<double> unit_pieces(double bytes, std::int64_t units) {
  return std::vector<double>(static_cast<std::size_t>(units), bytes / static_cast<double>(units));
}

double sample_seconds(const KnownMachine& machine, const Work& work) {
  const double passes = work.recomputes ? 4 : 3;
  return std::max(passes * work.flops / reached_flops(machine, work),
                  4 * work.activation / machine.bandwidth.value);
}

StepForecast forecast_step(const KnownMachine& machine, const Work& work, std::int64_t devices,
                           double sample) {
  return StepModel(machine, work, devices, sample).forecast();
}

double fitted_sample(const KnownMachine& machine, const Work& work, std::int64_t devices,
                     double measured_step) {
  double low = 0, high = measured_step / work.samples();
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (forecast_step(machine, work, devices, middle).seconds < measured_step ? low : high) = middle;
  }
  return low;
}

}  // namespace ddptrain
