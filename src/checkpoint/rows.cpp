#include "checkpoint/rows.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace ddptrain {
namespace {

/// The saved places, and one or more behind them that stand for the names that are not there.
at::Tensor with_fresh(const at::Tensor& named, std::int64_t dim, std::int64_t fresh) {
  if (named.is_floating_point()) {
    const auto mean = named.to(at::kDouble).mean(dim, /*keepdim=*/true).to(named.scalar_type());
    return at::cat({named, mean}, dim);
  }
  DDP_CHECK(named.numel() == named.size(dim), "whole numbers are one a name");
  const auto first = named.numel() == 0 ? 0 : named.max().item<std::int64_t>() + 1;
  auto sizes = named.sizes().vec();
  sizes[static_cast<std::size_t>(dim)] = fresh;
  return at::cat({named, at::arange(first, first + fresh, named.options()).view(sizes)}, dim);
}

/// For each place here its place in with_fresh().
at::Tensor places(const NameMatch& match, const at::Tensor& named) {
  std::vector<std::int64_t> from = match.from;
  auto next = match.names_there;
  for (auto& place : from)
    if (place < 0) place = named.is_floating_point() ? match.names_there : next++;
  return at::tensor(from, at::kLong);
}

void put_own(at::Tensor& made, const at::Tensor& own, std::int64_t dim, const NameMatch& match) {
  std::vector<std::int64_t> fresh;
  for (std::size_t i = 0; i < match.from.size(); ++i)
    if (match.from[i] < 0) fresh.push_back(static_cast<std::int64_t>(i));
  if (fresh.empty()) return;
  const auto at = at::tensor(fresh, at::kLong);
  made.index_copy_(dim, at, own.index_select(dim, at).to(made.scalar_type()));
}

}  // namespace

NameMatch match_names(const std::vector<std::string>& there, const std::vector<std::string>& here) {
  std::unordered_map<std::string_view, std::int64_t> places;
  for (std::size_t i = 0; i < there.size(); ++i) places[there[i]] = static_cast<std::int64_t>(i);
  NameMatch match;
  match.names_there = std::ssize(there);
  std::unordered_set<std::string_view> known, fresh, dropped;
  for (std::size_t i = 0; i < here.size(); ++i) {
    known.insert(here[i]);
    const auto found = places.find(here[i]);
    const auto from = found == places.end() ? -1 : found->second;
    match.from.push_back(from);
    auto& count = from < 0                               ? match.fresh
                  : from == static_cast<std::int64_t>(i) ? match.copied
                                                         : match.moved;
    ++count;
    if (from < 0 && fresh.insert(here[i]).second) match.fresh_names.push_back(here[i]);
  }
  for (const auto& name : there) {
    if (known.contains(name)) continue;
    ++match.dropped;
    if (dropped.insert(name).second) match.dropped_names.push_back(name);
  }
  return match;
}

at::Tensor matched(const at::Tensor& saved, const at::Tensor& own, std::int64_t dim,
                   const NameMatch& match, FreshPlaces fresh) {
  const at::NoGradGuard no_grad;
  const auto names_here = static_cast<std::int64_t>(match.from.size());
  const auto named = saved.narrow(dim, 0, match.names_there);
  const auto local = own.detach().to(at::kCPU);
  auto made = with_fresh(named, dim, match.fresh).index_select(dim, places(match, named));
  if (fresh == FreshPlaces::own) put_own(made, local, dim, match);
  const auto more_here = own.size(dim) - names_here,
             more_there = saved.size(dim) - match.names_there;
  if (more_here == 0) return made;
  const auto& rest = more_here == more_there ? saved : local;
  const auto first = more_here == more_there ? match.names_there : names_here;
  return at::cat({made, rest.narrow(dim, first, more_here).to(made.scalar_type())}, dim);
}

}  // namespace ddptrain
