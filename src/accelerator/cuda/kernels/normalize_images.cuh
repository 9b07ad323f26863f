// What the kernel of images is told; shared with the host.
#pragma once

struct NormalizeArguments {
  long long images, channels, height, width;
  long long boxes;  // of each image
  int channels_last;
  int vectors;  // four numbers at once can be written
  int small;    // all counts fit into 31 bits
};

/// float [channels] each; `boxes` [images, boxes, 4] of top, left, bottom, right, or null.
struct NormalizePlanes {
  const float *factor, *offset, *fill;
  const int* boxes;
};
