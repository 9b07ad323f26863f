// A weighted sum of losses, such as cross-entropy and Dice of a mask (Isensee et al. 2021).
#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

/// Sums of each row.
LossTerms of_rows(const LossTerms& terms) {
  if (terms.values.dim() == 1) return terms;
  return {terms.values.flatten(1).sum(1), terms.weights.flatten(1).sum(1)};
}

class Combined final : public Loss {
 public:
  struct Options {
    std::vector<Choice<Loss>> losses{Choice<Loss>("cross_entropy"), Choice<Loss>("fastai_dice")};
    std::vector<double> weights;
    void fields(Fields& f) {
      f("losses", losses,
        {.doc = "What is summed. The first counts as it does alone; of each other the mean over a "
                "row's units counts as often as the first one's units of that row.",
         .min_items = 1});
      f("weights", weights,
        {.doc = "Factor of each loss; none takes 1.", .min = 0, .items = ItemOrder::not_all_zero});
      f.require(as_many("weights", "losses"));
    }
  };

  Combined(const Options& options, const LossContext& context) : weights_(options.weights) {
    for (const auto& loss : options.losses) losses_.push_back(catalog<Loss>().build(loss, context));
    if (weights_.empty()) weights_.assign(losses_.size(), 1);
  }

  /// One value and weight for each row. Losses that count other units (pixels, classes of an image)
  /// have no common mean: a row's mean is the same however a batch is cut.
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    auto terms = of_rows((*losses_[0])(output, target));
    terms.values = terms.values.mul(weights_[0]);
    for (std::size_t i = 1; i < losses_.size(); ++i) {
      const auto other = of_rows((*losses_[i])(output, target));
      const auto units = other.weights.masked_fill(other.weights.le(0), 1);
      const auto means = other.values.div(units).mul(terms.weights);
      terms.values = terms.values.add(means, weights_[i]);
    }
    return terms;
  }
  OutputActivation activation() const override { return losses_[0]->activation(); }

 private:
  std::vector<std::unique_ptr<Loss>> losses_;
  std::vector<double> weights_;
};

}  // namespace

Entry<Loss> combined_loss() {
  return entry_of<Loss, Combined>(
      "combined", "A weighted sum of losses, such as cross_entropy and fastai_dice for masks.");
}

}  // namespace ddptrain
