#include "data/targets/points_target.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "base/names.h"
#include "base/text.h"
#include "data/prediction_form.h"
#include "data/preview.h"
#include "data/targets/alignment.h"
#include "transforms/preview/overlay.h"

namespace ddptrain {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

class PointsTarget final : public ImageTarget, public PredictionForm {
 public:
  PointsTarget(std::vector<std::string> columns, OutsidePoints outside, ReadPoints read)
      : columns_(std::move(columns)), outside_(outside), read_(std::move(read)) {}

  void tell(DataFacts& facts) const override { facts.points = count(); }
  at::Tensor allocate(std::int64_t rows, const Extent&) const override {
    return at::empty({rows, count(), 2}, at::kFloat);
  }
  bool in_image() const override { return true; }
  void read(const ImageFile& file, const std::string& root, ImageSize size,
            Image& into) const override {
    if (file.target.empty() && file.numbers.empty()) return;  // they are to be predicted
    const auto points = read_(file, root);
    if (outside_ == OutsidePoints::keep)
      for (std::size_t i = 0; i < points.size(); ++i) require_inside(i, points[i], size, file);
    into.points.insert(into.points.end(), points.begin(), points.end());
  }

  void write(const ImageFile&, const Image& moved, at::Tensor& targets,
             std::int64_t row) const override {
    auto* to = targets.mutable_data_ptr<float>() + row * targets.stride(0);
    for (std::int64_t i = 0; i < count(); ++i) {
      const bool known = i < std::ssize(moved.points);
      const auto point = known ? moved.points[static_cast<std::size_t>(i)] : ImagePoint{};
      const double x = point.x * 2 / moved.width - 1, y = point.y * 2 / moved.height - 1;
      const bool left = std::abs(x) > 1 || std::abs(y) > 1;
      const bool wanted = known && !(left && outside_ == OutsidePoints::ignore);
      *to++ = wanted ? static_cast<float>(x) : kMissing;
      *to++ = wanted ? static_cast<float>(y) : kMissing;
    }
  }

  void show(const at::Tensor& targets, Preview& shown) const override {
    if (!shown.image) return;
    const auto* at = targets.const_data_ptr<float>();
    std::vector<ImagePoint> points;
    for (std::int64_t i = 0; i < count(); ++i, at += 2)
      points.push_back(
          {(at[0] + 1) / 2 * shown.image->width, (at[1] + 1) / 2 * shown.image->height});
    draw_points(*shown.image, points);
  }

  std::string state() const override { return json_text(Json(columns_)); }
  const PredictionForm* prediction_form() const override { return this; }
  std::vector<std::string> columns() const override { return columns_; }
  /// Of [points, 2] or [2 * points], in pixels of the image's file.
  std::vector<std::string> cells(const at::Tensor& output,
                                 const PredictedSample& sample) const override {
    const auto values = output.reshape({-1, 2}).contiguous();
    const auto* value = values.const_data_ptr<double>();
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < values.size(0); ++i, value += 2)
      for (const auto number : point_in_file({value[0], value[1]}, sample.place))
        texts.push_back(format_number(std::round(number * 1000) / 1000));
    return texts;
  }

 private:
  std::int64_t count() const { return std::ssize(columns_) / 2; }

  void require_inside(std::size_t index, const ImagePoint& point, ImageSize size,
                      const ImageFile& file) const {
    const bool left = point.x < 0 || point.x > size.width;
    const bool above = point.y < 0 || point.y > size.height;
    if (!left && !above) return;
    const auto& column = columns_[2 * index + (left ? 0 : 1)];
    throw Error(Exit::data,
                "'{}' is {} x {} pixels, and its {} is {}; points are pixels from its left upper "
                "corner, and 'data.outside: ignore' counts one outside as missing",
                file.path, size.width, size.height, column,
                format_number(left ? point.x : point.y));
  }

  std::vector<std::string> columns_;
  OutsidePoints outside_;
  ReadPoints read_;
};

}  // namespace

std::span<const std::string_view> names(OutsidePoints) { return kNameList<"keep", "ignore">; }

std::unique_ptr<ImageTarget> points_target(std::vector<std::string> columns, OutsidePoints outside,
                                           ReadPoints read) {
  return std::make_unique<PointsTarget>(std::move(columns), outside, std::move(read));
}

}  // namespace ddptrain
