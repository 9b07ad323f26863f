// fastai.losses.DiceLoss: 1 - Dice of softmax and one-hot labels, over the pixels of each sample
// and class.
#include <ATen/ops/arange.h>

#include "base/error.h"
#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class FastaiDice final : public Loss {
 public:
  struct Options {
    double smooth = 1e-6;
    bool square_in_union = false;
    void fields(Fields& f) {
      f("smooth", smooth, {.doc = "Added above and below the fraction.", .min = 0});
      f("square_in_union", square_in_union,
        {.doc = "Square probabilities below the fraction: steeper gradients."});
    }
  };

  FastaiDice(const Options& options, const LossContext& context)
      : options_(options), void_code_(context.void_code) {}

  /// One value for each sample and class; pixels that are void count nowhere.
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    if (output.dim() < 3 || target.dim() + 1 != output.dim())
      throw Error(Exit::recipe, Option{"loss"},
                  "fastai_dice wants scores and a label for each pixel");
    auto chances = full_precision(output).softmax(1).flatten(2);
    if (void_code_) chances = chances.mul(target.flatten(1).unsqueeze(1).ne(*void_code_));
    const auto classes = at::arange(output.size(1), target.options()).view({1, -1, 1});
    const auto truth = target.flatten(1).unsqueeze(1).eq(classes).to(chances.scalar_type());
    const auto both = chances.mul(truth).sum(2);
    const auto total = (options_.square_in_union ? chances.square() : chances).add(truth).sum(2);
    const auto dice = both.mul(2).add(options_.smooth).div(total.add(options_.smooth));
    return each_counts_once(dice.neg().add(1));
  }
  OutputActivation activation() const override { return {OutputActivation::Kind::softmax}; }

 private:
  Options options_;
  std::optional<std::int64_t> void_code_;
};

}  // namespace

Entry<Loss> fastai_dice_loss() {
  return entry_of<Loss, FastaiDice>(
      "fastai_dice", "1 - Dice of each sample and class, for a label per pixel, as fastai has it.",
      {"takes_mask"});
}

}  // namespace ddptrain
