#include "train/loop/checkpoint_writer.h"

#include <chrono>
#include <exception>
#include <memory>

#include "base/output/log.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/host_copy.h"
#include "distributed/phases.h"
#include "launch/failure.h"

namespace ddptrain {
namespace {

std::string save(const Checkpoint& checkpoint, const SavePlan& plan) {
  auto folder = save_checkpoint(plan.root, checkpoint);
  const auto& best = plan.best_step;
  if (best == checkpoint.step) link_best(plan.root, folder);
  prune_checkpoints(plan.root, plan.keep_last, best ? checkpoint_name(*best) : std::string());
  return folder;
}

}  // namespace

CheckpointWriter::~CheckpointWriter() {
  if (!under_way_.valid()) return;
  try {
    under_way_.get();
  } catch (...) {
    log::warning("the last checkpoint was not written: " +
                 failure_of(std::current_exception(), 0).message);
  }
}

void CheckpointWriter::write(const Checkpoint& checkpoint, const SavePlan& plan) {
  const PhaseScope phase(Phase::saving);
  if (when_ == When::at_once) {
    std::promise<std::string> done;
    done.set_value(save(checkpoint, plan));
    under_way_ = done.get_future();
    return;
  }
  const auto copy = std::make_shared<const HostCopy>(checkpoint);
  under_way_ = std::async(std::launch::async, [copy, plan] { return save(copy->get(), plan); });
}

std::optional<std::string> CheckpointWriter::written() {
  const auto now = std::chrono::seconds(0);
  if (!under_way_.valid() || under_way_.wait_for(now) != std::future_status::ready) return {};
  return under_way_.get();
}

std::optional<std::string> CheckpointWriter::wait() {
  if (!under_way_.valid()) return {};
  const PhaseScope phase(Phase::saving);
  return under_way_.get();
}

}  // namespace ddptrain
