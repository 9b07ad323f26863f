// mix one_of: now this mix, now that (torchvision's RandomChoice of MixUp and CutMix, timm's
// switch_prob).
#include <algorithm>
#include <numeric>

#include "data/mix.h"

namespace ddptrain {
namespace {

class OneOf final : public Mix {
 public:
  struct Options {
    std::vector<Choice<Mix>> of{Choice<Mix>("mixup"), Choice<Mix>("cutmix")};
    std::vector<double> weights;
    MixPer per = MixPer::batch;
    void fields(Fields& f) {
      f("of", of, {.doc = "The mixes to choose from.", .min_items = 1});
      f("weights", weights,
        {.doc = "How often each is chosen; none chooses all equally often.",
         .min = 0,
         .items = ItemOrder::not_all_zero});
      f("per", per, {.doc = "Whether each row chooses for itself, or each global batch once."});
      f.require(as_many("weights", "of"));
    }
  };

  explicit OneOf(const Options& options) : weights_(options.weights), per_(options.per) {
    for (const auto& choice : options.of) mixes_.push_back(catalog<Mix>().build(choice));
    if (weights_.empty()) weights_.assign(mixes_.size(), 1);
    total_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  }

  void check(const Batch& example) const override {
    for (const auto& mix : mixes_) mix->check(example);
  }

  RowMix draw(std::span<const at::Tensor> row, MixDraws& draws) const override {
    double at = stream(draws, per_).uniform(0, total_);
    std::size_t chosen = 0;
    while (chosen + 1 < weights_.size() && at >= weights_[chosen]) at -= weights_[chosen++];
    return mixes_[chosen]->draw(row, draws);
  }
  bool blends() const override {
    return std::ranges::any_of(mixes_, [](const auto& mix) { return mix->blends(); });
  }

 private:
  std::vector<std::unique_ptr<Mix>> mixes_;
  std::vector<double> weights_;
  double total_ = 0;
  MixPer per_;
};

}  // namespace

Entry<Mix> one_of_mix() {
  return entry_of<Mix, OneOf>("one_of", "Chooses one of several mixes, such as mixup or cutmix.");
}

}  // namespace ddptrain
