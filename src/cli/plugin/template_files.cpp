#include "cli/plugin/template_files.h"

namespace ddptrain {
namespace {

constexpr std::string_view kBuild = R"(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)
enable_testing()

set(DDPTRAIN "@HOME@" CACHE PATH "Where ddptrain is installed")
find_package(ddptrain REQUIRED PATHS "${DDPTRAIN}" "${DDPTRAIN}/lib/ddptrain" NO_DEFAULT_PATH)

# lib@NAME@.so, and lib@NAME@.json: the options of its components, for checks.
ddptrain_plugin(@NAME@ @NAME@.cpp)

add_executable(@NAME@_test @NAME@_test.cpp @NAME@.cpp)
target_link_libraries(@NAME@_test PRIVATE ddptrain::engine)
add_test(NAME values COMMAND @NAME@_test)
add_test(NAME data COMMAND ${DDPTRAIN_PROGRAM} data make shapes shapes --train 40 --val 10 --size 32)
add_test(NAME validates COMMAND ${DDPTRAIN_PROGRAM} validate ${CMAKE_SOURCE_DIR}/@NAME@.yaml)
add_test(NAME trains COMMAND ${DDPTRAIN_PROGRAM} run ${CMAKE_SOURCE_DIR}/@NAME@.yaml)
set_tests_properties(trains PROPERTIES DEPENDS data)
set_tests_properties(validates trains PROPERTIES ENVIRONMENT
                     "PLUGIN=$<TARGET_FILE:@NAME@>;SHAPES=${CMAKE_BINARY_DIR}/shapes")
)";

constexpr std::string_view kCode =
    R"(// A loss, a model and a transform, which recipes name like built-in ones.
#include <ATen/core/Tensor.h>
#include <ATen/ops/log_softmax.h>

#include "config/plugin_components.h"
#include "losses/loss.h"
#include "losses/rows.h"
#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/sizes.h"
#include "transforms/random_change.h"

using namespace ddptrain;

namespace {

// Poly-1 (Leng et al., 2022): cross entropy + epsilon * (1 - the probability of the right class).
class Poly final : public Loss {
 public:
  struct Options {
    double epsilon = 1;
    void fields(Fields& f) {
      f("epsilon", epsilon, {.doc = "Weight of the second term.", .min = -1});
    }
  };
  explicit Poly(const Options& options) : epsilon_(options.epsilon) {}

  // output [rows, classes], target [rows]: one value and a weight of 1 for each row. Never a mean:
  // the engine divides by the weights of all ranks and micro-batches.
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto scores = at::log_softmax(full_precision(output), 1);
    const auto right = scores.gather(1, target.unsqueeze(1)).squeeze(1);
    return each_counts_once(right.exp().sub(1).mul(-epsilon_).sub(right));
  }

 private:
  double epsilon_;
};

// Two convolutions and a mean over the image.
class Net final : public SequentialModel {
 public:
  struct Options {
    Auto<std::int64_t> num_classes;
    std::int64_t width = 16;
    void fields(Fields& f) {
      f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
      f("width", width, {.doc = "Channels of the first convolution.", .min = 1});
    }
  };
  Net(const Options& options, const ModelContext& context) {
    const auto width = options.width;
    const auto half = [](std::int64_t in, std::int64_t out) {
      return ConvolutionShape{
          .in = in, .out = out, .kernel = 3, .stride = 2, .padding = 1, .bias = true};
    };
    add<Convolution>(half(3, width), context.generator);
    add<Activate>(Activation::relu, Activate::Input::overwrite);
    add<Convolution>(half(width, 2 * width), context.generator);
    add<Activate>(Activation::relu, Activate::Input::overwrite);
    add<AdaptiveAveragePool>(1);
    add<Flatten>();
    add<Linear>(2 * width, classes_of(options.num_classes, context), context.generator);
  }
};

struct NegativeOptions {
  double p = 0.5;
  void fields(Fields& f) { chance_field(f, p); }
};

void make_negative(Image& image, const NegativeOptions&) {
  for (auto& byte : image.bytes) byte = static_cast<std::uint8_t>(255 - byte);
  for (auto& value : image.floats) value = 1 - value;
}

}  // namespace

