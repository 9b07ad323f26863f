// The optimizer of a run whose ranks share its work and its state (ZeRO stage 1, Rajbhandari et al.
// 2020) at its smallest: parameter i belongs to rank i modulo the number of ranks.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "distributed/world.h"
#include "support/node.h"
#include "train/around_optimizer.h"

namespace ddptrain::test {

class ShardedOptimizer final : public AroundOptimizer {
 public:
  ShardedOptimizer(const nlohmann::json& recipe, const std::vector<ParameterGroup>& groups,
                   World& world)
      : AroundOptimizer(catalog<Optimizer>().build(fragment<Optimizer>(recipe),
                                                   own_part(groups, world.rank, world.size))),
        groups_(groups),
        world_(world) {
    for (const auto& group : groups_)
      for (const auto& [name, tensor] : group.parameters) {
        places_.emplace(name, parameters_.size());
        parameters_.push_back(tensor);
      }
  }

  /// Moves the parameters of this rank, and gets the others as their ranks moved them.
  void step(const Rates& rates) override {
    inner_->step(rates);
    for (int rank = 0; rank < world_.size; ++rank) {
      std::vector<at::Tensor> moved;
      for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (owner_of(i) == rank) moved.push_back(parameters_[i].detach());
      broadcast_tensors(*world_.gradients, moved, rank);
    }
  }

  std::vector<NamedTensor> gather_state() const override {
    std::vector<NamedTensor> all;
    for (int rank = 0; rank < world_.size; ++rank)
      for (auto& entry : state_of(rank)) all.push_back(std::move(entry));
    std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return place_of(a.name) < place_of(b.name);
    });
    return all;
  }

  /// What is of no parameter is the same on every rank, or refused on all.
  void load(const std::vector<NamedTensor>& state) override {
    std::vector<NamedTensor> own;
    for (const auto& entry : state)
      if (const auto place = place_of(entry.name);
          place == parameters_.size() || owner_of(place) == world_.rank)
        own.push_back(entry);
    inner_->load(own);
  }

  const std::vector<ParameterGroup>& groups() const override { return groups_; }

 private:
  static std::vector<ParameterGroup> own_part(std::vector<ParameterGroup> groups, int rank,
                                              int ranks) {
    int next = 0;
    for (auto& group : groups)
      std::erase_if(group.parameters, [&](const auto&) { return next++ % ranks != rank; });
    return groups;
  }

  int owner_of(std::size_t place) const {
    return static_cast<int>(place % static_cast<std::size_t>(world_.size));
  }

  /// Of the parameter that a state is of; behind the last one where it is of none.
  std::size_t place_of(const std::string& state) const {
    const auto found = places_.find(state.substr(0, state.rfind('.')));
    return found == places_.end() ? parameters_.size() : found->second;
  }

  /// A rank's state, on all ranks; what is of no parameter from rank 0 alone.
  std::vector<NamedTensor> state_of(int rank) const {
    std::vector<NamedTensor> own;
    nlohmann::json described = nlohmann::json::array();
    if (rank == world_.rank)
      for (const auto& entry : inner_->state())
        if (rank == 0 || place_of(entry.name) < parameters_.size()) {
          own.push_back({entry.name, entry.tensor.contiguous()});
          described.push_back({entry.name, static_cast<int>(entry.tensor.scalar_type()),
                               entry.tensor.sizes().vec()});
        }
    described = nlohmann::json::parse(broadcast_text(*world_.control, described.dump(), rank));
    if (rank != world_.rank)
      for (const auto& [name, type, sizes] : described.get<std::vector<Description>>())
        own.push_back({name, at::empty(sizes, static_cast<at::ScalarType>(type))});
    for (auto& entry : own) world_.control->broadcast(entry.tensor, rank);
    return own;
  }

  using Description = std::tuple<std::string, int, std::vector<std::int64_t>>;

  std::vector<ParameterGroup> groups_;
  std::vector<at::Tensor> parameters_;
  std::map<std::string, std::size_t> places_;
  World& world_;
};

}  // namespace ddptrain::test
