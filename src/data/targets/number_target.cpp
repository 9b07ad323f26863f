#include "data/targets/number_target.h"

#include <limits>

#include "data/targets/number_columns.h"

namespace ddptrain {
namespace {

class NumberTarget final : public ImageTarget {
 public:
  explicit NumberTarget(std::vector<std::string> names) : numbers_(std::move(names)) {}

  void tell(DataFacts& facts) const override { facts.numbers = numbers_.count(); }
  at::Tensor allocate(std::int64_t rows, const Extent&) const override {
    return numbers_.allocate(rows);
  }
  /// Files that are to be predicted have none.
  void write(const ImageFile& file, const Image&, at::Tensor& targets,
             std::int64_t row) const override {
    const auto count = static_cast<std::size_t>(numbers_.count());
    auto* to = targets.mutable_data_ptr<float>() + row * numbers_.count();
    for (std::size_t i = 0; i < count; ++i)
      to[i] = i < file.numbers.size() ? static_cast<float>(file.numbers[i])
                                      : std::numeric_limits<float>::quiet_NaN();
  }
  void show(const at::Tensor& targets, Preview& shown) const override {
    numbers_.show(targets.const_data_ptr<float>(), shown);
  }
  const PredictionForm* prediction_form() const override { return &numbers_; }

 private:
  NumberColumns numbers_;
};

}  // namespace

std::unique_ptr<ImageTarget> number_target(std::vector<std::string> names) {
  return std::make_unique<NumberTarget>(std::move(names));
}

}  // namespace ddptrain