DDPTRAIN_PLUGIN(components) {
  components.add(entry<Loss, Poly::Options>(
      "@NAME@_poly", "Cross entropy with a second term for the probability of the right class.",
      [](const Poly::Options& options, const LossContext&) {
        return std::make_unique<Poly>(options);
      },
      {"takes_class"}));
  components.add(entry<Model, Net::Options>(
      "@NAME@_net", "Two convolutions and a mean over the image.",
      [](const Net::Options& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<Net>(options, context);
      },
      {"convolves", "takes_images"}));
  components.add(change_entry<NegativeOptions>("@NAME@_negative", "Inverts all values.",
                                               make_negative));
}
)";

constexpr std::string_view kTest = R"(// Values of the loss, from mathematics.
#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "config/plugin_components.h"
#include "losses/loss.h"

using namespace ddptrain;

extern "C" void ddptrain_plugin_add(PluginComponents& components);

int main() {
  PluginComponents components;
  ddptrain_plugin_add(components);
  Choice<Loss> choice("@NAME@_poly");
  const auto loss = catalog<Loss>().build(choice, LossContext{});
  // Two equal scores: the right class has the probability 1/2.
  const auto terms = (*loss)(at::zeros({1, 2}), at::zeros({1}, at::kLong));
  const double value = terms.values.item<float>(), expected = std::log(2.0) + 0.5;
  std::printf("loss %.6f, expected %.6f\n", value, expected);
  return std::abs(value - expected) < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
)";

constexpr std::string_view kRecipe =
    R"(# What: the plug-in's loss, model and transform on made images.
recipe: 1
name: @NAME@
plugins: ['${env:PLUGIN:-build/lib@NAME@.so}']
model: {type: @NAME@_net, width: 8}
data:
  type: image_folder
  root: '${env:SHAPES:-build/shapes}'
  train: train
  valid: val
  transforms:
    train: [{type: @NAME@_negative, p: 0.1}, {type: normalize, preset: imagenet}]
    valid: [{type: normalize, preset: imagenet}]
batch: {global: 40}
train: {duration: 20 steps}
loss: {type: @NAME@_poly, epsilon: 1}
metrics: [accuracy]
optimizer: {type: adamw, lr: 1e-2}
)";

constexpr std::string_view kReadme = R"(# @NAME@: components for ddptrain

    cmake -B build -DCMAKE_BUILD_TYPE=Release      # -DLIBTORCH=.../site-packages/torch where it is not found
    cmake --build build -j 2
    ctest --test-dir build --output-on-failure
    ddptrain describe loss @NAME@_poly --plugin build/lib@NAME@.so
    ddptrain run @NAME@.yaml                       # after the tests, which make its images

@NAME@.cpp has the components, @NAME@_test.cpp a test of the loss. A plug-in runs with the ddptrain
and the LibTorch that it was built for; with others it is refused before any of its code runs.
)";

std::string filled(std::string_view text, const std::string& name, const std::string& home) {
  std::string made(text);
  for (const auto& [mark, value] : {std::pair<std::string, std::string>{"@NAME@", name},
                                    std::pair<std::string, std::string>{"@HOME@", home}})
    for (auto at = made.find(mark); at != std::string::npos;
         at = made.find(mark, at + value.size()))
      made.replace(at, mark.size(), value);
  return made;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> plugin_template(const std::string& name,
                                                                 const std::string& home) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [file, text] :
       {std::pair{"CMakeLists.txt", kBuild}, std::pair{"@NAME@.cpp", kCode},
        std::pair{"@NAME@_test.cpp", kTest}, std::pair{"@NAME@.yaml", kRecipe},
        std::pair{"README.md", kReadme}})
    files.emplace_back(filled(file, name, home), filled(text, name, home));
  return files;
}

}  // namespace ddptrain
