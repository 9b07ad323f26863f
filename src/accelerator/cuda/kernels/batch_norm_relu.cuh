// Parameters of the kernel of batch norm and ReLU; shared with the host.
#pragma once

/// The channel of the number at place i of memory is i / inner % channels.
struct NormArguments {
  long long count, channels;
  long long inner;  // 1: channels are neighbors (channels last)
  int vectors;      // four numbers at once can be read and written
  int small;        // all counts fit into 31 bits
  double eps;
};

/// [channels] each, float, or double where the input is. Weight and bias may be null: 1 and 0.
/// `inverse`, unless null, is for 1 / sqrt(variance + eps).
struct NormPlanes {
  const void *mean, *variance, *weight, *bias;
  void* inverse;
};
