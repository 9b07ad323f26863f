// What must be equal: a row of the table of `verify` for each kind of numbers.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "jobs/verify/short_runs.h"

namespace ddptrain {

enum class Verdict { same, different, not_comparable };

struct CheckedRow {
  std::string what;                                           // "parallel: losses"
  std::string precision;                                      // "fp64"
  std::string ranks;                                          // "1, 2"
  double largest = std::numeric_limits<double>::quiet_NaN();  // NaN: not compared
  double allowed = std::numeric_limits<double>::quiet_NaN();
  Verdict verdict = Verdict::same;
  std::string note{};  // what differs first, why nothing is compared, or how it was
};
using CheckedRows = std::vector<CheckedRow>;

/// What the checks of one precision work with.
struct CheckSetting {
  ShortRuns& runs;
  Precision precision;
  std::int64_t steps;               // optimizer steps of a run
  std::int64_t accumulate;          // the recipe's own
  std::vector<std::int64_t> ranks;  // numbers of devices, each above 1
};

/// How far sums in another order may be apart, relative to their size: 1e-12 in fp64, the bound of
/// gradients in tests/distributed/compare.h; else the root of the precision's epsilon, which is
/// half of its digits.
double allowed_of(Precision precision);

/// One rank against several on the same global batches, under ddp, and dp where the recipe has it.
/// Where an optimizer enlarges rounding errors, as Adam does with a gradient that is zero but for
/// them, no bound for weights at the end of two runs holds. Such runs are compared step by step:
/// the one rank takes the gradients of the others after it has compared them with its own, so that
/// before each step the weights are the same.
CheckedRows check_parallel(const CheckSetting& setting);
/// One micro-batch a step against several of the same global batch.
CheckedRows check_accumulate(const CheckSetting& setting);
/// The metrics of one checkpoint on one rank and on several: equal to the last bit.
CheckedRows check_eval(const CheckSetting& setting);
/// A run that was saved and continued by a new process against one that was not: equal to the last
/// bit, on one rank and on the most, under ddp, and dp where the recipe has it.
CheckedRows check_resume(const CheckSetting& setting);

}  // namespace ddptrain
