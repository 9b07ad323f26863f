// A module that Python scripted (torch.jit.script), with its parameters and buffers under their
// names.
#include <ATen/Context.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/output/log.h"
#include "base/random.h"
#include "base/text.h"
#include "models/model.h"
#include "models/script/script_file.h"

namespace ddptrain {
namespace {

namespace jit = torch::jit;

/// torch.jit.save keeps a tensor of two names as two tensors on one storage: one again.
class TiedTensors {
 public:
  at::Tensor once(jit::Module& module, const std::string& name, const at::Tensor& tensor) {
    for (const auto& known : known_)
      if (is_same(known, tensor)) {
        module.setattr(name, known);
        return known;
      }
    known_.push_back(tensor);
    return tensor;
  }

 private:
  static bool is_same(const at::Tensor& a, const at::Tensor& b) {
    return a.numel() > 0 && a.is_alias_of(b) && a.const_data_ptr() == b.const_data_ptr() &&
           a.sizes() == b.sizes() && a.strides() == b.strides();
  }

  std::vector<at::Tensor> known_;
};

/// The name of the module's class in Python: "BatchNorm2d".
std::string class_of(const jit::Module& script) {
  const auto name = script.type()->name();
  return name ? name->name() : "";
}

bool is_batch_norm(const std::string& name) { return name.find("BatchNorm") != std::string::npos; }

class ScriptPart;

/// Parameters, buffers and children of a scripted module, as those of a Module.
template <class Base>
class Scripted : public Base {
 public:
  bool is_norm() const override { return class_.find("Norm") != std::string::npos; }
  void keep_statistics(bool keep) override { keeps_ = keep && is_batch_norm(class_); }
  /// Python's train(), or eval().
  void set_training(bool training);
  bool has_batch_norm() const;

 protected:
  void adopt(const jit::Module& script, TiedTensors& tied);
  jit::Module& script() { return script_; }

 private:
  jit::Module script_;
  std::string class_;
  std::vector<ScriptPart*> parts_;
  bool keeps_ = false;
};

class ScriptPart final : public Scripted<Module> {
 public:
  ScriptPart(const jit::Module& script, TiedTensors& tied) { adopt(script, tied); }
  at::Tensor forward(const at::Tensor&, const Pass&) override {
    DDP_CHECK(false, "the whole script calls its parts");
  }
};

template <class Base>
void Scripted<Base>::adopt(const jit::Module& script, TiedTensors& tied) {
  script_ = script;
  class_ = class_of(script);
  for (const auto& [name, tensor] : script.named_parameters(/*recurse=*/false))
    this->parameter(name, tied.once(script_, name, tensor));
  for (const auto& [name, tensor] : script.named_buffers(/*recurse=*/false))
    this->buffer(name, tied.once(script_, name, tensor));
  for (const auto& [name, child] : script.named_children())
    parts_.push_back(this->template make<ScriptPart>(name, child, tied));
}

template <class Base>
void Scripted<Base>::set_training(bool training) {
  if (script_.hasattr("training")) script_.setattr("training", training && !keeps_);
  for (auto* part : parts_) part->set_training(training);
}

template <class Base>
bool Scripted<Base>::has_batch_norm() const {
  return is_batch_norm(class_) ||
         std::ranges::any_of(parts_, [](const ScriptPart* part) { return part->has_batch_norm(); });
}

/// Each once a process, however many replicas it has.
void warn_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> given;
  const std::lock_guard lock(mutex);
  if (given.insert(text).second) log::warning(text);
}

/// A message of TorchScript's interpreter ends with the error itself, behind lines of code; that of
/// a c10::Error, which 2.15 throws, with a backtrace.
std::string last_line(const std::exception& error) {
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  const auto text = trim(of_torch ? of_torch->what_without_backtrace() : error.what());
  return shown(text.substr(text.rfind('\n') + 1));
}

bool is_out_of_memory(const std::string& what) {
  return what.find("allocate memory") != std::string::npos ||
         what.find("out of memory") != std::string::npos;
}

class TorchScript final : public Scripted<Model> {
 public:
  struct Options {
    std::string file;
    std::optional<std::string> sha256;
    void fields(Fields& f) {
      f("file", file,
        {.doc = "File that torch.jit.script(model).save(\"model.pt\") wrote; its parameters are "
                "the first weights.",
         .required = true,
         .path = true,
         .example = "model.pt"});
      f("sha256", sha256,
        {.doc = "Digest that the file must have; null: any. A run notes that of its start, and is "
                "resumed with the same file alone."});
    }
  };

  TorchScript(const Options& options, const ModelContext& context)
      : file_(options.file), data_(context.data) {
    check_digest(options);
    const auto script = load_script(file_);
    TiedTensors tied;
    adopt(script, tied);
    draws_ = draws_numbers(script);
  }

  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return run({input}, pass);
  }

  at::Tensor run(const std::vector<at::Tensor>& inputs, const Pass& pass) override {
    check_inputs(inputs.size());
    if (inputs.at(0).size(0) == 0) return without_rows(inputs[0]);
    set_training(pass.training);
    if (pass.training && !std::exchange(warned_, true)) warn();
    std::unique_lock drawing(drawing_mutex(), std::defer_lock);
    if (draws_ && pass.training) {
      drawing.lock();  // replicas of one process share the generator
      seed_generator(inputs[0].device(), pass);
    }
    auto output = called(inputs);
    check_output(output, inputs[0].size(0));
    return output;
  }

