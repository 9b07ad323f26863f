#include "train/build/disk_space.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "recipe/period.h"
#include "train/training.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::int64_t bytes_in(const std::vector<NamedTensor>& tensors) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

std::int64_t bytes_below(const std::string& folder) {
  std::int64_t bytes = 0;
  std::error_code gone;
  for (fs::recursive_directory_iterator at(folder, gone), end; !gone && at != end;
       at.increment(gone))
    if (at->is_regular_file(gone)) bytes += static_cast<std::int64_t>(at->file_size(gone));
  return bytes;
}

/// Saves of the recipe's own period and the one at the end, as far as they are enabled.
std::int64_t saves(const Training& t, std::int64_t made, std::int64_t enough) {
  const Period every(t.recipe.checkpoint.every, t.length);
  if (every.timed()) return enough;
  std::int64_t count = 1;
  for (auto step = made + 1; step < t.length.total && count < enough; ++step)
    count += every.due(step);
  return count;
}

std::string space_problem(const Training& t, std::int64_t step, const std::string& folder) {
  const auto space = free_space(folder);
  if (!space.unknown.empty()) return {};
  return lack_of_space(folder, checkpoint_bytes(t) * most_checkpoints(t, step), bytes_below(folder),
                       space.bytes);
}

}  // namespace

std::int64_t checkpoint_bytes(const Training& t) {
  auto bytes =
      bytes_in(t.engine->model().state()) + t.optimizer->state_bytes() + t.engine->state_bytes();
  if (t.ema) bytes += bytes_in(t.engine->model().named_parameters());
  if (t.recipe.train.swa) bytes += bytes_in(t.engine->model().named_buffers());
  return bytes;
}

std::int64_t most_checkpoints(const Training& t, std::int64_t step) {
  const auto& spec = t.recipe.checkpoint;
  const auto kept = std::max<std::int64_t>(spec.keep_last, 1) + (spec.keep_best ? 1 : 0) + 1;
  return spec.keep_best ? kept : std::min(kept, saves(t, step, kept));
}

std::string lack_of_space(const std::string& folder, std::int64_t needed, std::int64_t there,
                          std::int64_t free) {
  if (needed <= there + free) return {};
  return "no space for the run's checkpoints in '" + folder + "': up to " + format_bytes(needed) +
         " at once, " + format_bytes(free) +
         " are free; delete something, choose another 'output.dir', or a smaller "
         "'checkpoint.keep_last'";
}

void require_space(const Training& t, std::int64_t step, const std::string& folder) {
  const auto problem = t.world->rank == 0 ? space_problem(t, step, folder) : std::string();
  if (const auto shared = broadcast_text(*t.world->control, problem, 0); !shared.empty())
    throw Error(Exit::data, shared);
}

}  // namespace ddptrain
