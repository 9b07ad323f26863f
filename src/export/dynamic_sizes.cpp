#include "export/dynamic_sizes.h"

#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_pooling.h>

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"

namespace ddptrain {
namespace {

namespace jit = torch::jit;
using Nodes = std::vector<jit::Node*>;

// Sizes that no layer has for another reason, and none a multiple of another.
constexpr std::int64_t kRows[] = {3, 5, 7};
constexpr std::int64_t kTokens[] = {11, 13, 19};

/// c0 + c1 rows + c2 tokens + c3 rows tokens.
using Formula = std::array<std::int64_t, 4>;

void collect(jit::Block* block, Nodes& nodes) {
  for (auto* node : block->nodes()) {
    nodes.push_back(node);
    for (auto* inner : node->blocks()) collect(inner, nodes);
  }
}

Nodes nodes_of(jit::Graph& graph) {
  Nodes nodes;
  collect(graph.block(), nodes);
  return nodes;
}

[[noreturn]] void refuse(const jit::Node* node, const std::string& why) {
  const auto scope = node->scopeName();
  throw Error(Exit::recipe,
              "the graph of this model cannot be exported for any batch: '{}'{} {}; '--batch N' "
              "writes it for batches of N",
              node->kind().toQualString(), scope.empty() ? "" : fmt::format(" in '{}'", scope),
              why);
}

/// The constant of a node; nothing of another node.
std::optional<c10::IValue> constant_of(const jit::Node* node) {
  if (node->kind() != c10::prim::Constant || node->outputs().size() != 1) return {};
  return jit::toIValue(node->output());
}

/// The operator that takes a constant, for messages.
const jit::Node* user_of(const jit::Node* node) {
  const auto& uses = node->output()->uses();
  return uses.empty() ? node : uses[0].user;
}

bool is_equal(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() != b.isTensor() || a.tagKind() != b.tagKind()) return false;
  if (a.isTensor())
    return a.toTensor().sizes() == b.toTensor().sizes() && at::equal(a.toTensor(), b.toTensor());
  return a == b;
}

/// Of four values at (r0, t0), (r1, t0), (r0, t1), (r1, t1), or of the first two alone.
std::optional<Formula> fitted(const std::vector<std::int64_t>& values, bool tokens) {
  const auto dr = kRows[1] - kRows[0], dt = kTokens[1] - kTokens[0];
  const auto at_t0 = values[1] - values[0];
  if (!tokens) {
    if (at_t0 % dr != 0) return {};
    return Formula{values[0] - at_t0 / dr * kRows[0], at_t0 / dr, 0, 0};
  }
  const auto mixed = values[3] - values[2] - at_t0;
  if (mixed % (dr * dt) != 0) return {};
  const auto c3 = mixed / (dr * dt);
  const auto by_rows = at_t0 - c3 * dr * kTokens[0];
  const auto by_tokens = values[2] - values[0] - c3 * dt * kRows[0];
  if (by_rows % dr != 0 || by_tokens % dt != 0) return {};
  const auto c1 = by_rows / dr, c2 = by_tokens / dt;
  return Formula{values[0] - c1 * kRows[0] - c2 * kTokens[0] - c3 * kRows[0] * kTokens[0], c1, c2,
                 c3};
}

std::int64_t value_of(const Formula& f, std::int64_t rows, std::int64_t tokens) {
  return f[0] + f[1] * rows + f[2] * tokens + f[3] * rows * tokens;
}

/// Puts formulas into a graph, at its beginning.
class InsertedSizes {
 public:
  explicit InsertedSizes(jit::Graph& graph) : graph_(graph), first_(*graph.nodes().begin()) {}