 private:
  static std::mutex& drawing_mutex() {
    static std::mutex mutex;
    return mutex;
  }

  static void check_digest(const Options& options) {
    if (!options.sha256) return;
    const auto digest = digest_file(DigestKind::sha256, options.file);
    if (lower(*options.sha256) != digest)
      throw Error(Exit::recipe, Option{"model.file"},
                  "sha256 of '{}' is {}, and the recipe wants {}: the file has changed since",
                  options.file, digest, *options.sha256);
  }

  void warn() const {
    if (draws_)
      warn_once("'" + file_ +
                "' may draw random numbers, such as dropout's, from PyTorch's generator. It is "
                "seeded for each step and first row of a batch: a resumed run is exact, and "
                "another number of devices or micro-batches draws other numbers");
    if (has_batch_norm())
      warn_once("'" + file_ +
                "' has batch norm, which a script computes from the rows of one device and "
                "micro-batch: results depend on how a batch is divided");
  }

  static void seed_generator(at::Device device, const Pass& pass) {
    const auto row = pass.positions.empty() ? pass.first_row : pass.positions[0];
    const auto seed =
        mix(mix(pass.seed, static_cast<std::uint64_t>(pass.step)), static_cast<std::uint64_t>(row));
    const auto& found = at::globalContext().defaultGenerator(device);
    auto generator = found;
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed);
  }

  [[noreturn]] void refuse_call(const std::string& what) const {
    throw Error(Exit::recipe, Option{"model.file"}, "forward of '{}' {}", file_, what);
  }

  void check_inputs(std::size_t given) {
    const auto& arguments = script().get_method("forward").function().getSchema().arguments();
    const auto most = arguments.size() - 1;  // the module itself is the first
    const auto least = static_cast<std::size_t>(
        std::count_if(arguments.begin() + 1, arguments.end(),
                      [](const auto& argument) { return !argument.default_value(); }));
    if (given >= least && given <= most) return;
    refuse_call(fmt::format("takes {}, and the data gives {}{}",
                            plural(static_cast<std::int64_t>(least), "input"), given,
                            given == 2 && data_.sample.size() == 1
                                ? ": names (whole numbers) and numbers of a table"
                                : ""));
  }

  /// As eager PyTorch computes: optimized graphs would give other last bits from the second call
  /// on, and so after a resume.
  at::Tensor called(const std::vector<at::Tensor>& inputs) {
    const jit::GraphOptimizerEnabledGuard eager(false);
    c10::IValue output;
    try {
      output = script().forward({inputs.begin(), inputs.end()});
    } catch (const std::exception& error) {
      if (is_out_of_memory(error.what())) throw;
      refuse_call("failed: " + last_line(error));
    }
    if (!output.isTensor())
      refuse_call(fmt::format("returns {}, and a model returns one tensor", output.tagKind()));
    return output.toTensor();
  }

  void check_output(const at::Tensor& output, std::int64_t rows) const {
    const auto outputs = wanted_outputs();
    if (output.dim() == 0 || output.size(0) != rows)
      refuse_call(fmt::format("returns a tensor of {} for {}; rows come first", shape_text(output),
                              plural(rows, "row")));
    if (outputs == 0 || data_.mask) return;
    const bool one_score = data_.class_count() == 2 && output.numel() == rows;
    if (output.dim() == 2 && (output.size(1) >= outputs || one_score)) return;
    refuse_call(fmt::format(
        "returns a tensor of {}, and the data asks for [{}, {}]{}; in Python, give its last layer "
        "{}, and script it again",
        shape_text(output), rows, outputs,
        data_.class_count() > 0 ? ": an output for each class" : "", plural(outputs, "output")));
  }

  std::int64_t wanted_outputs() const {
    if (data_.class_count() > 0) return data_.class_count();
    return data_.points > 0 ? 2 * data_.points : data_.numbers;
  }

  static std::string shape_text(const at::Tensor& tensor) {
    std::vector<std::string> sizes;
    for (const auto size : tensor.sizes()) sizes.push_back(std::to_string(size));
    return fmt::format("[{}]", join(sizes, ", "));
  }

  /// A script need not know how to compute nothing. Parameters have gradients of zeros.
  at::Tensor without_rows(const at::Tensor& input) {
    auto zero = at::zeros({}, named_parameters().at(0).tensor.options());
    for (const auto& each : named_parameters())
      zero = zero + each.tensor.flatten().narrow(0, 0, 0).sum();
    if (!data_.mask) return zero.expand({0, std::max<std::int64_t>(wanted_outputs(), 1)});
    return zero.expand({0, data_.mask->classes, input.size(-2), input.size(-1)});
  }

  std::string file_;
  DataFacts data_;
  bool draws_ = false;
  bool warned_ = false;
};

}  // namespace

Entry<Model> torchscript_model() {
  return entry_of<Model, TorchScript>(
      "torchscript", "A module that was scripted in Python, from a file of torch.jit.save.",
      {"any_outputs", "scripted", "takes_images", "takes_tables", "takes_texts"});
}

}  // namespace ddptrain
