// A checkpoint to its folder, written by one or by several together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddptrain {

struct Checkpoint;
enum class CheckpointFiles;  // recipe/recipe.h
struct CheckpointParts;

/// Those who write a checkpoint together. All call the same functions in the same order; errors are
/// those of the network.
class Writers {
 public:
  virtual ~Writers() = default;
  virtual int rank() const = 0;  // 0 makes the folder, and puts it in place
  virtual std::vector<std::string> gather(const std::string& text) = 0;  // every rank's, on all
  virtual std::string broadcast(const std::string& text) = 0;            // rank 0's, on all
};

/// Tensors of more bytes are written to several files, as transformers does.
inline constexpr std::int64_t kLargestFile = 5'000'000'000;

/// The same for all writers.
struct SaveOptions {
  std::int64_t largest_file = kLargestFile;
  /// Empty: as the file system needs it (checkpoint/saving/shared_storage.h).
  std::optional<CheckpointFiles> files = {};
  /// Each machine has a folder of its own, with the files of its ranks and the manifest of all
  /// (checkpoint/saving/local_parts.h).
  bool on_each_machine = false;
};

/// Writes `root`/step-00000740 under a temporary name: rank 0 makes files of their full length,
/// each writer puts its elements at their place, then rank 0 writes MANIFEST.json and renames the
/// folder. The bytes are the same however the elements are divided. With a file for each rank, each
/// writer puts its elements into its own, and the manifest says what lies where. An existing equal
/// checkpoint is left alone, another of the same step is replaced at once. Returns its path on
/// every rank. A failure (disk full) is the same Error (Exit::data) on all of them, leaves older
/// ones intact and no half-written folder behind.
std::string save_checkpoint(const std::string& root, const CheckpointParts& parts, Writers& writers,
                            const SaveOptions& options = {});

/// By one alone.
std::string save_checkpoint(const std::string& root, const Checkpoint& checkpoint,
                            const SaveOptions& options = {});
std::string save_checkpoint(const std::string& root, const CheckpointParts& parts,
                            const SaveOptions& options = {});

}  // namespace ddptrain