  jit::Value* of(const Formula& formula) {
    const auto found = known_.find(formula);
    if (found != known_.end()) return found->second;
    const jit::WithInsertPoint here(first_);
    jit::Value* sum = nullptr;
    const auto add = [&](std::int64_t factor, jit::Value* term) {
      if (factor == 0) return;
      if (factor != 1) term = graph_.insert(c10::aten::mul, {term, graph_.insertConstant(factor)});
      sum = sum ? graph_.insert(c10::aten::add, {sum, term}) : term;
    };
    if (formula[1] != 0) add(formula[1], size(0));
    if (formula[2] != 0) add(formula[2], size(1));
    if (formula[3] != 0) add(formula[3], graph_.insert(c10::aten::mul, {size(0), size(1)}));
    if (formula[0] != 0)
      sum = graph_.insert(c10::aten::add, {sum, graph_.insertConstant(formula[0])});
    return known_[formula] = sum;
  }

 private:
  jit::Value* size(std::int64_t dimension) {
    auto& value = sizes_[dimension];
    if (!value)
      value =
          graph_.insert(c10::aten::size, {graph_.inputs().at(1), graph_.insertConstant(dimension)});
    return value;
  }

  jit::Graph& graph_;
  jit::Node* first_;
  std::map<std::int64_t, jit::Value*> sizes_;
  std::map<Formula, jit::Value*> known_;
};

struct Trace {
  std::int64_t rows, tokens;
  std::shared_ptr<jit::Graph> graph;
  Nodes nodes;
};

/// Two passes that took different ways depend on the values of their input.
void require_alike(const std::vector<Trace>& traces) {
  const auto& first = traces[0];
  for (const auto& other : traces) {
    if (other.nodes.size() != first.nodes.size() && !first.nodes.empty())
      refuse(first.nodes.back(), "is not the last in every pass");
    for (std::size_t i = 0; i < first.nodes.size(); ++i) {
      if (i >= other.nodes.size() || first.nodes[i]->kind() != other.nodes[i]->kind() ||
          first.nodes[i]->inputs().size() != other.nodes[i]->inputs().size())
        refuse(first.nodes[i], "is not in every pass");
    }
  }
}

Formula formula_of(const std::vector<Trace>& traces, std::size_t index, bool tokens) {
  const auto* user = user_of(traces[0].nodes[index]);
  std::vector<std::int64_t> values;
  for (const auto& trace : traces) {
    const auto value = constant_of(trace.nodes[index]);
    if (!value || !value->isInt()) refuse(user, "has a constant that is another in each pass");
    values.push_back(value->toInt());
  }
  const auto formula = fitted(values, tokens);
  const auto& last = traces.back();
  if (!formula || value_of(*formula, last.rows, last.tokens) != values.back())
    refuse(user, "has a size that follows the batch in no simple way");
  return *formula;
}

std::vector<Trace> traces_of(const RecordSizes& record, bool tokens) {
  std::vector<Trace> traces;
  const auto add = [&](std::size_t rows, std::size_t columns) {
    Trace trace{kRows[rows], kTokens[columns], nullptr, {}};
    trace.graph = record(trace.rows, trace.tokens);
    trace.nodes = nodes_of(*trace.graph);
    traces.push_back(std::move(trace));
  };
  add(0, 0);
  add(1, 0);
  if (tokens) add(0, 1), add(1, 1);
  add(2, tokens ? 2 : 0);
  return traces;
}

}  // namespace

std::shared_ptr<jit::Graph> with_dynamic_sizes(const RecordSizes& record,
                                               const DynamicSizes& sizes) {
  if (sizes.rows > 0) return record(sizes.rows, kTokens[0]);
  const auto traces = traces_of(record, sizes.tokens);
  require_alike(traces);
  auto& graph = *traces[0].graph;
  InsertedSizes inserted(graph);
  for (std::size_t i = 0; i < traces[0].nodes.size(); ++i) {
    const auto value = constant_of(traces[0].nodes[i]);
    if (!value) continue;
    bool differs = false;
    for (const auto& other : traces)
      differs = differs || !is_equal(*value, constant_of(other.nodes[i]).value_or(c10::IValue()));
    if (differs)
      traces[0].nodes[i]->output()->replaceAllUsesWith(
          inserted.of(formula_of(traces, i, sizes.tokens)));
  }
  return traces[0].graph;
}

}  // namespace ddptrain
