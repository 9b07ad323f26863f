// Every model of the catalog as TorchScript, read again here, and as ONNX; where DDPTRAIN_PEERS
// names a Python environment, both in onnxruntime and torch.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/quoting.h"
#include "config/shape.h"
#include "export/exported_models.h"
#include "export/onnx/conversion.h"
#include "export/traced_model.h"
#include "models/layers/deferred_init.h"
#include "models/nets.h"
#include "support/temporary_folder.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using test::ExportedModel;

TracedModel traced(const ExportedModel& model, Model& net) {
  TraceOptions options;
  for (std::size_t i = 0; i < test::inputs_of(model, 2, 8).size(); ++i)
    options.inputs.push_back("input" + std::to_string(i));
  options.tokens = model.reads == test::Reads::texts;
  return trace(
      net,
      [&](std::int64_t rows, std::int64_t tokens) { return test::inputs_of(model, rows, tokens); },
      options);
}

OnnxValue value_of(const std::string& name, const at::Tensor& example, bool tokens) {
  OnnxValue value{name, example.scalar_type(), {"batch"}};
  for (std::int64_t i = 1; i < example.dim(); ++i) value.shape.emplace_back(example.size(i));
  if (tokens) value.shape[1] = "tokens";
  return value;
}

OnnxModel onnx_of(const ExportedModel& model, const TracedModel& graph, const at::Tensor& output) {
  const auto example = test::inputs_of(model, 2, 8);
  std::vector<OnnxValue> inputs;
  for (std::size_t i = 0; i < example.size(); ++i)
    inputs.push_back(value_of(graph.inputs[i], example[i], model.reads == test::Reads::texts));
  return Conversion(graph.module).convert(inputs, value_of("output", output, false));
}

/// numpy's format, version 1.0.
void write_npy(const std::string& path, const at::Tensor& given) {
  const auto tensor = given.contiguous();
  std::string shape;
  for (const auto size : tensor.sizes()) shape += std::to_string(size) + ",";
  const auto type = tensor.scalar_type() == at::kLong ? "<i8" : "<f4";
  std::string header =
      std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() & 0xff)
       << static_cast<char>(header.size() >> 8) << header;
  file.write(static_cast<const char*>(tensor.const_data_ptr()),
             static_cast<std::streamsize>(tensor.nbytes()));
}

class ExportedModels : public testing::TestWithParam<ExportedModel> {};

TEST_P(ExportedModels, GiveTheModelsOutputsForAnyBatch) {
  const auto& model = GetParam();
  const auto net = test::made(model);
  auto graph = traced(model, *net);
  std::stringstream file;
  graph.module.save(file);
  auto read = torch::jit::load(file);
  const at::NoGradGuard no_grad;
  for (const auto& [rows, tokens] : {std::pair<std::int64_t, std::int64_t>{1, 9}, {6, 170}}) {
    const auto inputs = test::inputs_of(model, rows, tokens);
    const auto expected = net->run(inputs, Pass{});
    const auto output = read.forward({inputs.begin(), inputs.end()}).toTensor();
    EXPECT_TRUE(at::equal(output, expected)) << test::largest_difference(output, expected);
  }

  const auto inputs = test::inputs_of(model, 4, model.tokens);
  const auto expected = net->run(inputs, Pass{});
  const auto onnx = onnx_of(model, graph, expected);
  const auto bytes = to_bytes(onnx);
  EXPECT_NE(bytes.find(onnx.nodes.back().op), std::string::npos);
  const char* peers = std::getenv("DDPTRAIN_PEERS");
  if (!peers) return;
  const TemporaryFolder folder;
  folder.write("model.onnx", bytes);
  folder.write("model.pt", file.str());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    write_npy(folder / ("input" + std::to_string(i) + ".npy"), inputs[i]);
  write_npy(folder / "output.npy", expected);
  const auto command = shell_line({std::string(peers) + "/bin/python",
                                   test::in_source("tests/support/run_onnx.py"), folder.path()});
  EXPECT_EQ(std::system(command.c_str()), 0);
}

