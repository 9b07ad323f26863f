// Convolutions, norms, pooling, embeddings, attention.
#include <ATen/ops/arange.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/upsample_nearest1d.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <limits>

#include "export/onnx/mappings.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

/// One number stands for both dimensions of an image.
Sizes both_dimensions(Sizes sizes) {
  if (sizes.size() == 1) sizes.push_back(sizes[0]);
  return sizes;
}

/// Of both sides, as ONNX writes them: all beginnings, then all ends.
Sizes both_sides(Sizes padding) {
  padding.insert(padding.end(), padding.begin(), padding.end());
  return padding;
}

/// _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Names convolution(Conversion& g) {
  Names inputs{g.tensor(0), g.tensor(1)};
  if (!g.is_none(2)) inputs.push_back(g.tensor(2));
  std::vector<OnnxAttribute> attributes{{"strides", g.integers(3)},
                                        {"pads", both_sides(g.integers(4))},
                                        {"dilations", g.integers(5)},
                                        {"group", g.integer(8)}};
  if (!g.flag(6)) return {g.add("Conv", inputs, attributes)};
  attributes.push_back({"output_padding", g.integers(7)});
  return {g.add("ConvTranspose", inputs, attributes)};
}

Names linear(Conversion& g) {
  const bool biased = g.arguments() > 2 && !g.is_none(2);
  if (g.rank(0) == 2 && g.known(1)) {
    Names inputs{g.tensor(0), g.tensor(1)};
    if (biased) inputs.push_back(g.tensor(2));
    return {g.add("Gemm", inputs, {{"transB", std::int64_t{1}}})};
  }
  std::string weight;
  if (g.known(1))
    weight = g.constant(g.value(1).toTensor().t().contiguous());
  else
    weight = g.add("Transpose", {g.tensor(1)}, {{"perm", Sizes{1, 0}}});
  auto result = g.add("MatMul", {g.tensor(0), weight});
  if (biased) result = g.add("Add", {result, g.tensor(2)});
  return {result};
}

Names addmm(Conversion& g) {
  return {g.add("Gemm", {g.tensor(1), g.tensor(2), g.tensor(0)},
                {{"beta", g.number(3)}, {"alpha", g.number(4)}})};
}

/// batch_norm(input, weight, bias, mean, variance, training, momentum, eps, cudnn)
Names batch_norm(Conversion& g) {
  const auto mean = g.value(3).toTensor();
  const auto weight = g.is_none(1) ? g.constant(at::ones_like(mean)) : g.tensor(1);
  const auto bias = g.is_none(2) ? g.constant(at::zeros_like(mean)) : g.tensor(2);
  return {g.add("BatchNormalization", {g.tensor(0), weight, bias, g.tensor(3), g.tensor(4)},
                {{"epsilon", g.number(7)}})};
}

/// layer_norm(input, normalized_shape, weight, bias, eps, cudnn)
Names layer_norm(Conversion& g) {
  const auto shape = g.integers(1);
  Names inputs{g.tensor(0)};
  inputs.push_back(g.is_none(2) ? g.constant(at::zeros(shape, g.output_type()).add_(1))
                                : g.tensor(2));
  if (!g.is_none(3)) inputs.push_back(g.tensor(3));
  return {g.add("LayerNormalization", inputs,
                {{"axis", -std::ssize(shape)}, {"epsilon", g.number(4)}})};
}

/// kernel, stride, padding, and what follows them
std::vector<OnnxAttribute> window(Conversion& g) {
  const auto kernel = both_dimensions(g.integers(1));
  auto stride = both_dimensions(g.integers(2));
  if (stride.empty()) stride = kernel;
  return {{"kernel_shape", kernel},
          {"strides", stride},
          {"pads", both_sides(both_dimensions(g.integers(3)))}};
}

/// max_pool2d(input, kernel, stride, padding, dilation, ceil_mode)
Names max_pool(Conversion& g) {
  auto attributes = window(g);
  attributes.push_back({"dilations", both_dimensions(g.integers(4))});
  attributes.push_back({"ceil_mode", std::int64_t{g.flag(5)}});
  return {g.add("MaxPool", {g.tensor(0)}, attributes)};
}

