// Scores that do not depend on how many ranks computed them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "callbacks/callback.h"
#include "train/step/sample_record.h"

namespace ddptrain {

struct Training;

/// What came of an evaluation. A cell of a table is among the values too where the recipe names it
/// (expect, keep_best, a callback).
struct Evaluation {
  NamedValues values;
  std::vector<NamedTable> tables;
  std::int64_t left_out = 0;  // samples that could not be read, over all ranks, of one pass
  /// Of the validation split by the weights themselves, where output.report wants them; by index.
  std::vector<SampleOutcome> samples{};
};

/// Which samples are scored: the validation split and those of eval.splits, or those of eval.test.
enum class Evaluated { validation, test };

/// Every metric on the validation split, "valid/accuracy" and so on; the same values on every rank,
/// to the last bit on any number of ranks (equal threads per rank). With an average of weights
/// its scores follow as "valid_ema/..." or "valid_swa/...", and with eval.tta those of test-time
/// augmentation as "valid_tta/...". The same follows of each of eval.splits, as "sketch/...". All
/// ranks call it together.
/// `alive` is called after every batch. An Error (Exit::data), on all ranks alike, where more
/// samples are bad than policy.bad_samples allows.
Evaluation evaluate(Training& training, const std::function<void()>& alive = {});

/// How often an evaluation will call `alive` on this rank.
std::int64_t evaluation_calls(const Training& training, Evaluated which = Evaluated::validation);

/// The same until `asked` is true on a rank or a mapped file was truncated: then all ranks stop
/// after the same number of batches, and there are no values. `asked` is asked before every batch.
std::optional<Evaluation> evaluate_unless(Training& training, const std::function<bool()>& asked,
                                          const std::function<void()>& alive = {},
                                          Evaluated which = Evaluated::validation);

}  // namespace ddptrain
