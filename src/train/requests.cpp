#include "train/requests.h"

#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>

#include <cstdlib>

#include "base/error.h"
#include "base/files/mapping_guard.h"

namespace ddptrain {
namespace {

Requests requests_of(const at::Tensor& tensor) {
  const double* at = tensor.const_data_ptr<double>();
  return {{static_cast<int>(at[0]), at[1]}, at[2] > 0, at[3] > 0, at[4] > 0, at[5] > 0, at[6] > 0};
}

bool is_earlier(const StopRequest& a, const StopRequest& b) {
  if (a.signal == 0 || b.signal == 0) return a.signal != 0;
  return a.seconds < b.seconds;
}

/// False where it failed since a mapped file was cut.
bool succeeds(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const Error&) {
    if (lost_mapped_file().empty()) throw;
    return false;
  }
}

}  // namespace

void Requests::add(const Requests& other) {
  if (is_earlier(other.stop, stop)) stop = other.stop;
  save = save || other.save;
  save_local = save_local || other.save_local;
  evaluate = evaluate || other.evaluate;
  time_up = time_up || other.time_up;
  data_lost = data_lost || other.data_lost;
}

Requests agree(Group& group, const Requests& mine) {
  if (group.size() == 1) return mine;
  const auto tensor = at::tensor(
      {static_cast<double>(mine.stop.signal), mine.stop.seconds, static_cast<double>(mine.save),
       static_cast<double>(mine.save_local), static_cast<double>(mine.evaluate),
       static_cast<double>(mine.time_up), static_cast<double>(mine.data_lost)},
      at::kDouble);
  Requests all;
  for (const auto& each : group.all_gather(tensor)) all.add(requests_of(each));
  return all;
}

bool StopVote::next(bool asked) {
  if (group_.size() == 1) return asked;
  const bool stop = last();
  if (stop) return true;
  asked_ = at::scalar_tensor(asked ? 1.0 : 0.0, at::kDouble);
  pending_ = group_.all_reduce_async(asked_);
  return false;
}

bool StopVote::last() {
  if (!pending_) return false;
  pending_->wait();
  pending_.reset();
  return asked_.item<double>() > 0;
}

bool in_rounds(Group& group, std::size_t rounds, const std::function<bool()>& asked,
               const std::function<void(std::size_t)>& round) {
  StopVote vote(group);
  Requests mine;
  for (std::size_t i = 0; i < rounds; ++i) {
    if (vote.next(mine.data_lost || (asked && asked()))) return false;
    if (!mine.data_lost) mine.data_lost = !succeeds([&] { round(i); });
  }
  vote.last();  // all that was to be done is done
  return !agree(group, mine).data_lost;
}

void fail_without_data(Group& group) {
  for (const auto& lost : gather_text(group, lost_mapped_file()))
    if (!lost.empty()) throw Error(Exit::data, lost);
  DDP_CHECK(false, "a rank has lost a file");
  std::abort();
}

}  // namespace ddptrain
