#include "data/targets/label_target.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace ddptrain {
namespace {

class LabelTarget final : public ImageTarget {
 public:
  void tell(DataFacts&) const override {}
  at::Tensor allocate(std::int64_t rows, const Extent&) const override {
    return at::empty({rows}, at::kLong);
  }
  void write(const ImageFile& file, const Image&, at::Tensor& targets,
             std::int64_t row) const override {
    targets.mutable_data_ptr<std::int64_t>()[row] = file.label;
  }
  void show(const at::Tensor&, Preview&) const override {}  // Dataset::preview shows labels
};

class LabelsTarget final : public ImageTarget {
 public:
  explicit LabelsTarget(std::int64_t classes) : classes_(classes) {}
  void tell(DataFacts& facts) const override { facts.several_labels = true; }
  at::Tensor allocate(std::int64_t rows, const Extent&) const override {
    return at::empty({rows, classes_}, at::kFloat);
  }
  void write(const ImageFile& file, const Image&, at::Tensor& targets,
             std::int64_t row) const override {
    float* each = targets.mutable_data_ptr<float>() + row * classes_;
    std::fill_n(each, classes_, 0.0F);
    for (const auto label : file.labels) each[label] = 1;
  }
  void show(const at::Tensor&, Preview&) const override {}

 private:
  std::int64_t classes_;
};

}  // namespace

std::unique_ptr<ImageTarget> label_target() { return std::make_unique<LabelTarget>(); }

std::unique_ptr<ImageTarget> labels_target(std::int64_t classes) {
  return std::make_unique<LabelsTarget>(classes);
}

}  // namespace ddptrain
