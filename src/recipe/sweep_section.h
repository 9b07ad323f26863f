// The section `sweep` of a recipe: which options are varied, how, and what decides.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/node.h"

namespace ddptrain {

enum class BestMode { max, min };
enum class SweepMethod { grid, random, sobol, halving };
/// How configurations come about that halving compares.
enum class SweepDraw { grid, random, sobol };
enum class OnTrialFailure { proceed, stop };
std::span<const std::string_view> names(BestMode);
std::span<const std::string_view> names(SweepMethod);
std::span<const std::string_view> names(SweepDraw);
std::span<const std::string_view> names(OnTrialFailure);

/// The values of one option: listed, or a range from `min` to `max`, both included.
struct SweepKeySpec {
  std::vector<Node> values;
  std::optional<double> min;
  std::optional<double> max;
  bool log = false;  // uniform in the logarithm
  static constexpr std::string_view list_shorthand = "values";
  bool is_range() const { return min || max; }
  void fields(Fields& f);
};

/// ASHA's rule (Li et al. 2020): after `min`, `min` x `factor`, and so on, the best 1 / `factor`
/// of the trials that came so far go on.
struct HalvingSpec {
  Duration min = epochs(1);
  std::int64_t factor = 3;
  Auto<SweepDraw> draw;  // auto: grid where every option has values and `trials` is null
  void fields(Fields& f);
};

struct SweepSpec {
  SweepMethod method = SweepMethod::grid;
  std::map<std::string, SweepKeySpec> keys;
  std::optional<std::int64_t> trials;  // of random and sobol; a grid has as many as it has points
  std::int64_t seeds = 1;              // runs of each trial, whose metrics are averaged
  Auto<std::string> metric;            // auto: as checkpoint.keep_best, else the first metric
  Auto<BestMode> mode;                 // auto: as the metric says
  std::int64_t parallel = 1;           // trials at once
  HalvingSpec halving;
  OnTrialFailure on_failure = OnTrialFailure::proceed;
  void fields(Fields& f);
};

inline constexpr std::int64_t kMostTrials = 1000;  // runs of a sweep
inline constexpr int kMostSobolKeys = 50;          // that recipe/sweep/sobol.h has numbers for

/// How the configurations of a sweep come about.
SweepDraw draw_of(const SweepSpec& sweep);
/// Points of the grid, as many as a double counts exactly; 0 where an option has no values.
double grid_points(const SweepSpec& sweep);
/// Trials of a sweep that the rules found nothing wrong with.
std::int64_t trial_count(const SweepSpec& sweep);

}  // namespace ddptrain
