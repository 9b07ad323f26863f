// Curves between two values, and curves joined into one: fastai.callback.schedule as arithmetic.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace ddptrain {

enum class Anneal { constant, linear, cosine, exponential, polynomial };
std::span<const std::string_view> names(Anneal);

/// From `start` at position 0 to `end` at position 1 (SchedNo, SchedLin, SchedCos, SchedExp,
/// SchedPoly of fastai; constant stays at `start`). `power` is the polynomial's.
struct Curve {
  Anneal anneal = Anneal::linear;
  double start = 0;
  double end = 0;
  double power = 1;
  double at(double position) const;
};

/// Curves one after the other, each over its share of 0 .. 1; shares add up to 1
/// (fastai.callback.schedule.combine_scheds). As there, shares are added and positions compared in
/// float32: a whole number of epochs then changes curve in the very step that fastai's does.
class JoinedCurves {
 public:
  JoinedCurves(const std::vector<double>& shares, std::vector<Curve> curves);
  double at(double position) const;

 private:
  std::vector<float> breaks_;  // where each curve begins, and 1
  std::vector<Curve> curves_;
};

/// A cosine from `start` to `middle` over `share` of 0 .. 1, another to `end`
/// (fastai.callback.schedule.combined_cos).
JoinedCurves two_cosines(double share, double start, double middle, double end);

}  // namespace ddptrain
