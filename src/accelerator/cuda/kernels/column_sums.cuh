// Parameters of the kernels of sums over rows; shared with the host.
#pragma once

constexpr int kColumnThreads = 256;  // of a block: 32 side by side, each with four columns
constexpr int kColumnBlock = 128;    // columns of a block
constexpr int kColumnJoined = 16;    // columns of a block that joins what other blocks found

/// [rows, columns]; a multiple of 4 columns.
struct ColumnArguments {
  long long rows;
  int columns;
};
