#include "models/language/continued_rows.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>

#include <algorithm>

#include "models/language/linear_rows.h"

namespace ddptrain {

std::vector<SequenceRows> rows_of(const Continuation& continuation) {
  std::vector<SequenceRows> all;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < continuation.sequences.size(); ++i) {
    all.push_back({continuation.sequences[i], first, continuation.counts[i]});
    first += continuation.counts[i];
  }
  return all;
}

// Steps of one token share one reading of the weights.
at::Tensor apply_by_sequence(const Conv1d& layer, const at::Tensor& input,
                             const std::vector<SequenceRows>& sequences) {
  const auto is_step = [](const SequenceRows& rows) { return rows.count == 1; };
  if (std::all_of(sequences.begin(), sequences.end(), is_step))
    return conv1d_rows(input, layer.weight(), layer.bias());
  std::vector<at::Tensor> outputs;
  for (const auto& rows : sequences) {
    const auto own = input.narrow(0, rows.first, rows.count);
    outputs.push_back(is_step(rows) ? conv1d_rows(own, layer.weight(), layer.bias())
                                    : at::addmm(layer.bias(), own, layer.weight()));
  }
  return at::cat(outputs);
}

}  // namespace ddptrain