/// avg_pool2d(input, kernel, stride, padding, ceil_mode, count_include_pad, divisor)
Names average_pool(Conversion& g) {
  if (!g.is_none(6)) g.refuse("a divisor of its own");
  auto attributes = window(g);
  attributes.push_back({"ceil_mode", std::int64_t{g.flag(4)}});
  attributes.push_back({"count_include_pad", std::int64_t{g.flag(5)}});
  return {g.add("AveragePool", {g.tensor(0)}, attributes)};
}

/// [to, from]: row i is the mean of places floor(i from / to) up to ceil((i + 1) from / to), as
/// PyTorch's adaptive pooling cuts them.
at::Tensor means(std::int64_t from, std::int64_t to, at::ScalarType type) {
  auto matrix = at::zeros({to, from}, at::kFloat);
  for (std::int64_t i = 0; i < to; ++i) {
    const auto begin = i * from / to, end = ((i + 1) * from + to - 1) / to;
    matrix.select(0, i).slice(0, begin, end).fill_(1.0 / static_cast<double>(end - begin));
  }
  return matrix.to(type);
}

bool is_one(const Sizes& sizes) {
  for (const auto size : sizes)
    if (size != 1) return false;
  return true;
}

Names adaptive_average_pool(Conversion& g) {
  const auto sizes = g.integers(1);
  if (is_one(sizes)) return {g.add("GlobalAveragePool", {g.tensor(0)})};
  if (sizes.size() != 2) g.refuse("it is not over images");
  const auto type = g.output_type();
  const auto rows = means(g.size(0, g.dimension(0, -2)), sizes[0], type);
  const auto columns = means(g.size(0, g.dimension(0, -1)), sizes[1], type).t().contiguous();
  const auto down = g.add("MatMul", {g.constant(rows), g.tensor(0)});
  return {g.add("MatMul", {down, g.constant(columns)})};
}

Names adaptive_max_pool(Conversion& g) {
  if (!is_one(g.integers(1))) g.refuse("to more than one place");
  return {g.add("GlobalMaxPool", {g.tensor(0)})};
}

/// embedding(weight, indices, ...)
Names embedding(Conversion& g) {
  return {g.add("Gather", {g.tensor(0), g.tensor(1)}, {{"axis", std::int64_t{0}}})};
}

std::string zero(Conversion& g) { return g.constant(at::scalar_tensor(0.0, g.output_type())); }

/// embedding_bag(weight, indices, offsets, scale, mode, sparse, weights, last_offset, padding): of
/// indices that are rows of one length, flattened.
Names embedding_bag(Conversion& g) {
  const auto* flat = g.maker(1);
  if (std::string(flat->kind().toQualString()) != "aten::flatten") g.refuse("bags of any length");
  const auto rows = g.name_of(flat->input(0));
  const auto type = g.output_type();
  const auto vectors = g.add("Gather", {g.tensor(0), rows}, {{"axis", std::int64_t{0}}});
  const auto axis = g.constant(Sizes{1}), last = g.constant(Sizes{2});
  const auto padding =
      g.add("Equal", {rows, g.constant(at::scalar_tensor(g.integer(8), at::kLong))});
  const auto kept = g.cast(g.add("Not", {padding}), at::kBool, type);
  const auto count = g.add("ReduceSum", {kept, axis}, {{"keepdims", std::int64_t{1}}});
  if (g.integer(4) == 2) {
    const auto lowest = -std::numeric_limits<double>::infinity();
    const auto hidden = g.add("Where", {g.add("Unsqueeze", {padding, last}),
                                        g.constant(at::scalar_tensor(lowest, type)), vectors});
    const auto most =
        g.add("ReduceMax", {hidden}, {{"axes", Sizes{1}}, {"keepdims", std::int64_t{0}}});
    return {g.add("Where", {g.add("Greater", {count, zero(g)}), most, zero(g)})};
  }
  const auto masked = g.add("Mul", {vectors, g.add("Unsqueeze", {kept, last})});
  const auto sum = g.add("ReduceSum", {masked, axis}, {{"keepdims", std::int64_t{0}}});
  if (g.integer(4) == 0) return {sum};
  const auto one = g.constant(at::scalar_tensor(1.0, type));
  return {g.add("Div", {sum, g.add("Max", {count, one})})};
}