// Initialization may be deferred in every network.
TEST_P(ExportedModels, HaveTheSameFirstWeightsWhenTheyAreDeferred) {
  const auto build = [&] {
    return test::make_model(GetParam().recipe, {GetParam().facts, test::seeded(3)});
  };
  const auto expected = build();
  DeferredInit deferred;
  const auto model = build();
  std::vector<at::Tensor> parameters;
  for (const auto& named : model->named_parameters()) parameters.push_back(named.tensor.detach());
  const auto count = parameters.size();
  std::size_t ready = 0;
  deferred.materialize(std::move(parameters), [&](std::size_t place, const at::Tensor& value) {
    ++ready;
    const auto& [name, other] = expected->named_parameters()[place];
    EXPECT_TRUE(at::equal(value, other)) << name;
  });
  EXPECT_EQ(ready, count);
  const auto buffers = expected->named_buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i)
    EXPECT_TRUE(at::equal(model->named_buffers()[i].tensor, buffers[i].tensor)) << buffers[i].name;
}

INSTANTIATE_TEST_SUITE_P(All, ExportedModels, testing::ValuesIn(test::exported_models()),
                         [](const auto& each) { return each.param.name; });

/// Options that change no operator of a graph.
const std::set<std::string> kOfWeights{"num_classes", "in_channels", "in_features",
                                       "input",       "weights",     "layer_groups"};

/// What a table of recipes writes: an option with its sentence, which networks share, and each of
/// its words.
std::set<std::string> written_options() {
  std::set<std::string> written;
  for (const auto& model : test::exported_models()) {
    const auto& entry = *catalog<Model>().find(model.recipe.at("type").get<std::string>());
    for (const auto& option : entry.shape().children) {
      written.insert(option.key + "=" + option.initial.text);
      if (!model.recipe.contains(option.key)) continue;
      written.insert(option.key + ": " + option.doc);
      const auto& value = model.recipe.at(option.key);
      if (value.is_string()) written.insert(option.key + "=" + value.get<std::string>());
    }
  }
  return written;
}

TEST(ExportedModelTable, WritesEveryOption) {
  const auto written = written_options();
  for (std::size_t i = 0; i < catalog<Model>().size(); ++i) {
    const auto& entry = catalog<Model>().at(i);
    if (trait_argument(entry, "reads_segments") || entry.has("continues_texts")) continue;
    if (entry.has("scripted")) continue;  // is a graph already
    for (const auto& option : entry.shape().children) {
      if (kOfWeights.contains(option.key)) continue;
      EXPECT_TRUE(written.contains(option.key + ": " + option.doc))
          << "no row of exported_models.cpp writes '" << option.key << "' of " << entry.name;
      for (const auto& word : option.words)
        EXPECT_TRUE(written.contains(option.key + "=" + word))
            << "no row of exported_models.cpp writes '" << option.key << ": " << word << "'";
    }
  }
}

TEST(OnnxModel, HasNodesInAnOrderInWhichTheyCanBeComputed) {
  const auto models = test::exported_models();
  const auto& model = models.back();
  const auto net = test::made(model);
  const auto graph = traced(model, *net);
  const at::NoGradGuard no_grad;
  const auto onnx = onnx_of(model, graph, net->run(test::inputs_of(model, 2, 8), Pass{}));
  std::set<std::string> known{""};
  for (const auto& input : onnx.inputs) known.insert(input.name);
  for (const auto& each : onnx.initializers) EXPECT_TRUE(known.insert(each.name).second);
  for (const auto& node : onnx.nodes) {
    for (const auto& input : node.inputs) EXPECT_TRUE(known.contains(input)) << node.op << input;
    for (const auto& output : node.outputs) EXPECT_TRUE(known.insert(output).second) << output;
  }
  EXPECT_TRUE(known.contains("output"));
}

/// A model whose graph depends on the values that it reads.
class Looping final : public Model {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override {
    auto sum = input;
    for (std::int64_t i = 0; i < input.size(0); ++i) sum = sum.add(input);
    return sum;
  }
};

TEST(TracedModel, SaysThatAGraphIsAnotherForEachBatch) {
  Looping model;
  const auto example = [](std::int64_t rows, std::int64_t) {
    return std::vector<at::Tensor>{at::rand({rows, 2})};
  };
  try {
    trace(model, example, {{"input"}, {}, false, 0, false});
    FAIL() << "traced";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot be exported for any batch"),
              std::string::npos);
  }
  auto fixed = trace(model, example, {{"input"}, {}, false, 2, false});
  const auto input = at::rand({2, 2});
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(at::equal(fixed.module.forward({input}).toTensor(), input.add(input).add(input)));
}

}  // namespace
}  // namespace ddptrain
