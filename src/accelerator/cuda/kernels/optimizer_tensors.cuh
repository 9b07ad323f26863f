// Lists of tensors that a kernel of an optimizer moves at once; shared with the host.
#pragma once

constexpr int kOptimizerTensors = 48;   // of one launch: kernels have 4 KiB of arguments
constexpr int kOptimizerChunk = 16384;  // numbers of a block, all of one tensor

/// Null where there is none. Each list is one of parameters, gradients and states, in this order.
struct OptimizerTensors {
  void* of[5][kOptimizerTensors];
  long long sizes[kOptimizerTensors];
  int first_chunks[kOptimizerTensors + 1];
  int count;
  int fours;  // all of them can be read four at a time
};

/// Numbers of the device are one float each: the step's rate, its momentum (beta1), the number of
/// the step from 1, and 1 where it must change nothing (null: never).
struct AdamStepArguments {
  const float *rate, *momentum, *step, *refused;
  double beta2, weight_decay, eps;
  int amsgrad, maximize, decoupled;
};

struct SgdStepArguments {
  const float *rate, *momentum, *refused;
  double weight_decay, dampening;
  int nesterov, maximize, is_first;
};
