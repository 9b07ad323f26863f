// An optimizer around another one, for tests that change one thing of it.
#pragma once

#include <utility>

#include "optim/optimizer.h"

namespace ddptrain::test {

class AroundOptimizer : public Optimizer {
 public:
  explicit AroundOptimizer(std::unique_ptr<Optimizer> inner) : inner_(std::move(inner)) {}
  double lr() const override { return inner_->lr(); }
  std::optional<double> momentum() const override { return inner_->momentum(); }
  void step(const Rates& rates) override { inner_->step(rates); }
  std::vector<NamedTensor> state() const override { return inner_->state(); }
  void load(const std::vector<NamedTensor>& state) override { inner_->load(state); }
  std::int64_t state_bytes() const override { return inner_->state_bytes(); }
  const std::vector<ParameterGroup>& groups() const override { return inner_->groups(); }

 protected:
  std::unique_ptr<Optimizer> inner_;
};

}  // namespace ddptrain::test
