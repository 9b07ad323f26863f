#include "data/targets/alignment.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

/// A row of 8 x 4 pixels that shows a whole image of 16 x 8.
ImagePlace plain_place() {
  ImagePlace place{16, 8, 8, 4, {}};
  place.corners = {{{0, 0}, {8, 0}, {8, 4}, {0, 4}}};
  return place;
}

ImagePlace mirrored() {
  auto place = plain_place();
  place.corners = {{{8, 0}, {0, 0}, {0, 4}, {8, 4}}};
  return place;
}

/// The right half, twice as large: pixels 4 .. 8 and 0 .. 4 of the plain row, squeezed vertically.
ImagePlace right_half() {
  auto place = plain_place();
  place.corners = {{{-8, 0}, {8, 0}, {8, 4}, {-8, 4}}};
  return place;
}

at::Tensor numbered_pixels() { return at::arange(32, at::kDouble).reshape({1, 1, 4, 8}); }

TEST(AlignedPixels, UndoAFlip) {
  const auto flipped = at::flip(numbered_pixels(), {3});
  EXPECT_TRUE(
      aligned_pixels(flipped, {mirrored()}, {plain_place()}).allclose(numbered_pixels(), 0, 1e-9));
}

TEST(AlignedPixels, AreNaNWhereTheyWereNotSeen) {
  const auto found = aligned_pixels(numbered_pixels(), {right_half()}, {plain_place()});
  EXPECT_TRUE(found.narrow(3, 0, 4).isnan().all().item<bool>());
  EXPECT_FALSE(found.narrow(3, 4, 4).isnan().any().item<bool>());
  // The plain row's pixel 4 lies over pixels 0 and 1 of the enlarged one.
  EXPECT_NEAR(found[0][0][0][4].item<double>(), 0.5, 1e-9);
}

TEST(AlignedPoints, UndoWhatMovedThem) {
  const auto points = at::tensor({0.5, -0.25, -1.0, 1.0}, at::kDouble).reshape({1, 2, 2});
  const auto back = aligned_points(points, {mirrored()}, {plain_place()});
  EXPECT_TRUE(
      back.allclose(at::tensor({-0.5, -0.25, 1.0, 1.0}, at::kDouble).reshape({1, 2, 2}), 0, 1e-12));
  const auto flat = aligned_points(points.reshape({1, 4}), {right_half()}, {plain_place()});
  EXPECT_TRUE(
      flat.allclose(at::tensor({0.75, -0.25, 0.0, 1.0}, at::kDouble).reshape({1, 4}), 0, 1e-12));
}

TEST(PointInFile, IsInPixelsOfTheFile) {
  const auto at = point_in_file({0.5, -0.5}, plain_place());
  EXPECT_NEAR(at[0], 12, 1e-12);
  EXPECT_NEAR(at[1], 2, 1e-12);
}

}  // namespace
}  // namespace ddptrain
