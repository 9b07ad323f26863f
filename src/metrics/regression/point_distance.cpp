// The mean Euclidean distance of predicted points from true ones.
#include "base/error.h"
#include "base/names.h"
#include "losses/rows.h"
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

enum class PointUnit { scaled, pixels };
std::span<const std::string_view> names(PointUnit) { return kNameList<"scaled", "pixels">; }

class PointDistance final : public Metric {
 public:
  struct Options {
    PointUnit unit = PointUnit::scaled;
    void fields(Fields& f) {
      f("unit", unit,
        {.doc = "scaled: that of the targets, in which an image is 2 wide and 2 high; pixels: of "
                "the image as the model sees it."});
    }
  };

  PointDistance(const Options& options, const MetricContext& context) {
    if (options.unit == PointUnit::scaled) return;
    if (context.sample.size() != 3)
      throw Error(Exit::recipe, Option{"metrics"},
                  "point_distance.unit: pixels wants images of one size; write 'scaled', or "
                  "transforms that give them one");
    height_ = static_cast<double>(context.sample[1]) / 2;
    width_ = static_cast<double>(context.sample[2]) / 2;
  }

  /// A point of which a coordinate is missing does not count.
  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    require_points(target);
    const auto offset = fitted_target(output, target).to(at::kDouble).sub(target.to(at::kDouble));
    const auto x = offset.select(2, 0).mul(width_), y = offset.select(2, 1).mul(height_);
    const auto distances = x.square().add(y.square()).sqrt();
    const auto missing = target.isnan().any(2);
    return together({distances.masked_fill(missing, 0).sum(), missing.logical_not().sum()});
  }
  Values values(const Terms& total) const override { return {{"point_distance", ratio(total)}}; }

 private:
  static void require_points(const at::Tensor& target) {
    if (target.dim() != 3 || target.size(2) != 2 || !target.is_floating_point())
      throw Error(Exit::recipe, Option{"metrics"}, "point_distance is about points");
  }

  double height_ = 1;  // units of one scaled unit
  double width_ = 1;
};

}  // namespace

Entry<Metric> point_distance_metric() {
  return entry_of<Metric, PointDistance>(
      "point_distance", "The mean Euclidean distance of predicted points from true ones.",
      {"smaller_is_better", "takes_points"});
}

}  // namespace ddptrain
