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
    const bool images = example.inputs.size() == 1 && example.inputs[0].dim() == 4 &&
                        (example.inputs[0].is_floating_point() || example.pixels);
    if (!images)
      throw Error(Exit::recipe, Option{"data.mix"},
                  "cutmix pastes boxes, and this data is no images");
  }

  double mix(std::span<const at::Tensor> row, std::span<const at::Tensor> partner,
             MixDraws& draws) const override {
    auto& random = stream(draws, options_.per);
    if (random.uniform() >= options_.p) return 1;
    const auto height = row[0].size(1), width = row[0].size(2);
    const double drawn = draw_beta(options_.alpha, random);
    const auto x = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width)));
    const auto y = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(height)));
    const auto patch = patch_at(x, y, drawn, width, height);
    paste(row[0], partner[0], patch);
    return 1 - static_cast<double>(patch.area()) / static_cast<double>(width * height);
  }

 private:
  Options options_;
};

}  // namespace

Entry<Mix> cutmix_mix() {
  return entry<Mix, Cutmix::Options>(
      "cutmix",
      "Pastes a box of one image into another; the loss takes the targets of both by area.",
      [](const Cutmix::Options& options) { return std::make_unique<Cutmix>(options); },
      {"wants_images", "keeps_bytes"});
}

}  // namespace ddptrain
