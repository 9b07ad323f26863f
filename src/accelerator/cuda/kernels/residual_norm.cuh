// Parameters of the kernels of layer norm after a sum; shared with the host.
#pragma once

constexpr int kResidualThreads = 256;  // of a block
constexpr int kResidualJoined = 16;    // features of a block that joins what other blocks found

/// [rows, features]. As many threads as divide a block take a row, each so many fours of
/// neighboring features.
struct ResidualArguments {
  long long rows;
  int features;  // a multiple of 4
  double eps;
};
