#include "train/profile/traces.h"

#include <fmt/format.h>

#include "base/files/files.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "optim/state_stream.h"
#include "train/profile/memory_trace.h"
#include "train/profile/profiler.h"
#include "train/training.h"

namespace ddptrain {
namespace {

c10::Device device_of(const Training& t) {
  return t.engine->model().named_parameters().front().tensor.device();
}

std::int64_t bytes_there(const std::vector<NamedTensor>& tensors, c10::Device device) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors)
    if (tensor.device() == device) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

/// Weights and buffers of gradients as the engine has them, the model's buffers, averages and the
/// optimizer's state, or the buffers that it passes through.
std::int64_t bytes_of(const Training& t) {
  const auto device = device_of(t);
  auto bytes = t.engine->held_bytes() + bytes_there(t.engine->model().named_buffers(), device) +
               bytes_there(t.optimizer->state(), device);
  if (t.state_stream) bytes += 2 * t.state_stream->buffer_bytes();
  if (t.ema) bytes += bytes_there(t.ema->parameters(), device);
  return bytes;
}

}  // namespace

Callbacks make_traces(const Traces& traces, const Training& t, std::int64_t step,
                      const std::string& run) {
  Callbacks made;
  if (traces.profiled_steps == 0 && !traces.memory) return made;
  const auto folder = run + "/profile";
  make_folders(folder);
  const auto rank =
      fmt::format("_rank{}{}", t.world->rank, step > 0 ? fmt::format(".from-step-{}", step) : "");
  const bool reports = t.world->rank == 0;
  if (traces.memory)
    made.push_back(make_memory_trace(
        {device_of(t), bytes_of(t), t.world->rank, folder + "/memory" + rank, reports}));
  if (traces.profiled_steps > 0)
    made.push_back(make_profiler({traces.profiled_steps, device_of(t).type(),
                                  fmt::format("{}/trace{}.json", folder, rank), t.world->rank,
                                  t.world->size, reports}));
  return made;
}

}  // namespace ddptrain
