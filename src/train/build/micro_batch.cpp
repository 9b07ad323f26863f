#include "train/build/micro_batch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/loader/lengths.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "launch/failure.h"
#include "losses/loss.h"
#include "optim/optimizer.h"
#include "optim/state_stream.h"
#include "train/device_memory.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// The largest divisor of what a device sees in a step that is at most half of `micro`.
BatchPlan smaller(const BatchPlan& plan) {
  const auto share = plan.micro * plan.accumulate;
  auto micro = plan.micro / 2;
  while (share % micro != 0) --micro;
  return with_micro(plan, micro);
}

/// On how many ranks it does not fit.
std::int64_t refusals(Group& group, bool fits) {
  auto count = at::tensor({fits ? 0.0 : 1.0}, at::kDouble);
  group.all_reduce(count);
  return static_cast<std::int64_t>(count.item<double>());
}

std::int64_t values(const Batch& batch) {
  std::int64_t sum = 0;
  for (const auto& input : batch.inputs) sum += input.numel();
  return sum;
}

/// Room for two tensors for each parameter, as Adam keeps; nothing where the state is there. One
/// that is offloaded needs its buffers.
std::vector<at::Tensor> room_for_state(Training& t) {
  std::vector<at::Tensor> room;
  if (t.optimizer && !t.optimizer->state().empty()) return room;
  if (t.state_stream) {
    for (const std::size_t side : {0, 1}) room.push_back(t.state_stream->buffer(side));
    return room;
  }
  for (const auto& [name, master] : t.engine->masters())
    for (int i = 0; i < 2; ++i) room.push_back(at::empty_like(master.detach()));
  return room;
}

/// Twice: the second finds the gradients and what libraries keep of the first.
void train_twice(Training& t, std::int64_t micro) {
  const auto room = room_for_state(t);
  MicroStep at;
  at.last = false;
  at.alone = true;
  at.nominal = static_cast<double>(t.placement.batch.global);
  const auto batch = largest_batch(*t.data, micro * t.placement.replicas);
  for (int i = 0; i < 2; ++i) t.engine->accumulate(batch, *t.loss, at);
}

bool all_keep_room(const Training& t) {
  const auto& device = accelerator(t.placement.device);
  return std::ranges::all_of(own_devices(t.placement, t.world->local_rank),
                             [&](int id) { return keeps_room(device.memory(id)); });
}

void forget_peaks(const Training& t) {
  const auto& device = accelerator(t.placement.device);
  device.empty_cache();
  for (const int id : own_devices(t.placement, t.world->local_rank)) device.reset_peak_memory(id);
}

bool memory_sufficed(Training& t, std::int64_t micro) {
  try {
    forget_peaks(t);
    train_twice(t, micro);
    return all_keep_room(t);
  } catch (...) {
    if (failure_of(std::current_exception(), t.world->rank).code != Exit::memory) throw;
    return false;
  }
}

/// Whether it fits. What refuses a part of a size that did not fit, such as batch norm of a single
/// value, says that there is too little memory.
bool part_fits(const FitsMicro& fits, std::int64_t micro, const std::vector<std::string>& refused) {
  try {
    return fits(micro);
  } catch (const Error& error) {
    if (refused.empty() || error.code() == Exit::memory) throw;
    throw Error(Exit::memory,
                "out of memory: batch.micro auto: {} did not fit, and {} cannot be trained ({})",
                join(refused, ", "), micro, error.what());
  }
}

}  // namespace

Batch largest_batch(const Dataset& data, std::int64_t rows) {
  const auto lengths = lengths_of(data, Split::train);
  auto batch = lengths.empty()
                   ? data.allocate_train(0, rows)
                   : data.allocate_length(Split::train, rows,
                                          *std::max_element(lengths.begin(), lengths.end()));
  for (const auto epoch : data.changes_of_shape())
    if (auto other = data.allocate_train(epoch, rows); values(other) > values(batch))
      batch = std::move(other);
  for (const auto& input : batch.inputs) input.fill_(data.facts().padding == 0 ? 1 : 0);
  for (const auto& target : batch.targets) target.zero_();
  batch.indices.resize(static_cast<std::size_t>(rows));
  return batch;
}

BatchPlan with_micro(BatchPlan plan, std::int64_t micro) {
  plan.accumulate = plan.micro * plan.accumulate / micro;
  plan.micro = micro;
  return plan;
}

BatchPlan find_micro(const BatchPlan& planned, Group& group, const FitsMicro& fits) {
  auto plan = planned;
  std::vector<std::string> refused;
  while (const auto ranks = refusals(group, part_fits(fits, plan.micro, refused))) {
    if (plan.micro == 1)
      throw Error(Exit::memory,
                  "out of memory: batch.micro auto: not even one sample fits on {}; a smaller "
                  "model or smaller samples need less",
                  plural(ranks, "device"));
    refused.push_back(std::to_string(plan.micro));
    plan = smaller(plan);
  }
  if (!refused.empty())
    log::info("batch.micro auto: {} did not fit, {} does: {}", join(refused, ", "), plan.micro,
              to_text(plan));
  return plan;
}

bool keeps_room(const DeviceMemory& memory) {
  return memory.total == 0 || memory.peak_reserved <= memory.total - memory.total / 20;
}

bool fits_in_memory(Training& t, std::int64_t micro) {
  const at::AutoGradMode with_gradients(true);
  std::vector<at::Tensor> buffers;
  for (const auto& [name, buffer] : t.engine->model().named_buffers())
    buffers.push_back(buffer.detach().clone());
  t.engine->begin();
  const bool fits = memory_sufficed(t, micro);
  t.engine->begin();
  accelerator(t.placement.device).empty_cache();
  const at::NoGradGuard no_grad;
  std::size_t next = 0;
  for (const auto& [name, buffer] : t.engine->model().named_buffers())
    buffer.copy_(buffers[next++]);
  return fits;
}

BatchPlan fitting_batch(Training& t, const std::function<void()>& alive) {
  if (!t.placement.find_micro) return t.placement.batch;
  return find_micro(t.placement.batch, *t.world->control, [&](std::int64_t micro) {
    if (alive) alive();
    return fits_in_memory(t, micro);
  });
}

}  // namespace ddptrain