/// scaled_dot_product_attention(query, key, value, mask, dropout, causal, scale, grouped)
Names attention(Conversion& g) {
  if (g.flag(5) || g.rank(0) != 4) g.refuse("another form of attention");
  const auto type = g.output_type();
  const double scale =
      g.is_none(6) ? 1 / std::sqrt(static_cast<double>(g.size(0, 3))) : g.number(6);
  const auto query = g.add("Mul", {g.tensor(0), g.constant(at::scalar_tensor(scale, type))});
  const auto key = g.add("Transpose", {g.tensor(1)}, {{"perm", Sizes{0, 1, 3, 2}}});
  auto scores = g.add("MatMul", {query, key});
  if (!g.is_none(3) && g.type(3) == at::kBool) {
    const auto lowest = -std::numeric_limits<double>::infinity();
    scores = g.add("Where", {g.tensor(3), scores, g.constant(at::scalar_tensor(lowest, type))});
  } else if (!g.is_none(3)) {
    scores = g.add("Add", {scores, g.tensor_as(3, type)});
  }
  const auto weights = g.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  return {g.add("MatMul", {weights, g.tensor(2)})};
}

/// upsample_bilinear2d(input, size, align_corners, ...)
Names bilinear(Conversion& g) {
  const auto mode = g.flag(2) ? "align_corners" : "pytorch_half_pixel";
  if (g.is_none(1)) g.refuse("a size by factors");
  const auto kept =
      g.add("Slice", {g.add("Shape", {g.tensor(0)}), g.constant(Sizes{0}), g.constant(Sizes{2})});
  const auto sizes = g.add("Concat", {kept, g.shape(1)}, {{"axis", std::int64_t{0}}});
  return {g.add(
      "Resize", {g.tensor(0), "", "", sizes},
      {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string(mode)}})};
}

/// [to]: the place of `from` that each place takes, by LibTorch's own kernel: where from / to is
/// not exact, runtimes of ONNX round `Resize`'s coordinates to other places.
at::Tensor nearest_places(std::int64_t from, std::int64_t to, at::ScalarType type) {
  const auto exact = type == at::kDouble ? at::kDouble : at::kFloat;
  const auto places = at::arange(from, at::TensorOptions(exact)).view({1, 1, from});
  return at::upsample_nearest1d(places, {to}).view({to}).to(at::kLong);
}

/// upsample_nearest2d(input, size, factor, factor)
Names nearest(Conversion& g) {
  if (g.is_none(1) || !g.is_none(2) || !g.is_none(3)) g.refuse("a size by factors");
  const auto sizes = g.integers(1);
  auto x = g.tensor(0);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    const auto from = g.size(0, axis);
    if (from == sizes[i]) continue;
    const auto places = g.constant(nearest_places(from, sizes[i], g.output_type()));
    x = g.add("Gather", {x, places}, {{"axis", axis}});
  }
  return {x};
}

Names pixel_shuffle(Conversion& g) {
  return {g.add("DepthToSpace", {g.tensor(0)},
                {{"blocksize", g.integer(1)}, {"mode", std::string("CRD")}})};
}

}  // namespace

OnnxMappings layer_mappings() {
  return {{"aten::_convolution", convolution},
          {"aten::linear", linear},
          {"aten::addmm", addmm},
          {"aten::batch_norm", batch_norm},
          {"aten::layer_norm", layer_norm},
          {"aten::max_pool2d", max_pool},
          {"aten::avg_pool2d", average_pool},
          {"aten::adaptive_avg_pool2d", adaptive_average_pool},
          {"aten::adaptive_max_pool2d", adaptive_max_pool},
          {"aten::embedding", embedding},
          {"aten::embedding_bag", embedding_bag},
          {"aten::scaled_dot_product_attention", attention},
          {"aten::upsample_bilinear2d", bilinear},
          {"aten::upsample_nearest2d", nearest},
          {"aten::pixel_shuffle", pixel_shuffle}};
}

}  // namespace ddptrain
