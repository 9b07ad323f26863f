// Numbers of the host in memory of a device that stays where it is: a graph reads them there.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ddptrain {

class DeviceNumbers {
 public:
  /// Memory for `count` floats; what is there is kept where they are as many.
  void reserve(std::int64_t count, at::Device device);
  /// Copies them there where they have changed, behind all work of the current stream, without
  /// a wait. As many as were reserved.
  void upload(const std::vector<float>& numbers);
  /// The device changes them from now on by itself.
  void forget() { last_.clear(); }
  /// All of them, and one without dimensions.
  const at::Tensor& all() const { return there_; }
  at::Tensor at(std::size_t index) const;

 private:
  at::Tensor there_;
  std::vector<float> last_;  // that are there; empty: unknown
};

}  // namespace ddptrain
