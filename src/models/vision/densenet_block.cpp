#include "models/vision/densenet_block.h"

#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>

namespace ddptrain {

DenseLayer::DenseLayer(const DenseBlockShape& shape, std::int64_t in,
                       const at::Generator& generator) {
  const auto width = 4 * shape.growth;
  const ConvolutionShape narrow{.in = in, .out = width};
  const ConvolutionShape grow{.in = width, .out = shape.growth, .kernel = 3, .padding = 1};
  norm1_ = make<BatchNorm>("norm1", in);
  conv1_ = make<Convolution>("conv1", narrow, generator);
  norm2_ = make<BatchNorm>("norm2", width);
  conv2_ = make<Convolution>("conv2", grow, generator);
  dropout_ = make<Dropout>("dropout", shape.drop_rate);
}

at::Tensor DenseLayer::compute(const at::Tensor& input, const Pass& pass) {
  auto x = norm1_->forward_relu(input, {}, pass);
  x = norm2_->forward_relu(conv1_->forward(x, pass), {}, pass);
  return dropout_->forward(conv2_->forward(x, pass), pass);
}

DenseBlock::DenseBlock(const DenseBlockShape& shape, const at::Generator& generator) {
  for (std::int64_t i = 0; i < shape.layers; ++i)
    layers_.push_back(make<DenseLayer>(fmt::format("denselayer{}", i + 1), shape,
                                       shape.in + i * shape.growth, generator));
}

at::Tensor DenseBlock::forward(const at::Tensor& input, const Pass& pass) {
  auto features = input;
  for (auto* layer : layers_) features = at::cat({features, layer->forward(features, pass)}, 1);
  return features;
}

DenseTransition::DenseTransition(std::int64_t in, const at::Generator& generator) {
  const ConvolutionShape shape{.in = in, .out = in / 2};
  norm_ = make<BatchNorm>("norm", in);
  conv_ = make<Convolution>("conv", shape, generator);
}

at::Tensor DenseTransition::compute(const at::Tensor& input, const Pass& pass) {
  const auto x = norm_->forward_relu(input, {}, pass);
  return at::avg_pool2d(conv_->forward(x, pass), 2, 2);
}

}  // namespace ddptrain
