#include "train/build/disk_space.h"

#include <fmt/format.h>

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

/// Saves of a period and the one at the end, no more than `enough`.
std::int64_t saves(const Training& t, const Period& every, std::int64_t made, std::int64_t enough) {
  if (every.timed()) return enough;
  std::int64_t count = 1;
  for (auto step = made + 1; step < t.length.total && count < enough; ++step)
    count += every.due(step);
  return count;
}

std::string space_problem(const Training& t, std::int64_t step, const std::string& folder) {
  const auto space = free_space(folder);
  if (!space.unknown.empty()) return {};
  return lack_of_space(
      {folder, checkpoint_bytes(t) * most_checkpoints(t, step), bytes_below(folder), space.bytes});
}

std::string local_space_problem(const Training& t, std::int64_t step, const std::string& root,
                                std::int64_t ranks_here) {
  const auto space = free_space(root);
  if (!space.unknown.empty()) return {};
  const auto kept = std::max<std::int64_t>(t.recipe.checkpoint.keep_last, 1) + 1;
  const Period every(t.recipe.checkpoint.local->every, t.length);
  const auto at_once = saves(t, every, step, kept);
  return lack_of_space({root, checkpoint_bytes(t) / t.world->size * ranks_here * at_once,
                        bytes_below(root), space.bytes, "checkpoint.local.dir"});
}

}  // namespace

std::int64_t checkpoint_bytes(const Training& t) {
  auto bytes = bytes_in(t.engine->model().state()) + t.optimizer->state_bytes();
  if (const auto* memory = t.engine->memory()) bytes += memory->state_bytes();
  if (t.ema) bytes += bytes_in(t.engine->model().named_parameters());
  if (t.recipe.train.swa) bytes += bytes_in(t.engine->model().named_buffers());
  return bytes;
}

std::int64_t most_checkpoints(const Training& t, std::int64_t step) {
  const auto& spec = t.recipe.checkpoint;
  const auto kept = std::max<std::int64_t>(spec.keep_last, 1) + (spec.keep_best ? 1 : 0) + 1;
  return spec.keep_best ? kept : std::min(kept, saves(t, Period(spec.every, t.length), step, kept));
}

std::string lack_of_space(const DiskNeed& need) {
  if (need.needed <= need.there + need.free) return {};
  return fmt::format(
      "no space for the run's checkpoints in '{}': up to {} at once, {} are free; delete "
      "something, choose another '{}', or a smaller 'checkpoint.keep_last'",
      need.folder, format_bytes(need.needed), format_bytes(need.free), need.option);
}

void require_space(const Training& t, std::int64_t step, const std::string& folder) {
  const auto problem = t.world->rank == 0 ? space_problem(t, step, folder) : std::string();
  if (const auto shared = broadcast_text(*t.world->control, problem, 0); !shared.empty())
    throw Error(Exit::data, shared);
}

void require_local_space(const Training& t, std::int64_t step, const std::string& root,
                         std::int64_t ranks_here) {
  const auto all = gather_text(*t.world->control, local_space_problem(t, step, root, ranks_here));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].empty())
      throw Error(Exit::data,
                  all.size() > 1 ? fmt::format("rank {}: {}", rank, all[rank]) : all[rank]);
}

}  // namespace ddptrain
