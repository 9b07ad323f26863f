// The network of PyTorch's basic MNIST example.
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include "base/error.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/model.h"
#include "models/sizes.h"

namespace ddptrain {
namespace {

class MnistNet final : public Model {
 public:
  struct Options {
    Auto<std::int64_t> num_classes;
    Auto<std::int64_t> in_channels;
    double conv_dropout = 0.25;
    double dropout = 0.5;
    bool log_softmax = false;
    void fields(Fields& f) {
      f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
      f("in_channels", in_channels,
        {.doc = "Channels of an image; auto takes the data's, or 1.", .min = 1});
      f("conv_dropout", conv_dropout,
        {.doc = "Probability of dropping each element after pooling.", .min = 0, .max = 1});
      f("dropout", dropout,
        {.doc = "Probability of dropping each hidden element.", .min = 0, .max = 1});
      f("log_softmax", log_softmax,
        {.doc = "End in log-probabilities, for the nll loss, instead of logits."});
    }
  };

  MnistNet(const Options& options, const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  Convolution *conv1_, *conv2_;
  Dropout *dropout1_, *dropout2_;
  Linear *fc1_, *fc2_;
  bool log_softmax_;
};

// Two 3x3 convolutions without padding, then halved: 28 x 28 leaves 12 x 12.
std::int64_t features(const ModelContext& context) {
  const std::vector<std::int64_t> mnist = {1, 28, 28};
  const auto& sample = context.data.sample.size() == 3 ? context.data.sample : mnist;
  const auto height = (sample[1] - 4) / 2, width = (sample[2] - 4) / 2;
  if (sample[1] < 6 || sample[2] < 6)
    throw Error(Exit::recipe, Option{"model"}, "mnist_net needs images of 6 x 6 and more");
  return 64 * height * width;
}

MnistNet::MnistNet(const Options& options, const ModelContext& context)
    : log_softmax_(options.log_softmax) {
  const auto& generator = context.generator;
  const ConvolutionShape first{
      .in = channels_of(options.in_channels, context, 1), .out = 32, .kernel = 3, .bias = true};
  const ConvolutionShape second{.in = 32, .out = 64, .kernel = 3, .bias = true};
  conv1_ = make<Convolution>("conv1", first, generator);
  conv2_ = make<Convolution>("conv2", second, generator);
  dropout1_ = make<Dropout>("dropout1", options.conv_dropout);
  dropout2_ = make<Dropout>("dropout2", options.dropout);
  fc1_ = make<Linear>("fc1", features(context), 128, generator);
  fc2_ = make<Linear>("fc2", 128, classes_of(options.num_classes, context), generator);
}

at::Tensor MnistNet::forward(const at::Tensor& input, const Pass& pass) {
  auto x = conv1_->forward(input, pass);
  x = conv2_->forward(at::relu_(x), pass);
  x = at::max_pool2d(at::relu_(x), 2);
  x = dropout1_->forward(x, pass).flatten(1);
  x = fc1_->forward(x, pass);
  x = dropout2_->forward(at::relu_(x), pass);
  x = fc2_->forward(x, pass);
  return log_softmax_ ? at::log_softmax(x, 1) : x;
}

}  // namespace

Entry<Model> mnist_net_model() {
  return entry_of<Model, MnistNet>("mnist_net",
                                   "The small convolutional network of PyTorch's MNIST example.",
                                   {"convolves", "dropout", "takes_images"});
}

}  // namespace ddptrain
