#include "losses/vocabulary_rows.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/full_like.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <string>
#include <tuple>

namespace ddptrain {
namespace {

at::Tensor exact_scores(const at::Tensor& scores, std::int64_t vocabulary, double soft_cap) {
  auto rows = scores.narrow(1, 0, vocabulary);
  rows = rows.to(rows.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  return soft_cap > 0 ? rows.div(soft_cap).tanh_().mul_(soft_cap) : rows;
}

std::tuple<at::Tensor, at::Tensor> values_in_parts(const at::Tensor& scores,
                                                   const at::Tensor& labels,
                                                   std::int64_t vocabulary, double label_smoothing,
                                                   double z_loss, double soft_cap) {
  const auto rows = exact_scores(scores, vocabulary, soft_cap);
  const auto normalizers = rows.logsumexp(1);
  auto values = normalizers.sub(rows.gather(1, labels.unsqueeze(1)).squeeze(1));
  if (label_smoothing > 0)
    values = values.mul(1 - label_smoothing).add_(normalizers.sub(rows.mean(1)), label_smoothing);
  if (z_loss > 0) values = values.add(normalizers.square(), z_loss);
  return {values, normalizers};
}

at::Tensor& slopes_in_parts(at::Tensor& scores, const at::Tensor& labels,
                            const at::Tensor& normalizers, const at::Tensor& each,
                            std::int64_t vocabulary, double label_smoothing, double z_loss,
                            double soft_cap) {
  const auto rows = exact_scores(scores, vocabulary, soft_cap);
  auto slopes = rows.sub(normalizers.unsqueeze(1)).exp_();
  if (z_loss > 0) slopes.mul_(normalizers.mul(2 * z_loss).add_(1).unsqueeze(1));
  if (label_smoothing > 0) slopes.sub_(label_smoothing / static_cast<double>(vocabulary));
  const auto column = labels.unsqueeze(1);
  slopes.scatter_add_(1, column, at::full_like(column, label_smoothing - 1, slopes.options()));
  if (soft_cap > 0) slopes.mul_(rows.div(soft_cap).square_().neg_().add_(1));
  slopes.mul_(each.unsqueeze(1));
  scores.narrow(1, 0, vocabulary).copy_(slopes);
  scores.narrow(1, vocabulary, scores.size(1) - vocabulary).zero_();
  return scores;
}

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  const std::string terms =
      "int vocabulary, float label_smoothing, float z_loss, float soft_cap) -> ";
  for (const std::string kind : {"", "_in_parts"}) {
    m.def((fmt::format("vocabulary_values{}(Tensor scores, Tensor labels, {}(Tensor, Tensor)", kind,
                       terms))
              .c_str());
    m.def((fmt::format("vocabulary_slopes{}_(Tensor(a!) scores, Tensor labels, Tensor normalizers, "
                       "Tensor each, {}Tensor(a!)",
                       kind, terms))
              .c_str());
  }
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) {
  m.impl("vocabulary_values", &values_in_parts);
  m.impl("vocabulary_slopes_", &slopes_in_parts);
}
TORCH_LIBRARY_IMPL(ddptrain, CompositeExplicitAutograd, m) {
  m.impl("vocabulary_values_in_parts", &values_in_parts);
  m.impl("vocabulary_slopes_in_parts_", &slopes_in_parts);
}

}  // namespace

VocabularyValues vocabulary_values(const at::Tensor& scores, const at::Tensor& labels,
                                   const VocabularyTerms& terms) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::vocabulary_values", "")
                             .typed<decltype(values_in_parts)>();
  const at::AutoDispatchBelowAutograd below;
  const auto [values, normalizers] = op.call(scores, labels, terms.vocabulary,
                                             terms.label_smoothing, terms.z_loss, terms.soft_cap);
  return {values, normalizers};
}

void vocabulary_slopes_(at::Tensor& scores, const at::Tensor& labels, const at::Tensor& normalizers,
                        const at::Tensor& each, const VocabularyTerms& terms) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::vocabulary_slopes_", "")
                             .typed<decltype(slopes_in_parts)>();
  const at::AutoDispatchBelowAutograd below;
  op.call(scores, labels, normalizers, each, terms.vocabulary, terms.label_smoothing, terms.z_loss,
          terms.soft_cap);
}

}  // namespace ddptrain
