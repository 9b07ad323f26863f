#include "losses/mixture.h"

#include "base/error.h"

namespace ddptrain {
namespace {

/// `share` of each row of a and the rest of b.
at::Tensor between(const at::Tensor& a, const at::Tensor& b, const at::Tensor& share) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(a.dim()), 1);
  shape[0] = share.size(0);
  const auto of_a = share.to(a.scalar_type()).view(shape);
  return b.add(a.sub(b).mul(of_a));
}

}  // namespace

LossTerms loss_of(const Loss& loss, const at::Tensor& output,
                  const std::vector<at::Tensor>& targets) {
  if (targets.size() == 1) return loss(output, targets[0]);
  DDP_CHECK(targets.size() == 3, "one target, or two and a share");
  const auto own = loss(output, targets[0]);
  const auto partners = loss(output, targets[1]);
  return {between(own.values, partners.values, targets[2]),
          between(own.weights, partners.weights, targets[2])};
}

}  // namespace ddptrain
