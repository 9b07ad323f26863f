// mix cutmix: a box of one image is pasted into another (Yun et al., 2019;
// fastai.callback.mixup.CutMix).
#include "base/error.h"
#include "data/mix.h"
#include "data/mix/blend.h"

namespace ddptrain {
namespace {

class Cutmix final : public Mix {
 public:
  struct Options : MixOptions {
    Options() { per = MixPer::batch; }
  };
  explicit Cutmix(const Options& options) : options_(options) {}

  void check(const Batch& example) const override {
    const auto& first = example.inputs.at(0);
    const bool images = example.inputs.size() == 1 && first.dim() == 4 && first.is_floating_point();
    if (!images && !example.pixels)
      throw Error(Exit::recipe, Option{"data.mix"},
                  "cutmix pastes boxes, and this data is no images");
  }

  RowMix draw(std::span<const at::Tensor> row, MixDraws& draws) const override {
    auto& random = stream(draws, options_.per);
    if (random.uniform() >= options_.p) return {};
    const auto height = row[0].size(1), width = row[0].size(2);
    const double drawn = draw_beta(options_.alpha, random);
    const auto x = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width)));
    const auto y = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(height)));
    const auto patch = patch_at(x, y, drawn, width, height);
    const double pasted = static_cast<double>(patch.area()) / static_cast<double>(width * height);
    return {RowMix::How::paste, 1 - pasted, patch};
  }
  bool blends() const override { return false; }

 private:
  Options options_;
};

}  // namespace

Entry<Mix> cutmix_mix() {
  return entry_of<Mix, Cutmix>(
      "cutmix",
      "Pastes a box of one image into another; the loss takes the targets of both by area.",
      {"wants_images"});
}

}  // namespace ddptrain
