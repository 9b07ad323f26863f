#include "jobs/checkpoint/compared_tensors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/isnan.h>
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <unordered_map>

#include "checkpoint/weights.h"

namespace ddptrain {
namespace {

/// Elements whose bits differ; one number may have two zeros.
at::Tensor other_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto bytes = [](const at::Tensor& tensor) {
    return tensor.contiguous().view(at::kByte).reshape({tensor.numel(), -1});
  };
  return bytes(a).ne(bytes(b)).any(1);
}

double largest_of(const at::Tensor& tensor) {
  const auto magnitude = tensor.to(at::kDouble).abs();
  if (magnitude.isnan().any().item<bool>()) return std::numeric_limits<double>::infinity();
  return magnitude.max().item<double>();
}

void measure(const at::Tensor& a, const at::Tensor& b, ComparedTensor& found) {
  const auto flat_a = a.reshape({-1}), flat_b = b.reshape({-1});
  const auto places = other_bits(flat_a, flat_b);
  found.others = places.sum().item<std::int64_t>();
  if (found.others == 0) return;
  const auto here = flat_a.masked_select(places).to(at::kDouble);
  found.largest = largest_of(flat_b.masked_select(places).to(at::kDouble).sub(here));
  const auto scale = largest_of(flat_a);
  if (scale > 0) found.relative = found.largest / scale;
}

std::optional<ComparedTensor> compared(const std::string& name, const at::Tensor& a,
                                       const at::Tensor& b) {
  ComparedTensor found;
  found.name = name;
  if (a.sizes() != b.sizes())
    found.problem = fmt::format("shape {} in A, {} in B", shape_text(a), shape_text(b));
  else if (a.scalar_type() != b.scalar_type())
    found.problem = fmt::format("{} in A, {} in B", c10::toString(a.scalar_type()),
                                c10::toString(b.scalar_type()));
  else if (a.numel() > 0)
    measure(a, b, found);
  if (found.problem.empty() && found.others == 0) return {};
  return found;
}

}  // namespace

ComparedTensors compare_tensors(const std::vector<NamedTensor>& a,
                                const std::vector<NamedTensor>& b) {
  std::unordered_map<std::string, const at::Tensor*> others;
  for (const auto& [name, tensor] : b) others.emplace(name, &tensor);
  ComparedTensors result;
  for (const auto& [name, tensor] : a) {
    const auto other = others.find(name);
    if (other == others.end()) {
      result.apart.push_back({name, "only in A", 0, 0, 0});
      continue;
    }
    ++result.both;
    if (auto found = compared(name, tensor, *other->second)) result.apart.push_back(*found);
    others.erase(other);
  }
  for (const auto& [name, tensor] : b)
    if (others.contains(name)) result.apart.push_back({name, "only in B", 0, 0, 0});
  return result;
}

}  // namespace ddptrain
