// Values made by running the peers: every case of tests/golden (or of the folder that
// DDPTRAIN_GOLDEN names) is one test. A file of cases is read by handlers, one per kind:
//
//   GOLDEN(schedules, fastai_fit) { ... uses `c.input` and `c.expect` with EXPECT_* ... }
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ddptrain::golden {

struct Case {
  std::string file;  // "schedules"
  std::string name;
  nlohmann::json input;
  nlohmann::json expect;
};

using Handler = std::function<void(const Case&)>;

/// Registers what reads the cases of a kind; to be used through GOLDEN.
struct Registration {
  Registration(const std::string& file, const std::string& kind, Handler handler);
};

/// The folder of the cases, images/ below it.
std::string folder();

/// A number, or one of the strings "nan", "inf", "-inf".
double number(const nlohmann::json& value);
/// A flat or nested array of numbers as doubles, row-major.
std::vector<double> numbers(const nlohmann::json& values);

/// The hash u(i, k) in [-1, 1) from which the peers' inputs and weights were made.
double formula(std::uint64_t i, std::uint64_t k);

/// The formula weights of one state entry: of its row-major element i. Computed in double; the
/// peers stored them as float32.
struct FormulaWeights {
  double shift, scale;
  std::uint64_t k;
  double operator()(std::int64_t i) const {
    return shift + scale * formula(static_cast<std::uint64_t>(i), k);
  }
};

/// Of entry k named `name` with `fan` = product of all sizes but the first (1 for vectors) and
/// `dims` dimensions.
FormulaWeights formula_weights(const std::string& name, std::size_t dims, std::int64_t fan,
                               std::uint64_t k);

/// |actual - expected| <= absolute + relative * |expected|, element by element; NaN equals NaN.
void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double relative, double absolute, const std::string& what);

}  // namespace ddptrain::golden

#define GOLDEN(file, kind)                                                    \
  static void golden_##file##_##kind(const ::ddptrain::golden::Case& c);      \
  static const ::ddptrain::golden::Registration registration_##file##_##kind{ \
      #file, #kind, golden_##file##_##kind};                                  \
  static void golden_##file##_##kind([[maybe_unused]] const ::ddptrain::golden::Case& c)
