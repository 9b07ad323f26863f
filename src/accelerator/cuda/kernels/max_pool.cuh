// Parameters of the kernels of max pooling; shared with the host.
#pragma once

/// Images [rows, height, width, channels] in this order of memory, to [rows, out_height, out_width,
/// channels]; square windows of at most 255 places. `channels` is a multiple of 4.
struct MaxPoolArguments {
  long long rows;
  int height, width, channels;
  int out_height, out_width;
  int kernel, stride, padding;
};
