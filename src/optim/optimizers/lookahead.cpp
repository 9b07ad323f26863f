// Lookahead (arXiv 1907.08610) over any optimizer, as fastai has it.
#include "optim/optimizers/lookahead.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/error.h"
#include "optim/refusal.h"

namespace ddptrain {

/// Its state is the inner optimizer's, then `<parameter>.slow_weights`, then `lookahead_steps`.
class Lookahead final : public Optimizer {
 public:
  struct Options : LookaheadOptions {
    Choice<Optimizer> inner;
    void fields(Fields& f) {
      f("inner", inner,
        {.doc = "The optimizer that makes the fast steps.", .required = true, .example = "adamw"});
      LookaheadOptions::fields(f);
    }
  };

  Lookahead(const LookaheadOptions& options, std::unique_ptr<Optimizer> inner)
      : options_(options), inner_(std::move(inner)), steps_(at::zeros({}, at::kLong)) {
    for (const auto& group : inner_->groups())
      for (const auto& [name, tensor] : group.parameters) {
        names_.push_back(name + slow_suffix);
        fast_.push_back(tensor);
      }
  }

  double lr() const override { return inner_->lr(); }
  std::optional<double> momentum() const override { return inner_->momentum(); }
  const std::vector<ParameterGroup>& groups() const override { return inner_->groups(); }

  void share(const SharedGradients& shared) override { inner_->share(shared); }

  void step(const Rates& rates) override {
    at::NoGradGuard no_grad;
    if (slow_.empty()) copy_fast();
    inner_->step(rates);
    undecided_ = rates.refused.defined();
    if (++steps_made() % options_.k != 0) return;
    if (undecided_) return move_unless(rates.refused);
    at::_foreach_lerp_(slow_, fast_, options_.alpha);
    at::_foreach_copy_(fast_, slow_);
  }

  // Steps are counted by the host, which hears of a refusal before the next one.
  void was_refused() override {
    inner_->was_refused();
    if (!std::exchange(undecided_, false)) return;
    if (--steps_made() == 0) slow_.clear();
  }

  std::vector<NamedTensor> state() const override {
    auto all = inner_->state();
    if (slow_.empty()) return all;
    for (std::size_t i = 0; i < slow_.size(); ++i) all.push_back({names_[i], slow_[i]});
    all.push_back({steps_name, steps_});
    return all;
  }

  std::int64_t state_bytes() const override {
    auto bytes = inner_->state_bytes() + static_cast<std::int64_t>(steps_.nbytes());
    for (const auto& tensor : fast_) bytes += static_cast<std::int64_t>(tensor.nbytes());
    return bytes;
  }

  void load(const std::vector<NamedTensor>& state) override;

 private:
  static constexpr const char* slow_suffix = ".slow_weights";
  static constexpr const char* steps_name = "lookahead_steps";

  std::int64_t& steps_made() { return *steps_.mutable_data_ptr<std::int64_t>(); }

  void move_unless(const at::Tensor& refused) {
    const auto moved = at::_foreach_lerp(slow_, fast_, options_.alpha);
    copy_unless(refused, slow_, moved);
    copy_unless(refused, fast_, moved);
  }

  void copy_fast() {
    for (const auto& tensor : fast_) slow_.push_back(tensor.detach().clone());
  }
  void load_slow(std::size_t index, const at::Tensor& value);

  LookaheadOptions options_;
  std::unique_ptr<Optimizer> inner_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> fast_, slow_;
  at::Tensor steps_;        // of the host
  bool undecided_ = false;  // the last step may have been refused
};

void Lookahead::load(const std::vector<NamedTensor>& state) {
  at::NoGradGuard no_grad;
  if (slow_.empty()) copy_fast();
  std::vector<NamedTensor> of_inner;
  std::size_t taken = 0;
  for (const auto& entry : state) {
    const bool expected = taken < names_.size() && entry.name == names_[taken];
    if (expected)
      load_slow(taken++, entry.tensor);
    else if (entry.name == steps_name)
      steps_.copy_(entry.tensor);
    else
      of_inner.push_back(entry);
  }
  inner_->load(of_inner);
  if (state.empty()) {
    steps_.zero_();
    return slow_.clear();
  }
  if (taken < names_.size())
    throw Error(Exit::data, "optimizer state '{}' is missing", names_[taken]);
}

void Lookahead::load_slow(std::size_t index, const at::Tensor& value) {
  if (value.sizes() != slow_[index].sizes())
    throw Error(Exit::data, "optimizer state '{}' has shape [{}], its parameter has [{}]",
                names_[index], fmt::join(value.sizes(), ", "),
                fmt::join(slow_[index].sizes(), ", "));
  slow_[index].copy_(value);
}

void LookaheadOptions::fields(Fields& f) {
  f("k", k,
    {.doc = "Fast steps between two moves of the slow weights.", .min = 1, .unit = "steps"});
  f("alpha", alpha,
    {.doc = "How far the slow weights move towards the fast ones.", .min = 0, .max = 1});
}

std::unique_ptr<Optimizer> make_lookahead(const LookaheadOptions& options,
                                          std::unique_ptr<Optimizer> inner) {
  return std::make_unique<Lookahead>(options, std::move(inner));
}

Entry<Optimizer> lookahead() {
  return entry<Optimizer, Lookahead::Options>(
      "lookahead", "Slow weights that follow another optimizer; defaults are fastai's.",
      [](const Lookahead::Options& options, std::vector<ParameterGroup> groups) {
        return make_lookahead(options,
                              catalog<Optimizer>().build(options.inner, std::move(groups)));
      },
      {"momentum", "lookahead"});
}

}  // namespace ddptrain
