// A run folder as resume, eval, predict and export open it.
#pragma once

#include <string>
#include <vector>

#include "recipe/recipe.h"

namespace ddptrain {

struct SavedRun {
  std::string folder;
  Recipe recipe;           // as resolved, with the overrides given now
  Node tree;               // the same as layered
  std::string checkpoint;  // folder of the chosen one; empty: the run has none yet
};

/// Without links. An Error (Exit::data) where it is not a run's folder.
std::string run_folder(const std::string& folder);

/// Reads RUN/recipe.yaml and finds a checkpoint: "last" (the newest that verifies; what does not is
/// said), "best", or the name of one. Problems of the recipe are printed and end in an Error
/// (Exit::recipe); a missing run or checkpoint is Exit::data.
/// A run that was cut before its first checkpoint has none.
SavedRun open_run(const std::string& folder, const std::vector<std::string>& overrides,
                  const std::string& which = "last");

/// For those who need one: an Error (Exit::data) where there is none.
void require_checkpoint(const SavedRun& run);

}  // namespace ddptrain
