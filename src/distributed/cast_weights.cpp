#include "distributed/cast_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty_like.h>

#include <string>
#include <unordered_set>
#include <utility>

namespace ddptrain {
namespace {

/// Of gradients that become wide at once: enough for a kernel to take its time by its bytes, and
/// few enough not to count next to those of a model.
constexpr std::size_t kWidenedBytes = 64 << 20;

using Tensors = std::unordered_set<const at::TensorImpl*>;

Tensors cast_by(const Module& module) {
  Tensors cast;
  for (const auto& parameter : module.autocast_parameters())
    if (parameter.defined()) cast.insert(parameter.unsafeGetTensorImpl());
  return cast;
}

}  // namespace

std::vector<bool> cast_parameters(Module& model, const std::vector<NamedTensor>& parameters) {
  Tensors cast, read;
  for (const auto& [path, module] : model.modules()) {
    const auto here = cast_by(*module);
    cast.insert(here.begin(), here.end());
    for (const auto& [name, tensor] : module->named_parameters()) {
      const bool is_own = name.find('.') == std::string::npos;
      if (is_own && !here.contains(tensor.unsafeGetTensorImpl()))
        read.insert(tensor.unsafeGetTensorImpl());
    }
  }
  std::vector<bool> is_cast;
  for (const auto& named : parameters) {
    const auto* tensor = named.tensor.unsafeGetTensorImpl();
    is_cast.push_back(cast.contains(tensor) && !read.contains(tensor));
  }
  return is_cast;
}

CastWeights::CastWeights(Module& model, const std::vector<NamedTensor>& parameters,
                         at::ScalarType type)
    : type_(type) {
  const auto is_cast = cast_parameters(model, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& tensor = parameters[i].tensor;
    if (is_cast[i] && tensor.scalar_type() == at::kFloat && tensor.numel() > 0)
      weights_.push_back(tensor);
  }
}

void CastWeights::copy() {
  if (weights_.empty() || !copies_.empty()) return;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> copies;
  for (const auto& weight : weights_)
    copies.push_back(at::empty_like(weight, weight.options().dtype(type_).requires_grad(false)));
  at::_foreach_copy_(copies, weights_);
  copies_ = std::move(copies);
}

CastWeights::Lent::Lent(CastWeights& of) : of_(of) {
  for (std::size_t i = 0; i < of.weights_.size(); ++i) {
    of.own_.push_back(of.weights_[i].variable_data());
    of.weights_[i].set_data(of.copies_[i]);
  }
}

CastWeights::Lent::~Lent() {
  for (std::size_t i = 0; i < of_.own_.size(); ++i) of_.weights_[i].set_data(of_.own_[i]);
  of_.own_.clear();
}

void CastWeights::widen_gradients() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < weights_.size();) {
    std::vector<at::Tensor> wide, narrow;
    for (std::size_t bytes = 0; i < weights_.size() && bytes < kWidenedBytes; ++i) {
      auto& gradient = weights_[i].mutable_grad();
      if (!gradient.defined() || gradient.scalar_type() != type_) continue;
      wide.push_back(at::empty_like(gradient, gradient.options().dtype(at::kFloat)));
      narrow.push_back(std::exchange(gradient, wide.back()));
      bytes += wide.back().nbytes();
    }
    if (!wide.empty()) at::_foreach_copy_(wide, narrow);
  }
}

}  // namespace ddptrain
