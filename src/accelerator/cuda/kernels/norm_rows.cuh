// Parameters of the kernels of batch norm over rows of neighboring channels; shared with the host.
#pragma once

constexpr int kRowsThreads = 256;  // of a block
constexpr int kRowsLane = 4;       // channels of a thread
constexpr int kRowsJoined = 16;    // channels of a block that joins what other blocks found

/// [rows, channels], of which a thread takes kRowsLane neighboring channels. `lanes` of them stand
/// side by side in a block, whose other threads take other rows; blocks along x take other rows,
/// along y other channels.
struct RowsArguments {
  long long rows;
  int channels, lanes;
  int relu;
  double eps;
};

/// Of channels, float. Weight and bias may be null: 1 and 0.
struct RowsPlanes {
  const float *mean, *inverse;  // 1 / sqrt(variance + eps)
  const float* variance;        // in place of `inverse` unless null
  const float *weight, *bias;
};

/// What norm_rows_statistics makes of norm_rows_sums.
struct RowsStatistics {
  float *mean, *inverse;
  float *running_mean, *running_var;  // moved by `momentum`; may be null
  double momentum;
};

/// What norm_rows_totals makes of norm_rows_backward_sums.
struct RowsTotals {
  float *weight, *bias;  // gradients
  float* along;          // [2, channels]: sum(dy) / rows, sum(dy (x - mean)) / rows * inverse^2
};
