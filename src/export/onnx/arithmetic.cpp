// Sums, products, comparisons, reductions.
#include <ATen/ops/scalar_tensor.h>

#include "export/onnx/mappings.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;

template <const char* op>
Names unary(Conversion& g) {
  return {g.add(op, {g.tensor(0)})};
}

/// Both in the type of the result, as PyTorch promotes them.
template <const char* op>
Names binary(Conversion& g) {
  const auto type = g.output_type();
  return {g.add(op, {g.tensor_as(0, type), g.tensor_as(1, type)})};
}

/// a + alpha * b.
template <const char* op>
Names scaled(Conversion& g) {
  const auto type = g.output_type();
  auto b = g.tensor_as(1, type);
  if (g.arguments() > 2 && g.number(2) != 1)
    b = g.add("Mul", {b, g.constant(at::scalar_tensor(g.value(2).toScalar(), type))});
  return {g.add(op, {g.tensor_as(0, type), b})};
}

/// With the sign of the divisor, as in Python: Mod of integers, which ONNX refuses for numbers with
/// a fraction unless the sign is the dividend's.
Names remainder(Conversion& g) {
  const auto type = g.output_type();
  const auto a = g.tensor_as(0, type), b = g.tensor_as(1, type);
  if (!at::isFloatingType(type)) return {g.add("Mod", {a, b}, {{"fmod", std::int64_t{0}}})};
  const auto whole = g.add("Floor", {g.add("Div", {a, b})});
  return {g.add("Sub", {a, g.add("Mul", {whole, b})})};
}

/// A comparison happens in the wider type; a number takes the tensor's.
template <const char* op>
Names comparison(Conversion& g) {
  const auto a = g.type(0), b = g.known(1) && !g.value(1).isTensor() ? a : g.type(1);
  const auto type = c10::promoteTypes(a, b);
  return {g.add(op, {g.tensor_as(0, type), g.tensor_as(1, type)})};
}

Names not_equal(Conversion& g) {
  static constexpr char equal[] = "Equal";
  return {g.add("Not", comparison<equal>(g))};
}

Names logical_not(Conversion& g) { return {g.add("Not", {g.tensor_as(0, at::kBool)})}; }

template <const char* op>
Names logical(Conversion& g) {
  return {g.add(op, {g.tensor_as(0, at::kBool), g.tensor_as(1, at::kBool)})};
}

std::string limit(Conversion& g, std::size_t i) {
  if (i >= g.arguments() || g.is_none(i)) return "";
  return g.tensor_as(i, g.output_type());
}

Names clamp(Conversion& g) { return {g.add("Clip", {g.tensor(0), limit(g, 1), limit(g, 2)})}; }

Names clamp_max(Conversion& g) { return {g.add("Clip", {g.tensor(0), "", limit(g, 1)})}; }

/// Booleans are counted as integers.
std::string summand(Conversion& g) { return g.tensor_as(0, g.output_type()); }

Names sum(Conversion& g) {
  const bool all = g.arguments() <= 2 || g.is_none(1);  // sum(self, *, dtype)
  const std::int64_t keep = !all && g.flag(2);
  Names inputs{summand(g)};
  if (!all && !g.integers(1).empty()) inputs.push_back(g.constant(g.integers(1)));
  return {g.add("ReduceSum", inputs, {{"keepdims", keep}})};
}

Names mean(Conversion& g) {
  const bool all = g.arguments() <= 2 || g.is_none(1);
  std::vector<OnnxAttribute> attributes{{"keepdims", std::int64_t{!all && g.flag(2)}}};
  if (!all) attributes.push_back({"axes", g.integers(1)});
  return {g.add("ReduceMean", {summand(g)}, attributes)};
}

/// max(a), max(a, b), and max(a, dim) without its places.
Names max(Conversion& g) {
  if (g.arguments() == 1)
    return {g.add("ReduceMax", {g.tensor(0)}, {{"keepdims", std::int64_t{0}}})};
  if (g.arguments() == 2) {
    const auto type = g.output_type();
    return {g.add("Max", {g.tensor_as(0, type), g.tensor_as(1, type)})};
  }
  return {g.add("ReduceMax", {g.tensor(0)},
                {{"axes", std::vector{g.integer(1)}}, {"keepdims", std::int64_t{g.flag(2)}}})};
}

Names cumsum(Conversion& g) {
  const auto axis = g.constant(at::scalar_tensor(g.integer(1), at::kLong));
  return {g.add("CumSum", {g.tensor_as(0, g.output_type()), axis})};
}

Names where(Conversion& g) {
  const auto type = g.output_type();
  return {g.add("Where", {g.tensor_as(0, at::kBool), g.tensor_as(1, type), g.tensor_as(2, type)})};
}

Names masked_fill(Conversion& g) {
  return {g.add("Where", {g.tensor_as(1, at::kBool), g.tensor_as(2, g.type(0)), g.tensor(0)})};
}

constexpr char kAdd[] = "Add", kSub[] = "Sub", kMul[] = "Mul", kDiv[] = "Div", kPow[] = "Pow",
               kEqual[] = "Equal", kLess[] = "Less", kGreater[] = "Greater",
               kAtMost[] = "LessOrEqual", kAtLeast[] = "GreaterOrEqual", kAnd[] = "And",
               kOr[] = "Or", kNeg[] = "Neg", kExp[] = "Exp", kLog[] = "Log", kSqrt[] = "Sqrt",
               kAbs[] = "Abs", kMatMul[] = "MatMul", kReciprocal[] = "Reciprocal",
               kFloor[] = "Floor", kRound[] = "Round";

}  // namespace

OnnxMappings arithmetic_mappings() {
  return {{"aten::add", scaled<kAdd>},
          {"aten::sub", scaled<kSub>},
          {"aten::mul", binary<kMul>},
          {"aten::div", binary<kDiv>},
          {"aten::pow", binary<kPow>},
          {"aten::remainder", remainder},
          {"aten::matmul", binary<kMatMul>},
          {"aten::bmm", binary<kMatMul>},
          {"aten::mm", binary<kMatMul>},
          {"aten::eq", comparison<kEqual>},
          {"aten::ne", not_equal},
          {"aten::lt", comparison<kLess>},
          {"aten::gt", comparison<kGreater>},
          {"aten::le", comparison<kAtMost>},
          {"aten::ge", comparison<kAtLeast>},
          {"aten::logical_not", logical_not},
          {"aten::logical_and", logical<kAnd>},
          {"aten::logical_or", logical<kOr>},
          {"aten::neg", unary<kNeg>},
          {"aten::exp", unary<kExp>},
          {"aten::log", unary<kLog>},
          {"aten::sqrt", unary<kSqrt>},
          {"aten::abs", unary<kAbs>},
          {"aten::reciprocal", unary<kReciprocal>},
          {"aten::floor", unary<kFloor>},
          {"aten::round", unary<kRound>},
          {"aten::cumsum", cumsum},
          {"aten::clamp", clamp},
          {"aten::clamp_min", clamp},
          {"aten::clamp_max", clamp_max},
          {"aten::hardtanh", clamp},
          {"aten::sum", sum},
          {"aten::mean", mean},
          {"aten::max", max},
          {"aten::where", where},
          {"aten::masked_fill", masked_fill}};
}

}  // namespace ddptrain
