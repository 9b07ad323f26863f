// Parameters of the kernels of synchronized batch norm; shared with the host.
#pragma once

/// Statistics of a member are doubles: means, sums of squared distances from them, and the count of
/// values per channel, one number: 2 * channels + 1 of them.
struct SyncNormArguments {
  int members, channels;
  int has_momentum;  // else the running statistics are averages over batches
  double momentum, eps;
  long long* batches;  // of which they are averages
};

/// Per channel, of the kernel's type.
struct SyncNormPlanes {
  void *mean, *variance, *inverse;  // inverse: 1 / sqrt(variance + eps)
  void *running_mean, *running_var;
  int* count;  // values per channel of all members, one number
};
