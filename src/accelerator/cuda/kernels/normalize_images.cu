// Bytes of images to numbers: byte * factor[channel] + offset[channel], each rounded to single
// precision, and `fill` inside of boxes [top, left, bottom, right) (src/data/image); of images that
// are mixed, the mean with their partner's. Each thread takes four neighbors in memory.
#include "normalize_images.cuh"
#include "numbers.cuh"

template <class Index>
struct Pixel {
  Index image, channel, y, x;
};

template <class Index>
__device__ inline Pixel<Index> pixel_at(Index at, const NormalizeArguments& a) {
  const Index channels = (Index)a.channels, height = (Index)a.height, width = (Index)a.width;
  if (a.channels_last)
    return {at / (channels * width * height), at % channels, at / (channels * width) % height,
            at / channels % width};
  return {at / (width * height * channels), at / (width * height) % channels, at / width % height,
          at % width};
}

// The neighbor in memory.
template <class Index>
__device__ inline void advance(Pixel<Index>& p, const NormalizeArguments& a) {
  if (a.channels_last) {
    if (++p.channel < (Index)a.channels) return;
    p.channel = 0;
  }
  if (++p.x < (Index)a.width) return;
  p.x = 0;
  if (++p.y < (Index)a.height) return;
  p.y = 0;
  if (!a.channels_last) {
    if (++p.channel < (Index)a.channels) return;
    p.channel = 0;
  }
  ++p.image;
}

template <class Index>
__device__ inline bool in_a_box(const Pixel<Index>& p, const int* boxes, long long count) {
  const int y = (int)p.y, x = (int)p.x;
  const int* box = boxes + (long long)p.image * count * 4;
  for (long long i = 0; i < count; ++i, box += 4)
    if (y >= box[0] && x >= box[1] && y < box[2] && x < box[3]) return true;
  return false;
}

template <class Index>
__device__ inline float value_of(unsigned char byte, const int* boxes, const Pixel<Index>& p,
                                 const NormalizePlanes& planes, const NormalizeArguments& a) {
  if (a.boxes > 0 && in_a_box(p, boxes, a.boxes)) return planes.fill[p.channel];
  return __fadd_rn(__fmul_rn((float)byte, planes.factor[p.channel]), planes.offset[p.channel]);
}

template <class Index>
__device__ inline float mixed(float own, unsigned char byte, const Pixel<Index>& p,
                              const NormalizePlanes& planes, const NormalizeArguments& a) {
  const float* mix = planes.mixes + (long long)p.image * 5;
  const float y = (float)p.y, x = (float)p.x;
  if (y < mix[0] || x < mix[1] || y >= mix[2] || x >= mix[3]) return own;
  const float other = value_of(byte, planes.partner_boxes, p, planes, a);
  return __fadd_rn(other, __fmul_rn(__fsub_rn(own, other), mix[4]));
}

template <class T, class Index>
__device__ inline void normalize(const unsigned char* from, T* to, const NormalizePlanes& planes,
                                 const NormalizeArguments& a) {
  const Index all = (Index)(a.images * a.channels * a.height * a.width), fours = (all + 3) / 4;
  for (Index i = first_of_thread<Index>(); i < fours; i += all_threads<Index>()) {
    const Index first = 4 * i;
    Four<T> four;
    const int count = all - first < 4 ? (int)(all - first) : 4;
    Pixel<Index> pixel = pixel_at(first, a);
    for (int j = 0; j < count; ++j, advance(pixel, a)) {
      float value = value_of(from[first + j], planes.boxes, pixel, planes, a);
      if (planes.mixes) value = mixed(value, planes.partners[first + j], pixel, planes, a);
      narrow(value, four.at[j]);
    }
    if (a.vectors && count == 4) {
      *(Four<T>*)(to + first) = four;
      continue;
    }
    for (int j = 0; j < count; ++j) to[first + j] = four.at[j];
  }
}

#define NORMALIZE_IMAGES(name, type)                                                           \
  extern "C" __global__ void name(const unsigned char* from, type* to, NormalizePlanes planes, \
                                  NormalizeArguments a) {                                      \
    if (a.small)                                                                               \
      normalize<type, unsigned>(from, to, planes, a);                                          \
    else                                                                                       \
      normalize<type, Word64>(from, to, planes, a);                                            \
  }

WITH_FLOAT(NORMALIZE_IMAGES(normalize_images_float, float))
WITH_DOUBLE(NORMALIZE_IMAGES(normalize_images_double, double))
WITH_BFLOAT16(NORMALIZE_IMAGES(normalize_images_bfloat16, BFloat16))
WITH_HALF(NORMALIZE_IMAGES(normalize_images_half, Half))
