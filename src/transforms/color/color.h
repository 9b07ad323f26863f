// Brightness, contrast, saturation, hue, gray, and curves over values and neighborhoods, with
// torchvision's (v2, tensors) arithmetic and rounding. Bytes stay bytes; floats are 0 .. 1. One
// channel is gray.
#pragma once

#include "transforms/image.h"

namespace ddptrain {

void adjust_brightness(Image& image, double factor);
void adjust_contrast(Image& image, double factor);
void adjust_saturation(Image& image, double factor);
/// Turns the hue by `shift` of a full circle, -0.5 .. 0.5.
void adjust_hue(Image& image, double shift);
/// 1 channel, or 3 equal ones.
void to_gray(Image& image, int channels);

void invert(Image& image);
/// Keeps the `bits` highest of 8.
void posterize(Image& image, int bits);
/// Inverts what is at least `threshold`, 0 .. 1 of the full value.
void solarize(Image& image, double threshold);
/// Stretches each channel from its least to its greatest value.
void autocontrast(Image& image);
/// Gives each channel all values equally often, as Pillow does. Floats go by way of bytes.
void equalize(Image& image);
/// value ^ gamma of 0 .. 1.
void adjust_gamma(Image& image, double gamma);
/// 0 is blurred, 1 as it is, 2 sharper; images of two pixels stay.
void adjust_sharpness(Image& image, double factor);
/// A Gaussian of `kernel` pixels, an odd number, mirrored at the edges; at most twice the smaller
/// side less one.
void gaussian_blur(Image& image, int kernel, double sigma);

}  // namespace ddptrain
