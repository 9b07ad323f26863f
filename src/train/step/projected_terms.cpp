#include "train/step/projected_terms.h"

#include <algorithm>

#include "losses/loss.h"
#include "losses/rows.h"
#include "metrics/metric.h"
#include "train/training.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kScoresAtOnce = 1 << 23;

void add(std::vector<at::Tensor>& totals, const std::vector<at::Tensor>& terms) {
  if (totals.empty()) totals.resize(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i)
    totals[i] = totals[i].defined() ? totals[i].add(terms[i]) : terms[i];
}

}  // namespace

std::vector<at::Tensor> projected_terms(const Training& t, const at::Tensor& hidden,
                                        const Projection& projection, const at::Tensor& target) {
  const auto labels = target.reshape({-1});
  const auto learned = labels.ne(kNoLabel).nonzero().squeeze(1);
  const auto rows = hidden.reshape({-1, hidden.size(-1)});
  const auto at_once = std::max<std::int64_t>(16, kScoresAtOnce / projection.weight.size(0));
  std::vector<at::Tensor> totals;
  std::int64_t first = 0;
  do {
    const auto places = learned.slice(0, first, first + at_once);
    const auto scores = project(rows.index_select(0, places), projection);
    const auto own = labels.index_select(0, places);
    const auto loss = (*t.loss)(scores, own);
    std::vector<at::Tensor> terms;
    for (const auto& metric : t.metrics) terms.push_back(metric->sums(scores, own, loss));
    add(totals, terms);
    first += at_once;
  } while (first < learned.size(0));
  return totals;
}

}  // namespace ddptrain
