#include "export/traced_model.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <cctype>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "export/dynamic_sizes.h"

namespace ddptrain {
namespace {

namespace jit = torch::jit;

/// Script modules by the path of what they stand for.
class ModuleTree {
 public:
  ModuleTree() : unit_(std::make_shared<jit::CompilationUnit>()), root_(make("")) {
    root_.register_attribute("training", c10::BoolType::get(), false);
  }

  /// Adds a tensor under its dotted name.
  void add(const NamedTensor& named, bool is_parameter) {
    const auto dot = named.name.rfind('.');
    auto home = dot == std::string::npos ? root_ : at(named.name.substr(0, dot));
    const auto name = dot == std::string::npos ? named.name : named.name.substr(dot + 1);
    home.type()->addOrCheckAttribute(name, c10::TensorType::get(), is_parameter, !is_parameter);
    home.setattr(name, named.tensor);
  }

  const jit::Module& root() const { return root_; }

 private:
  jit::Module make(const std::string& path) {
    auto name = "__torch__.ddptrain.Model";
    return {c10::QualifiedName(path.empty() ? name : name + ("." + path_name(path))), unit_};
  }

  /// "layer1.0.conv1" as parts of a class name: identifiers each.
  static std::string path_name(const std::string& path) {
    std::string name = "_";
    for (const char c : path)
      name += std::isalnum(static_cast<unsigned char>(c)) ? std::string(1, c)
              : c == '.'                                  ? "._"
                                                          : "_";
    return name;
  }

  jit::Module at(const std::string& path) {
    const auto found = modules_.find(path);
    if (found != modules_.end()) return found->second;
    const auto dot = path.rfind('.');
    auto parent = dot == std::string::npos ? root_ : at(path.substr(0, dot));
    auto child = make(path);
    parent.register_module(dot == std::string::npos ? path : path.substr(dot + 1), child);
    modules_.emplace(path, child);
    return child;
  }

  std::shared_ptr<jit::CompilationUnit> unit_;
  jit::Module root_;
  std::map<std::string, jit::Module> modules_;
};

jit::Module tree_of(const Model& model) {
  ModuleTree tree;
  for (const auto& parameter : model.named_parameters()) {
    parameter.tensor.requires_grad_(false);
    tree.add(parameter, true);
  }
  for (const auto& buffer : model.named_buffers()) tree.add(buffer, false);
  return tree.root();
}

at::Tensor run(Model& model, const std::vector<at::Tensor>& given, const TraceOptions& options) {
  const at::NoGradGuard no_grad;
  auto inputs = options.prepare ? options.prepare(given) : given;
  if (!options.half) return model.run(inputs, Pass{});
  for (auto& input : inputs)
    if (input.is_floating_point()) input = input.to(at::kHalf);
  return model.run(inputs, Pass{}).to(at::kFloat);
}

std::shared_ptr<jit::Graph> record(Model& model, jit::Module& module,
                                   const std::vector<at::Tensor>& inputs,
                                   const TraceOptions& options) {
  const auto pass = [&](jit::Stack stack) -> jit::Stack {
    std::vector<at::Tensor> tensors;
    for (const auto& value : stack) tensors.push_back(value.toTensor());
    return {run(model, tensors, options)};
  };
  const jit::Stack stack(inputs.begin(), inputs.end());
  const auto unnamed = [](const at::Tensor&) { return std::string(); };
  return jit::tracer::trace(stack, pass, unnamed, true, true, &module, options.inputs).first->graph;
}

/// An operator whose result is like its first argument.
jit::Value* tensor_op(jit::Graph& graph, c10::Symbol kind, at::ArrayRef<jit::Value*> inputs) {
  auto* node = graph.insertNode(graph.create(kind, inputs));
  node->output()->setType(inputs[0]->type());
  return node->output();
}

/// residual + input, then ReLU, in LibTorch's own operators (models/operators/add_relu.h).
void lower_add_relu(jit::Graph& graph, jit::Node* node) {
  const jit::WithInsertPoint here(node);
  auto* sum =
      tensor_op(graph, c10::aten::add, {node->input(0), node->input(1), graph.insertConstant(1)});
  node->output()->replaceAllUsesWith(tensor_op(graph, c10::aten::relu, {sum}));
  node->destroy();
}

/// Nothing of ours is left in the graph.
void lower(jit::Graph& graph) {
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    auto* node = *it++;
    const std::string kind = node->kind().toQualString();
    if (kind == "ddptrain::add_relu_")
      lower_add_relu(graph, node);
    else if (kind.starts_with("ddptrain::"))
      throw Error(Exit::recipe, "the model uses '{}', which only this program knows", kind);
  }
}

std::shared_ptr<jit::Graph> graph_of(Model& model, jit::Module& module,
                                     const std::vector<at::Tensor>& inputs,
                                     const TraceOptions& options) {
  auto graph = record(model, module, inputs, options);
  jit::Inline(*graph);
  lower(*graph);
  jit::EliminateDeadCode(graph);
  return graph;
}

}  // namespace

TracedModel trace(Model& model, const ExampleInputs& example, const TraceOptions& options) {
  TracedModel traced{tree_of(model), options.inputs};
  const auto record_sizes = [&](std::int64_t rows, std::int64_t tokens) {
    run(model, example(rows, tokens),
        options);  // what a model computes once for a size is there then
    return graph_of(model, traced.module, example(rows, tokens), options);
  };
  const auto graph = with_dynamic_sizes(record_sizes, {options.rows, options.tokens});
  const c10::QualifiedName method(*traced.module.type()->name(), "forward");
  auto* function = traced.module._ivalue()->compilation_unit()->create_function(method, graph);
  traced.module.type()->addMethod(function);
  return traced;
}

}  // namespace ddptrain
