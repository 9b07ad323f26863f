#include "data/targets/number_target.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "base/text.h"
#include "data/prediction_form.h"
#include "data/preview.h"

namespace ddptrain {
namespace {

/// Without the last bits of float32.
std::string for_people(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", double{value});
  return text;
}

class NumberTarget final : public ImageTarget, public PredictionForm {
 public:
  explicit NumberTarget(std::vector<std::string> names) : names_(std::move(names)) {}

  void tell(DataFacts& facts) const override { facts.numbers = std::ssize(names_); }
  at::Tensor allocate(std::int64_t rows, const Extent&) const override {
    if (names_.size() == 1) return at::empty({rows}, at::kFloat);
    return at::empty({rows, std::ssize(names_)}, at::kFloat);
  }
  /// Files that are to be predicted have none.
  void write(const ImageFile& file, const Image&, at::Tensor& targets,
             std::int64_t row) const override {
    auto* to = targets.mutable_data_ptr<float>() + row * std::ssize(names_);
    for (std::size_t i = 0; i < names_.size(); ++i)
      to[i] = i < file.numbers.size() ? static_cast<float>(file.numbers[i])
                                      : std::numeric_limits<float>::quiet_NaN();
  }
  void show(const at::Tensor& targets, Preview& shown) const override {
    const auto* value = targets.const_data_ptr<float>();
    for (const auto& name : names_) {
      shown.cells.emplace_back(name, std::isnan(*value) ? "missing" : for_people(*value));
      ++value;
    }
  }
  const PredictionForm* prediction_form() const override { return this; }
  std::vector<std::string> columns() const override { return names_; }
  std::vector<std::string> cells(const at::Tensor& output, const PredictedSample&) const override {
    const auto values = output.reshape({-1}).contiguous();
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < values.numel(); ++i)
      texts.push_back(format_number(values.const_data_ptr<double>()[i]));
    return texts;
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<ImageTarget> number_target(std::vector<std::string> names) {
  return std::make_unique<NumberTarget>(std::move(names));
}

}  // namespace ddptrain
