// Attention over inputs of many lengths.
#pragma once

namespace ddptrain {

/// While one lives, attention on a GPU is not computed by cuDNN, which LibTorch prefers on some of
/// them (sm_90) and which prepares a plan, tens of milliseconds, for each shape that it meets; it
/// is by LibTorch's flash or memory-efficient kernels. For all of this process: made and destroyed
/// while no other thread computes.
class ManyLengths {
 public:
  ManyLengths();
  ~ManyLengths();
  ManyLengths(const ManyLengths&) = delete;
  ManyLengths& operator=(const ManyLengths&) = delete;
};

}  // namespace ddptrain
