#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"

namespace ddptrain {
namespace {

using ByName = std::map<std::string, at::Tensor>;

ByName by_name(const std::vector<NamedTensor>& tensors) {
  ByName map;
  for (const auto& [name, tensor] : tensors) map.emplace(name, tensor);
  return map;
}

std::vector<std::string> names_missing_in(const ByName& there,
                                          const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> missing;
  for (const auto& named : tensors)
    if (!there.contains(named.name)) missing.push_back(named.name);
  return missing;
}

std::string misfit(const at::Tensor& saved, const NamedTensor& live) {
  if (saved.sizes() != live.tensor.sizes())
    return fmt::format("'{}' has shape {} there and {} here", live.name, shape_text(saved),
                       shape_text(live.tensor));
  if (saved.is_floating_point() != live.tensor.is_floating_point())
    return fmt::format("'{}' is {} there and {} here", live.name,
                       c10::toString(saved.scalar_type()),
                       c10::toString(live.tensor.scalar_type()));
  return "";
}

// One name here, the likeliest there.
std::string absence(const std::string& name, const std::vector<std::string>& candidates) {
  const auto like = nearest(name, candidates);
  return fmt::format("'{}' is not there{}", name, like.empty() ? "" : ", '" + like + "' is");
}

std::vector<std::string> problems(const std::vector<NamedTensor>& saved,
                                  const std::vector<NamedTensor>& live) {
  std::vector<std::string> found;
  const auto there = by_name(saved);
  const auto unused = names_missing_in(by_name(live), saved);
  for (const auto& named : live) {
    const auto at = there.find(named.name);
    if (at == there.end()) {
      if (!may_be_missing(named.name)) found.push_back(absence(named.name, unused));
    } else if (auto why = misfit(at->second, named); !why.empty()) {
      found.push_back(std::move(why));
    }
  }
  for (const auto& name : unused) found.push_back(fmt::format("'{}' is there and not here", name));
  return found;
}

}  // namespace

void check_fit(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
               const std::string& what) {
  auto found = problems(saved, live);
  if (found.empty()) return;
  const auto count = found.size();
  if (count > 4) found.resize(4), found.push_back(fmt::format("and {} more", count - 4));
  throw Error(Exit::data, "{} does not fit what was saved: {}", what, join(found, "; "));
}

void restore(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
             const std::string& what) {
  check_fit(saved, live, what);
  const at::NoGradGuard no_grad;
  const auto there = by_name(saved);
  for (const auto& named : live)
    if (const auto at = there.find(named.name); at != there.end())
      at::Tensor(named.tensor).copy_(at->second);
}

}  // namespace ddptrain
