// A run folder as resume, eval, predict and export open it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output/named_table.h"
#include "cli/verb.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// Which checkpoint of a run: what open_run takes.
inline constexpr Flag kCheckpoint{"--checkpoint", "WHICH",
                                  "last (default), best, or a name such as step-00000740"};

struct SavedRun {
  std::string folder;
  Recipe recipe;                     // as resolved, with the overrides given now
  Node tree;                         // the same as layered
  std::string checkpoint;            // folder of the chosen one; empty: the run has none
  std::vector<std::string> damages;  // where it has none that is complete: what is wrong with each
};

/// The newest complete checkpoint of a run (empty: none), and what is wrong with all where none is.
struct NewestCheckpoint {
  std::string run;
  std::string checkpoint;
  std::vector<std::string> damages;
};

/// Logs a warning for each newer checkpoint that is damaged.
NewestCheckpoint newest_of(const std::string& folder);

/// Where a run that is resumed continues from; nothing where it was interrupted before its first
/// checkpoint. An Error (Exit::data) where its checkpoints are damaged or gone: it names each file
/// and says what can be done.
std::optional<std::string> checkpoint_to_resume(const NewestCheckpoint& newest);

/// Of a run that has checkpoint.local the same, but where checkpoint_to_resume would throw: its
/// message, for a run whose nodes have no checkpoint either. What is damaged is a warning then.
struct ResumedFrom {
  std::optional<std::string> checkpoint = {};
  std::string without_local = {};
};
ResumedFrom checkpoint_or_local(const NewestCheckpoint& newest, const Recipe& recipe);

/// Whether it looks like one: it has a recipe.yaml and checkpoints.
bool is_run_folder(const std::string& folder);

/// Without links. An Error (Exit::data) where it is not a run's folder.
std::string run_folder(const std::string& folder);

/// Reads RUN/recipe.yaml and finds a checkpoint: "last" (the newest that verifies; what does not is
/// reported), "best", or the name of one. Problems of the recipe are printed and end in an Error
/// (Exit::recipe); a missing run or checkpoint is Exit::data.
/// A run that was interrupted before its first checkpoint has none.
SavedRun open_run(const std::string& folder, const std::vector<std::string>& overrides,
                  const std::string& which = "last");

/// Overrides with which open_run opens a run that is scored and trains nothing: how training cuts
/// its batches and captures its steps does not matter there, whatever the number of ranks.
std::vector<std::string> without_training(std::vector<std::string> overrides);

/// "best weights", "last weights", both, or neither of those that the run has, with their step.
ScoredWeights weights_of(const SavedRun& run);

/// For those who need one: an Error (Exit::data) where there is none.
void require_checkpoint(const SavedRun& run);

}  // namespace ddptrain
