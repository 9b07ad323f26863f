// Operators that move, cut and join what is there.
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "export/onnx/mappings.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

Names unchanged(Conversion& g) { return {g.tensor(0)}; }

Names to(Conversion& g) { return {g.tensor_as(0, g.output_type())}; }

Names reshape(Conversion& g) { return {g.add("Reshape", {g.tensor(0), g.shape(1)})}; }

/// Dimensions `first` to `last` become one; those before are kept (0), those behind do not follow
/// the batch.
Names flatten(Conversion& g) {
  const auto first = g.dimension(0, g.integer(1)), last = g.dimension(0, g.integer(2));
  Sizes shape(static_cast<std::size_t>(first), 0);
  shape.push_back(-1);
  for (auto i = last + 1; i < g.rank(0); ++i) shape.push_back(g.size(0, i));
  return {g.add("Reshape", {g.tensor(0), g.constant(shape)})};
}

/// To sizes of which -1 keeps what is there, which is what 1 does in ONNX.
Names expand(Conversion& g) {
  if (!g.known(1)) {
    const auto one = g.constant(Sizes{1});
    return {g.add("Expand", {g.tensor(0), g.add("Max", {g.shape(1), one})})};
  }
  auto sizes = g.integers(1);
  std::replace(sizes.begin(), sizes.end(), std::int64_t{-1}, std::int64_t{1});
  return {g.add("Expand", {g.tensor(0), g.constant(sizes)})};
}

Names permute(Conversion& g) {
  Sizes order;
  for (const auto each : g.integers(1)) order.push_back(g.dimension(0, each));
  return {g.add("Transpose", {g.tensor(0)}, {{"perm", order}})};
}

Names transpose(Conversion& g) {
  Sizes order(static_cast<std::size_t>(g.rank(0)));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.at(static_cast<std::size_t>(g.dimension(0, g.integer(1)))),
            order.at(static_cast<std::size_t>(g.dimension(0, g.integer(2)))));
  return {g.add("Transpose", {g.tensor(0)}, {{"perm", order}})};
}

Names cat(Conversion& g) { return {g.add("Concat", g.tensors(0), {{"axis", g.integer(1)}})}; }

Names unsqueeze(Conversion& g) {
  return {g.add("Unsqueeze", {g.tensor(0), g.constant(Sizes{g.integer(1)})})};
}

Names squeeze(Conversion& g) {
  if (g.arguments() < 2) g.refuse("dimensions that it does not name");
  return {g.add("Squeeze", {g.tensor(0), g.shape(1)})};
}

Names select(Conversion& g) {
  return {g.add("Gather", {g.tensor(0), g.tensor(2)}, {{"axis", g.integer(1)}})};
}

Names gather(Conversion& g) {
  return {g.add("GatherElements", {g.tensor(0), g.tensor(2)}, {{"axis", g.integer(1)}})};
}

Names index_select(Conversion& g) {
  return {g.add("Gather", {g.tensor(0), g.tensor(2)}, {{"axis", g.integer(1)}})};
}

std::string bound(Conversion& g, std::size_t i, std::int64_t otherwise) {
  return g.is_none(i) ? g.constant(Sizes{otherwise}) : g.shape(i);
}

/// slice(input, dim, start, end, step)
Names slice(Conversion& g) {
  return {g.add("Slice",
                {g.tensor(0), bound(g, 2, 0), bound(g, 3, std::numeric_limits<std::int64_t>::max()),
                 g.shape(1), g.shape(4)})};
}

/// narrow(input, dim, start, length)
Names narrow(Conversion& g) {
  const auto start = g.shape(2);
  return {g.add("Slice", {g.tensor(0), start, g.add("Add", {start, g.shape(3)}), g.shape(1)})};
}

/// roll(input, shifts, dims): the end of each dimension comes to its front.
Names roll(Conversion& g) {
  const auto shifts = g.integers(1), dims = g.integers(2);
  auto x = g.tensor(0);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const auto size = g.size(0, g.dimension(0, dims[i]));
    const auto cut = ((size - shifts[i]) % size + size) % size;
    const auto axis = g.constant(Sizes{dims[i]}), at = g.constant(Sizes{cut});
    const auto end = g.add("Slice", {x, at, g.constant(Sizes{size}), axis});
    const auto front = g.add("Slice", {x, g.constant(Sizes{0}), at, axis});
    x = g.add("Concat", {end, front}, {{"axis", dims[i]}});
  }
  return {x};
}

