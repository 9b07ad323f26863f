// A random box is blotted out: torchvision.transforms.v2.RandomErasing (Zhong et al., 2017).
#pragma once

#include <cstdint>
#include <vector>

#include "transforms/geometry.h"
#include "transforms/transform.h"

namespace ddptrain {

class RandomErasing final : public Transform {
 public:
  struct Options {
    double p = 0.5;
    std::vector<double> scale{0.02, 0.33};
    std::vector<double> ratio{0.3, 3.3};
    std::vector<double> value{0};
    bool noise = false;
    std::int64_t max_count = 1;
    void fields(Fields& f);
  };
  explicit RandomErasing(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override;

  const Options& options() const { return options_; }
  /// What `apply` would erase of an image of a size, where it is not with noise.
  std::vector<Box> boxes(int width, int height, Stream& random) const;

 private:
  int draw_count(Stream& random) const;
  /// One of `count` boxes; false where none fits.
  bool draw(int width, int height, int count, Stream& random, Box& box) const;

  Options options_;
};

}  // namespace ddptrain
