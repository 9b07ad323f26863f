// How a graph of the device repeats an optimizer's step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace ddptrain {

struct Rates;

/// The side of an Optimizer that graphs use: a step that is captured once and replayed with other
/// rates and nothing else.
class StepCapture {
 public:
  /// A number that is another one where the step would have to be captured again. Empty: it cannot
  /// be captured, or not yet, since a first step was not made.
  virtual std::optional<std::int64_t> version() const = 0;
  /// Whether the captured step follows a momentum that a schedule moves, as it does the rate.
  virtual bool reads_momentum() const = 0;
  /// Gives the device what step() does, to be captured; `refused` is as in Rates. On the host
  /// nothing changes. Throws where it cannot be captured.
  virtual void capture(const at::Tensor& refused) = 0;
  /// Before a replay: uploads the rates, and counts the step.
  virtual void upload(const Rates& rates) = 0;

 protected:
  ~StepCapture() = default;
};

}  // namespace ddptrain
