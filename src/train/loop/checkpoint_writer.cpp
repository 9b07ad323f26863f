#include "train/loop/checkpoint_writer.h"

#include <chrono>
#include <exception>
#include <memory>

#include "base/error.h"
#include "base/output/log.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/older_checkpoints.h"
#include "checkpoint/saving/host_copy.h"
#include "checkpoint/saving/local_parts.h"
#include "checkpoint/verify.h"
#include "distributed/group.h"
#include "distributed/phases.h"
#include "launch/failure.h"
#include "train/loop/group_writers.h"

namespace ddptrain {
namespace {

/// Each verifies a part of it; false on all, and a warning, where one finds damage: older ones are
/// then kept.
bool verify_together(const std::string& folder, Group& group) {
  std::string damage;
  try {
    verify_checkpoint(folder, {group.rank(), group.size()});
  } catch (const Error& error) {
    damage = error.what();
  }
  for (const auto& found : gather_text(group, damage)) {
    if (found.empty()) continue;
    if (group.rank() == 0) log::warning("older checkpoints are kept: {}", found);
    return false;
  }
  return true;
}

}  // namespace

std::string CheckpointWriter::save(const CheckpointParts& parts, const SavePlan& plan) const {
  std::string folder;
  if (together_) {
    GroupWriters writers(*together_);
    folder = save_checkpoint(plan.root, parts, writers, plan.options);
  } else {
    folder = save_checkpoint(plan.root, parts, plan.options);
  }
  if (plan.options.on_each_machine) {
    prune_local_checkpoints(plan.root, plan.keep_last);
    return folder;
  }
  const auto& best = plan.best_step;
  const auto kept = best ? checkpoint_name(*best) : std::string();
  const bool first = !together_ || together_->rank() == 0;
  if (first && best == parts.step) link_best(plan.root, folder);
  if (!together_)
    prune_checkpoints(plan.root, plan.keep_last, kept);
  else if (verify_together(folder, *together_) && first)
    delete_older_checkpoints(plan.root, plan.keep_last, kept);
  return folder;
}

CheckpointWriter::~CheckpointWriter() {
  if (!under_way_.valid()) return;
  try {
    under_way_.get();
  } catch (...) {
    log::warning("the last checkpoint was not written: {}",
                 failure_of(std::current_exception(), 0).message);
  }
}

void CheckpointWriter::write(const CheckpointParts& parts, const SavePlan& plan) {
  const PhaseScope phase(Phase::saving);
  if (when_ == When::at_once) {
    std::promise<std::string> done;
    done.set_value(save(parts, plan));
    under_way_ = done.get_future();
    return;
  }
  const auto copy = std::make_shared<const HostCopy>(parts);
  under_way_ =
      std::async(std::launch::async, [this, copy, plan] { return save(copy->get(), plan); });
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
