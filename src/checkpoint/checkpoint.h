// Training state in a folder: files of tensors for each part that has some (kTensorFiles),
// state.json, and MANIFEST.json with the digests. Saving is in checkpoint/saving/save.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "models/tensor_part.h"

namespace ddptrain {

/// Everything that a resumed run needs. `state` is JSON text without times and paths: position,
/// seed, schedule, loss scale, callbacks, world, threads, build.
struct Checkpoint {
  std::int64_t step = 0;
  std::vector<NamedTensor> model;  // state_dict order, plain names
  std::vector<NamedTensor> optimizer;
  std::vector<NamedTensor> ema;        // empty: none
  std::vector<NamedTensor> reduction;  // what compressed gradients have lost; empty: none
  std::vector<NamedTensor> carried;    // what rows carry from batch to batch; empty: nothing
  std::string state;
};

/// What one rank writes of a checkpoint: of each tensor the elements that it has. Together the
/// ranks have every element once.
struct CheckpointParts {
  std::int64_t step = 0;
  std::vector<TensorPart> model, optimizer, ema, reduction, carried;
  std::string state;  // of rank 0
};

/// Of one who has all of them.
std::vector<TensorPart> whole_parts(const std::vector<NamedTensor>& tensors);
CheckpointParts parts_of(const Checkpoint& checkpoint);

/// Tensors that a file has, or several (checkpoint/tensor_files.h).
struct TensorsOfFile {
  const char* stem;  // "model" of model.safetensors
  std::vector<NamedTensor> Checkpoint::*tensors;
  std::vector<TensorPart> CheckpointParts::*parts;
  bool always = false;  // written without any tensor too
};
inline constexpr std::array<TensorsOfFile, 5> kTensorFiles{
    {{"model", &Checkpoint::model, &CheckpointParts::model, true},
     {"optimizer", &Checkpoint::optimizer, &CheckpointParts::optimizer, true},
     {"ema", &Checkpoint::ema, &CheckpointParts::ema},
     {"reduction", &Checkpoint::reduction, &CheckpointParts::reduction},
     {"carried", &Checkpoint::carried, &CheckpointParts::carried}}};

/// "step-00000740"
std::string checkpoint_name(std::int64_t step);

/// Verifies every digest, then reads. Errors (Exit::data) name file and tensor.
Checkpoint load_checkpoint(const std::string& folder);

/// The same of one whose digests were verified. Tensors are mapped: they take memory when they are
/// looked at.
Checkpoint map_checkpoint(const std::string& folder);

/// Complete checkpoints under `root`, newest last; folders without a manifest are not listed.
std::vector<std::string> list_checkpoints(const std::string& root);

/// Every folder of a checkpoint under `root`, complete or not, newest last.
std::vector<std::string> checkpoint_folders(const std::string& root);

/// The newest that verifies; `notes` receives a line for each newer one that did not. Empty where
/// there is none.
std::optional<std::string> newest_checkpoint(const std::string& root,
                                             std::vector<std::string>& notes);

/// Copies a checkpoint of another run to `root`, in one step. Returns its path.
std::string copy_checkpoint(const std::string& folder, const std::string& root);

/// Points `root`/best at a checkpoint's folder, in one step.
void link_best(const std::string& root, const std::string& folder);

/// Deletes all but the newest `keep_last` (at least one), `best` (a folder name, may be empty) and
/// what `root`/best points at. Nothing is deleted while the newest does not verify; a folder that
/// cannot be deleted is a warning.
void prune_checkpoints(const std::string& root, std::int64_t keep_last, const std::string& best);

/// Refuses saved tensors that do not fit live ones of the same names: both shapes and both names
/// are in the Error (Exit::data).
void check_fit(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
               const std::string& what);

/// Copies saved tensors into live ones that they fit.
void restore(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
             const std::string& what);

}  // namespace ddptrain
