#include "models/vision/resnet_block.h"

#include <utility>

namespace ddptrain {
namespace {

using Shape = ConvolutionShape;

Shape conv1x1(std::int64_t in, std::int64_t out, std::int64_t stride = 1) {
  return {.in = in, .out = out, .stride = stride};
}

Shape conv3x3(std::int64_t in, std::int64_t out, std::int64_t stride) {
  return {.in = in, .out = out, .kernel = 3, .stride = stride, .padding = 1};
}

Shape conv3x3_within(const ResNetBlockShape& shape, std::int64_t width) {
  return {.in = width,
          .out = width,
          .kernel = 3,
          .stride = shape.stride,
          .padding = shape.dilation,
          .groups = shape.groups,
          .dilation = shape.dilation};
}

bool needs_shortcut(const ResNetBlockShape& shape, std::int64_t out) {
  return shape.stride != 1 || shape.in != out;
}

// torchvision makes the shortcut before the block that holds it, so its weights are drawn first,
// but it comes last in the order of names.
std::unique_ptr<Sequence> make_shortcut(const ResNetBlockShape& shape, std::int64_t out,
                                        const at::Generator& generator) {
  if (!needs_shortcut(shape, out)) return nullptr;
  auto shortcut = std::make_unique<Sequence>();
  shortcut->add<Convolution>(conv1x1(shape.in, out, shape.stride), generator);
  shortcut->add<BatchNorm>(out);
  return shortcut;
}

}  // namespace

void ResNetBlock::add_shortcut(std::unique_ptr<Sequence> shortcut) {
  if (shortcut) downsample_ = child("downsample", std::move(shortcut));
}

at::Tensor ResNetBlock::norm_add_relu(const at::Tensor& residual, const at::Tensor& input,
                                      const Pass& pass) {
  const auto shortcut = [&] {
    return downsample_ == nullptr ? input : downsample_->forward(input, pass);
  };
  return add_relu_after(last_norm(), residual, shortcut, pass);
}

BasicBlock::BasicBlock(const ResNetBlockShape& shape, const at::Generator& generator) {
  auto shortcut = make_shortcut(shape, shape.planes, generator);
  conv1_ = make<Convolution>("conv1", conv3x3(shape.in, shape.planes, shape.stride), generator);
  bn1_ = make<BatchNorm>("bn1", shape.planes);
  conv2_ = make<Convolution>("conv2", conv3x3(shape.planes, shape.planes, 1), generator);
  bn2_ = make<BatchNorm>("bn2", shape.planes);
  add_shortcut(std::move(shortcut));
}

at::Tensor BasicBlock::compute(const at::Tensor& input, const Pass& pass) {
  const auto x = bn1_->forward_relu(conv1_->forward(input, pass), {}, pass);
  return norm_add_relu(conv2_->forward(x, pass), input, pass);
}

Bottleneck::Bottleneck(const ResNetBlockShape& shape, const at::Generator& generator) {
  const auto width = shape.planes * shape.width_per_group / 64 * shape.groups;
  const auto out = shape.planes * expansion;
  auto shortcut = make_shortcut(shape, out, generator);
  conv1_ = make<Convolution>("conv1", conv1x1(shape.in, width), generator);
  bn1_ = make<BatchNorm>("bn1", width);
  conv2_ = make<Convolution>("conv2", conv3x3_within(shape, width), generator);
  bn2_ = make<BatchNorm>("bn2", width);
  conv3_ = make<Convolution>("conv3", conv1x1(width, out), generator);
  bn3_ = make<BatchNorm>("bn3", out);
  add_shortcut(std::move(shortcut));
}

at::Tensor Bottleneck::compute(const at::Tensor& input, const Pass& pass) {
  auto x = bn1_->forward_relu(conv1_->forward(input, pass), {}, pass);
  x = bn2_->forward_relu(conv2_->forward(x, pass), {}, pass);
  return norm_add_relu(conv3_->forward(x, pass), input, pass);
}

}  // namespace ddptrain
