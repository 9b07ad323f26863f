// The parts of fastai's DynamicUnet other than its body.
#pragma once

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/norm.h"

namespace ddptrain {

/// All convolutions at and below `root`, which have biases, as fastai's U-Net draws them: normal by
/// fan in, biases 0.
void initialize_as_in_a_unet(Module& root, const at::Generator& generator);

/// Such a 3x3 convolution of `in` to `out` channels, and an activation.
std::unique_ptr<Sequence> unet_convolution(std::int64_t in, std::int64_t out, Activation activation,
                                           const at::Generator& generator);

/// fastai's BatchNorm: torch's with a bias of 1e-3 at first.
std::unique_ptr<BatchNorm> fastai_norm(std::int64_t channels);

struct UpsamplingShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool blur = false;
  Activation activation = Activation::relu;
};

/// fastai.layers.PixelShuffle_ICNR: [rows, in, h, w] to [rows, out, 2h, 2w] by a 1x1 convolution
/// whose outputs become the four pixels of a square, which all are the same at first (Aitken et al.
/// 2017). `blur`: each pixel becomes the mean of itself and its neighbors above and to the left
/// (Sugawara et al. 2018).
std::unique_ptr<Sequence> pixel_shuffle_icnr(const UpsamplingShape& shape,
                                             const at::Generator& generator);

/// `image` in height and width of `like`, each pixel the nearest; itself where they are those.
at::Tensor resized_to(const at::Tensor& image, const at::Tensor& like);

struct UnetBlockShape {
  std::int64_t in = 0;    // channels from below
  std::int64_t skip = 0;  // channels of the body's features
  bool last = false;      // half as many channels come out
  bool blur = false;
  bool self_attention = false;
  Activation activation = Activation::relu;
  std::int64_t inside() const { return in / 2 + skip; }
  std::int64_t out() const { return last ? inside() / 2 : inside(); }
};

/// fastai's UnetBlock: enlarges what comes from below, and mixes it with the body's features of
/// that size.
class UnetBlock final : public Module {
 public:
  UnetBlock(const UnetBlockShape& shape, const at::Generator& generator);
  /// `below` [rows, in, h, w] and `skip` [rows, skip, H, W] to [rows, out, H, W].
  at::Tensor join(const at::Tensor& below, const at::Tensor& skip, const Pass& pass);
  /// Not to be called: a block has two inputs.
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  Sequence* shuf_;
  BatchNorm* bn_;
  Sequence *conv1_, *conv2_;
  Activation activation_;
};

}  // namespace ddptrain
