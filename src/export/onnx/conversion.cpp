#include "export/onnx/conversion.h"

#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/error.h"

namespace ddptrain {
namespace {

namespace jit = torch::jit;

bool is_integer(const jit::Value* value) { return value->type()->kind() == c10::TypeKind::IntType; }

std::string kind_of(const jit::Node* node) { return node->kind().toQualString(); }

}  // namespace

const c10::IValue& Conversion::value(std::size_t i) const {
  const auto found = known_.find(node_->input(i));
  if (found == known_.end()) refuse("an argument follows the batch");
  return found->second;
}

void Conversion::refuse(const std::string& why) const {
  throw Error(Exit::recipe, "ONNX: '{}'{}: {}; a .pt file holds this model", kind_of(node_),
              layer_.empty() ? "" : fmt::format(" (after layer '{}')", layer_), why);
}

std::string Conversion::add(const std::string& op, std::vector<std::string> inputs,
                            std::vector<OnnxAttribute> attributes) {
  return add_several(op, std::move(inputs), std::move(attributes), 1)[0];
}

std::vector<std::string> Conversion::add_several(const std::string& op,
                                                 std::vector<std::string> inputs,
                                                 std::vector<OnnxAttribute> attributes,
                                                 std::size_t outputs) {
  OnnxNode node{op, std::move(inputs), {}, std::move(attributes)};
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(fmt::format("v{}", count_++));
  model_.nodes.push_back(node);
  return node.outputs;
}

std::string Conversion::constant(const at::Tensor& tensor) {
  auto& name = initializers_[tensor.unsafeGetTensorImpl()];
  if (!name.empty()) return name;
  const auto path = paths_.find(tensor.unsafeGetTensorImpl());
  name = path != paths_.end() ? path->second : fmt::format("c{}", count_++);
  model_.initializers.push_back({name, tensor});  // keeps its implementation, and so the key, alive
  return name;
}

std::string Conversion::constant(const std::vector<std::int64_t>& numbers) {
  return constant(at::tensor(numbers, at::kLong));
}

std::string Conversion::cast(const std::string& name, at::ScalarType from, at::ScalarType to) {
  return from == to ? name : add("Cast", {name}, {{"to", std::int64_t{onnx_type(to)}}});
}

std::string Conversion::name_of(const jit::Value* value) {
  const auto named = names_.find(value);
  if (named != names_.end()) return named->second;
  const auto found = known_.find(value);
  if (found == known_.end()) refuse("an argument has no counterpart in ONNX");
  if (found->second.isTensor()) return constant(found->second.toTensor());
  return names_[value] = constant(at::scalar_tensor(
             found->second.toScalar(), found->second.isInt() ? at::kLong : at::kFloat));
}

at::ScalarType Conversion::type_of(const jit::Value* value) const {
  const auto found = known_.find(value);
  if (found != known_.end()) {
    if (found->second.isTensor()) return found->second.toTensor().scalar_type();
    return found->second.isBool() ? at::kBool : found->second.isInt() ? at::kLong : at::kFloat;
  }
  if (is_integer(value)) return at::kLong;
  const auto tensor = value->type()->cast<c10::TensorType>();
  if (!tensor || !tensor->scalarType()) refuse("the type of a tensor is not known");
  return *tensor->scalarType();
}

std::int64_t Conversion::rank(std::size_t i) const {
  const auto* input = node_->input(i);
  const auto found = known_.find(input);
  if (found != known_.end()) return found->second.toTensor().dim();
  const auto tensor = input->type()->cast<c10::TensorType>();
  if (!tensor || !tensor->dim()) refuse("the shape of a tensor is not known");
  return static_cast<std::int64_t>(*tensor->dim());
}

std::int64_t Conversion::dimension(std::size_t i, std::int64_t of) const {
  return of < 0 ? of + rank(i) : of;
}

std::int64_t Conversion::size(std::size_t i, std::int64_t dimension) const {
  const auto tensor = node_->input(i)->type()->expect<c10::TensorType>();
  const auto size = tensor->sizes()[static_cast<std::size_t>(dimension)];
  if (!size) refuse("the shape of a tensor is not known");
  return *size;
}

std::string Conversion::tensor_as(std::size_t i, at::ScalarType to) {
  const auto* input = node_->input(i);
  const auto found = known_.find(input);
  if (found != known_.end()) {
    const auto& value = found->second;
    return constant(value.isTensor() ? value.toTensor().to(to)
                                     : at::scalar_tensor(value.toScalar(), to));
  }
  return cast(name_of(input), type_of(input), to);
}

std::vector<std::string> Conversion::tensors(std::size_t i) {
  std::vector<std::string> names;
  if (known(i))
    for (const auto& tensor : value(i).toTensorVector()) names.push_back(constant(tensor));
  else
    for (const auto* each : node_->input(i)->node()->inputs()) names.push_back(name_of(each));
  return names;
}

/// An integer as a tensor of one element.
std::string Conversion::size_name(const jit::Value* value) {
  const auto found = known_.find(value);
  return found == known_.end() ? name_of(value)
                               : constant(std::vector<std::int64_t>{found->second.toInt()});
}

std::string Conversion::shape(std::size_t i) {
  const auto* input = node_->input(i);
  if (known(i)) return constant(value(i).isInt() ? std::vector{integer(i)} : integers(i));
  if (is_integer(input)) return name_of(input);
  std::vector<std::string> sizes;
  for (const auto* size : input->node()->inputs()) sizes.push_back(size_name(size));
  return sizes.size() == 1 ? sizes[0] : add("Concat", sizes, {{"axis", std::int64_t{0}}});
}

/// The path of a module, or the tensor of a weight.
void Conversion::take_attribute(const jit::Node* node) {
  const auto object = known_.at(node->input());
  const auto attribute = object.toObject()->getAttr(node->s(c10::attr::name));
  known_[node->output()] = attribute;
  if (!attribute.isTensor()) return;
  const auto found = paths_.find(attribute.toTensor().unsafeGetTensorImpl());
  if (found != paths_.end()) layer_ = found->second.substr(0, found->second.rfind('.'));
}

namespace {

/// A list of known values, as LibTorch's operators take it.
c10::IValue list_of(const jit::Node* node, const jit::Stack& elements) {
  const auto type = node->output()->type()->expect<c10::ListType>()->getElementType();
  c10::impl::GenericList list(type);
  for (const auto& element : elements) list.push_back(element);
  return list;
}

}  // namespace

/// Computes a node whose arguments are all known.
bool Conversion::fold(const jit::Node* node) {
  if (node->kind() == c10::prim::GetAttr) return take_attribute(node), true;
  if (node->kind() == c10::prim::Constant) {
    known_[node->output()] = node->mustBeNone() ? c10::IValue() : *jit::toIValue(node->output());
    return true;
  }
  const auto inputs = node->inputs();
  if (!std::all_of(inputs.begin(), inputs.end(), [&](const auto* each) { return is_known(each); }))
    return false;
  jit::Stack stack;
  for (const auto* input : inputs) stack.push_back(known_.at(input));
  if (node->kind() == c10::prim::ListConstruct) {
    known_[node->output()] = list_of(node, stack);
    return true;
  }
  node->getOperation()(stack);
  for (std::size_t i = 0; i < node->outputs().size(); ++i) known_[node->output(i)] = stack.at(i);
  return true;
}

/// Sizes of inputs, and arithmetic with them.
bool Conversion::convert_integers(const jit::Node* node) {
  if (node->outputs().size() != 1 || !is_integer(node->output())) return false;
  auto& name = names_[node->output()];
  if (node->kind() == c10::aten::size) {
    const auto dimension = integer(1);
    name = add("Slice", {add("Shape", {tensor(0)}), constant(std::vector{dimension}),
                         constant(std::vector{dimension + 1})});
  } else if (node->kind() == c10::aten::mul || node->kind() == c10::aten::add) {
    const auto a = size_name(node->input(0)), b = size_name(node->input(1));
    name = add(node->kind() == c10::aten::mul ? "Mul" : "Add", {a, b});
  } else {
    refuse("an integer follows the batch in no simple way");
  }
  return true;
}

void Conversion::convert(const jit::Node* node) {
  node_ = node;
  if (fold(node) || node->kind() == c10::prim::ListConstruct || convert_integers(node)) return;
  const auto mapping = find_mapping(kind_of(node));
  if (!mapping) refuse("there is no such operator in ONNX's set 17, nor a mapping to several");
  const auto names = mapping(*this);
  for (std::size_t i = 0; i < names.size(); ++i) names_[node->output(i)] = names[i];
}

namespace {

/// Leaves out nodes and initializers from which no output follows.
void prune(OnnxModel& model) {
  std::set<std::string> used;
  for (const auto& output : model.outputs) used.insert(output.name);
  const auto is_used = [&](const std::string& name) { return used.contains(name); };
  std::vector<OnnxNode> kept;
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    if (std::none_of(node->outputs.begin(), node->outputs.end(), is_used)) continue;
    used.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  model.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  std::erase_if(model.initializers, [&](const auto& each) { return !is_used(each.name); });
}

}  // namespace

OnnxModel Conversion::convert(const std::vector<OnnxValue>& inputs, const OnnxValue& output) {
  for (const auto& named : module_.named_attributes())
    if (named.value.isTensor())
      paths_.emplace(named.value.toTensor().unsafeGetTensorImpl(), named.name);
  const auto graph = module_.get_method("forward").graph();
  known_[graph->inputs().at(0)] = module_._ivalue();
  model_.inputs = inputs;
  model_.outputs = {output};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    names_[graph->inputs().at(i + 1)] = inputs[i].name;
  for (const auto* node : graph->nodes()) convert(node);
  model_.nodes.push_back({"Identity", {name_of(graph->outputs().at(0))}, {output.name}, {}});
  prune(model_);
  return std::move(model_);
}

}  // namespace ddptrain
