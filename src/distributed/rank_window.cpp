#include "distributed/rank_window.h"

#include <ATen/ops/cat.h>

namespace ddptrain {

void RankWindow::begin() {
  saw_rows_ = false;
  counts_ = {};
}

void RankWindow::add(const Batch& batch, const MicroStep& at) {
  counts_.add(batch, at);
  saw_rows_ = saw_rows_ || batch.rows > 0;
}

void RankWindow::repeat() {
  saw_rows_ = true;
  counts_ = {};
}

std::vector<bool> RankWindow::used(std::vector<bool> received) const {
  if (!saw_rows_) received.assign(received.size(), false);
  return received;
}

at::Tensor RankWindow::numbers(const at::Tensor& own, const std::vector<bool>& used, bool asked) {
  return at::cat({own, upload(own.device(), used, asked)});
}

const at::Tensor& RankWindow::upload(at::Device device, const std::vector<bool>& used, bool asked) {
  return host_.on(device, used_.numbers(counts_, asked, used, saw_rows_));
}

StepTotals RankWindow::totals(const at::Tensor& sums) const {
  const auto totals = totals_of(sums);
  if (!totals.data_lost) used_.require_all(sums);
  return totals;
}

}  // namespace ddptrain
