// Parameters of the kernel of images; shared with the host.
#pragma once

struct NormalizeArguments {
  long long images, channels, height, width;
  long long boxes;  // of each image
  int channels_last;
  int vectors;  // four numbers at once can be written
  int small;    // all counts fit into 31 bits
};

/// float [channels] each; `boxes` [images, boxes, 4] of top, left, bottom, right, or null. Where
/// images are mixed, bytes of their partners in the same order, their boxes, and `mixes`
/// [images, 5] of top, left, bottom, right, weight; otherwise null.
struct NormalizePlanes {
  const float *factor, *offset, *fill;
  const int* boxes;
  const unsigned char* partners;
  const int* partner_boxes;
  const float* mixes;
};