/// constant_pad_nd(input, pad, value): pairs from the last dimension on.
Names pad(Conversion& g) {
  const auto pairs = g.integers(1);
  const auto rank = static_cast<std::size_t>(g.rank(0));
  Sizes pads(2 * rank, 0);
  for (std::size_t i = 0; i < pairs.size() / 2; ++i) {
    pads[rank - 1 - i] = pairs[2 * i];
    pads[2 * rank - 1 - i] = pairs[2 * i + 1];
  }
  return {g.add("Pad", {g.tensor(0), g.constant(pads), g.tensor_as(2, g.output_type())})};
}

std::string filled(Conversion& g, const std::string& shape, const at::Scalar& value) {
  const auto type = g.output_type();
  const auto name = g.add("ConstantOfShape", {shape}, {{"value", at::full({1}, value, type)}});
  return name;
}

Names zeros(Conversion& g) { return {filled(g, g.shape(0), 0)}; }
Names ones(Conversion& g) { return {filled(g, g.shape(0), 1)}; }
Names full(Conversion& g) { return {filled(g, g.shape(0), g.value(1).toScalar())}; }
Names zeros_like(Conversion& g) { return {filled(g, g.add("Shape", {g.tensor(0)}), 0)}; }
Names ones_like(Conversion& g) { return {filled(g, g.add("Shape", {g.tensor(0)}), 1)}; }
Names full_like(Conversion& g) {
  return {filled(g, g.add("Shape", {g.tensor(0)}), g.value(1).toScalar())};
}

/// arange(end, dtype, ...), from 0 on.
Names arange(Conversion& g) {
  if (g.arguments() != 5) g.refuse("a beginning or a step");
  const auto type = g.output_type();
  const auto end = g.cast(g.add("Squeeze", {g.shape(0)}), at::kLong, type);
  const auto number = [&](int value) { return g.constant(at::scalar_tensor(value, type)); };
  return {g.add("Range", {number(0), end, number(1)})};
}

/// argsort(input, stable, dim, descending), or without `stable`; of equal ones the first comes
/// first, which is ONNX's rule.
Names argsort(Conversion& g) {
  const std::size_t at = g.arguments() == 4 ? 2 : 1;
  const auto axis = g.integer(at);
  const auto type = g.type(0) == at::kBool || g.type(0) == at::kByte ? at::kInt : g.type(0);
  const auto x = g.tensor_as(0, type);
  const auto size = g.add("Gather", {g.add("Shape", {x}), g.constant(Sizes{g.dimension(0, axis)})},
                          {{"axis", std::int64_t{0}}});
  return {g.add_several("TopK", {x, size},
                        {{"axis", axis}, {"largest", std::int64_t{g.flag(at + 1)}}}, 2)[1]};
}

}  // namespace

OnnxMappings shape_mappings() {
  return {{"aten::clone", unchanged},
          {"aten::contiguous", unchanged},
          {"aten::detach", unchanged},
          {"aten::dropout", unchanged},
          {"aten::alias", unchanged},
          {"aten::to", to},
          {"aten::view", reshape},
          {"aten::reshape", reshape},
          {"aten::flatten", flatten},
          {"aten::expand", expand},
          {"aten::permute", permute},
          {"aten::transpose", transpose},
          {"aten::cat", cat},
          {"aten::unsqueeze", unsqueeze},
          {"aten::squeeze", squeeze},
          {"aten::select", select},
          {"aten::gather", gather},
          {"aten::index_select", index_select},
          {"aten::slice", slice},
          {"aten::narrow", narrow},
          {"aten::roll", roll},
          {"aten::constant_pad_nd", pad},
          {"aten::zeros", zeros},
          {"aten::ones", ones},
          {"aten::full", full},
          {"aten::zeros_like", zeros_like},
          {"aten::ones_like", ones_like},
          {"aten::full_like", full_like},
          {"aten::argsort", argsort},
          {"aten::arange", arange}};
}

}  // namespace ddptrain
