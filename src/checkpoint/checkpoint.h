// Training state to and from a folder: a file of tensors for each part that has some
// (kTensorFiles), state.json, and MANIFEST.json with the digests, written last; the folder is
// renamed into place.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"

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

/// A file of tensors, and what it holds.
struct TensorFile {
  const char* name;
  std::vector<NamedTensor> Checkpoint::*tensors;
  bool always = false;  // written without any tensor too
};
inline constexpr std::array<TensorFile, 5> kTensorFiles{
    {{"model.safetensors", &Checkpoint::model, true},
     {"optimizer.safetensors", &Checkpoint::optimizer, true},
     {"ema.safetensors", &Checkpoint::ema},
     {"reduction.safetensors", &Checkpoint::reduction},
     {"carried.safetensors", &Checkpoint::carried}}};

/// "step-00000740"
std::string checkpoint_name(std::int64_t step);

/// Writes `root`/step-00000740 and returns its path. An existing equal one is left alone, another
/// of the same step is replaced at once. A failure (disk full) leaves older ones intact and no
/// half-written folder behind.
std::string save_checkpoint(const std::string& root, const Checkpoint& checkpoint);

/// Verifies every digest, then reads. Errors (Exit::data) name file and tensor.
Checkpoint load_checkpoint(const std::string& folder);

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

/// Copies saved tensors into live ones of the same names; both shapes and both names in the Error
/// (Exit::data) when they do not fit.
void restore(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
             const std::string& what);

}  // namespace ddptrain
