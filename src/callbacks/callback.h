// What happens between steps: log, stop, change the rate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/named_values.h"
#include "base/output/named_table.h"
#include "config/catalog.h"
#include "runs/generated_text.h"

namespace ddptrain {

/// `evaluating` (after every batch), `saving` and `saved` are for writers alone.
/// So are those of a complete run: `concluded`, of the weights that are its result on the
/// validation split, and `tested`, of the same weights on the test split.
enum class Moment {
  run_begin,
  step_end,
  evaluating,
  evaluated,
  saving,
  saved,
  concluded,
  tested,
  run_end
};

/// Bytes of the fullest device of a rank. No total: not counted, as on the CPU.
struct MemoryUse {
  std::int64_t peak_reserved = 0;
  std::int64_t total = 0;
};

/// What a callback sees of a run, the same on every rank. Values that a moment does not bring are
/// empty.
struct RunView {
  std::int64_t step = 0;  // optimizer steps made
  std::int64_t total_steps = 0;
  std::int64_t per_epoch = 1;  // optimizer steps of an epoch
  double epoch = 0;            // epochs made, with fraction
  std::int64_t samples = 0;    // samples seen by all ranks
  double train_loss = 0;       // mean loss of the last step
  double lr = 0;
  std::optional<double> momentum;
  std::optional<double> weight_decay;  // where a schedule moves it
  double gradient_norm = 0;            // NaN where not known
  NamedValues group_norms;  // log.group_norms: "train/gradient_norm/0", "train/weight_norm/0", ...
  double seconds = 0;       // since the run (or its resumption) began
  double samples_per_second = 0;
  MemoryUse memory;                     // of this rank: for writers alone
  std::optional<double> seconds_left;   // of a run that is measured in time
  std::int64_t evaluation_batch = 0;    // at Moment::evaluating: scored on this rank
  std::int64_t evaluation_batches = 0;  // and in all
  NamedValues metrics;             // at Moment::evaluated and concluded: "valid/accuracy", ...;
                                   // at tested: "test/accuracy", ...
  std::vector<NamedTable> tables;  // then too: "valid/confusion_matrix"
  ScoredWeights weights;           // then too
  GeneratedTexts texts;            // at Moment::evaluated, where eval.samples asks for them
  std::string checkpoint;          // at Moment::saved: its folder
  NamedValues phase_seconds;       // at Moment::run_end: of this start, by phase
};

/// What a callback may ask for. Must be asked alike on every rank.
struct RunControl {
  std::optional<std::string> stop;  // reason
  double lr_factor = 1;             // multiplies the schedule's rate from the next step on
};

class Callback {
 public:
  using Make = std::unique_ptr<Callback>();
  virtual ~Callback() = default;
  virtual void at(Moment moment, const RunView& run, RunControl& control) = 0;
  /// Whether what it asks for at `step_end` must hold from the very next step on. On an accelerator
  /// the host then waits at each step, which it otherwise hears of while the next one is computed.
  virtual bool steers_each_step() const { return false; }
  /// What must survive a resume, as JSON text; empty: nothing.
  virtual std::string state() const { return {}; }
  virtual void load(const std::string&) {}
};

using Callbacks = std::vector<std::unique_ptr<Callback>>;

template <>
const Catalog<Callback>& catalog<Callback>();

}  // namespace ddptrain
