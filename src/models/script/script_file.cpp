#include "models/script/script_file.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace jit = torch::jit;

constexpr const char* kHowToWrite =
    "; write one in Python: torch.jit.script(model).save(\"model.pt\")";

[[noreturn]] void refuse_script(const std::string& path, const std::string& what) {
  throw Error(Exit::recipe, Option{"model.file"}, "'{}' {}", path, what);
}

/// The first line of what LibTorch says, whose others are places in its sources.
std::string first_line(const std::string& what) { return shown(what.substr(0, what.find('\n'))); }

bool any_of_names(const std::vector<std::string>& names, std::string_view part) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return name.find(part) != std::string::npos; });
}

/// What a file is that is no TorchScript, by its first bytes.
std::string other_kind(const std::string& path) {
  const auto begin = read_beginning(path, 16);
  if (begin.starts_with("PK")) return "is a zip file without TorchScript";
  if (begin.starts_with("\x80")) return "is a pickle of torch.save, which holds no code";
  if (begin.size() > 8 && begin[8] == '{') return "is a .safetensors file, which holds no code";
  return "is no file of torch.jit.save";
}

std::string record_text(caffe2::serialize::PyTorchStreamReader& reader, const std::string& name) {
  const auto [data, size] = reader.getRecord(name);
  return {static_cast<const char*>(data.get()), size};
}

/// Code that runs while the file is read, or belongs to other libraries.
void refuse_foreign_code(caffe2::serialize::PyTorchStreamReader& reader, const std::string& path,
                         const std::vector<std::string>& records) {
  static constexpr std::array<std::string_view, 2> refused{"__setstate__", "torch.classes"};
  for (const auto& name : records) {
    if (!name.starts_with("code/") && !name.ends_with(".pkl")) continue;
    if (name.ends_with(".debug_pkl")) continue;
    const auto text = record_text(reader, name);
    for (const auto part : refused)
      if (text.find(part) != std::string::npos)
        refuse_script(path, fmt::format("has '{}' in its code, which is not run here: a model is "
                                        "made of PyTorch's own operators",
                                        part));
  }
}

void check_archive(const std::string& path) try {
  caffe2::serialize::PyTorchStreamReader reader(path);
  const auto records = reader.getAllRecords();
  const bool has_code = any_of_names(records, "code/");
  if (any_of_names(records, "serialized_exported_program") ||
      any_of_names(records, "archive_format") || (any_of_names(records, "models/") && !has_code))
    refuse_script(
        path, std::string("is a file of torch.export, which cannot be trained here") + kHowToWrite);
  if (!reader.hasRecord("constants.pkl") || !has_code)
    refuse_script(path, std::string("is a file of torch.save with weights alone, without the "
                                    "code of a model") +
                            kHowToWrite);
  refuse_foreign_code(reader, path, records);
} catch (const c10::Error&) {
  refuse_script(path, other_kind(path) + kHowToWrite);
}

using VisitNode = std::function<void(const jit::Node& node)>;

void visit_nodes(const jit::Block& block, const VisitNode& visit) {
  for (const auto* node : block.nodes()) {
    visit(*node);
    for (const auto* inner : node->blocks()) visit_nodes(*inner, visit);
  }
}

void visit_code(const jit::Module& module, const VisitNode& visit) {
  for (auto* function : module._ivalue()->compilation_unit()->get_functions())
    if (const auto graph = jit::tryToGraphFunction(*function))
      visit_nodes(*graph->graph()->block(), visit);
}

bool is_of_pytorch(const c10::Symbol& kind) {
  static constexpr std::array<std::string_view, 4> spaces{"aten", "prim", "prims", "quantized"};
  const std::string space = kind.ns().toUnqualString();
  const std::string name = kind.toUnqualString();
  const bool reaches_out =
      name == "save" || name.starts_with("from_file") || name.starts_with("rpc_");
  return std::ranges::find(spaces, space) != spaces.end() && !reaches_out;
}

void refuse_foreign_operators(const jit::Module& module, const std::string& path) {
  visit_code(module, [&](const jit::Node& node) {
    if (!is_of_pytorch(node.kind()))
      refuse_script(path, fmt::format("calls '{}', which is not run here: a model reaches no files "
                                      "and is made of PyTorch's own operators",
                                      node.kind().toQualString()));
  });
}

jit::Module loaded_script(const std::string& path) try {
  return jit::load(path, at::Device(at::kCPU), /*load_debug_files=*/false);
} catch (const std::exception& error) {
  refuse_script(path, "cannot be loaded: " + first_line(error.what()));
}

}  // namespace

jit::Module load_script(const std::string& path) {
  if (!std::filesystem::exists(path)) refuse_script(path, std::string("is missing") + kHowToWrite);
  try {
    const InputFile readable(path);
  } catch (const Error& error) {
    throw Error(Exit::recipe, Option{"model.file"}, error.what());
  }
  check_archive(path);
  auto module = loaded_script(path);
  refuse_foreign_operators(module, path);
  if (!module.find_method("forward"))
    refuse_script(path, std::string("has no method 'forward'") + kHowToWrite);
  if (module.named_parameters(true).size() == 0)
    refuse_script(path,
                  "has no parameters: torch.jit.freeze makes constants of them; save the scripted "
                  "module before it is frozen");
  return module;
}

bool draws_numbers(const jit::Module& module) {
  static constexpr std::array<std::string_view, 12> drawing{
      "dropout", "rand",        "bernoulli", "normal_", "rrelu", "multinomial",
      "poisson", "exponential", "uniform",   "lstm",    "gru",   "scaled_dot_product_attention"};
  bool draws = false;
  visit_code(module, [&](const jit::Node& node) {
    const std::string name = node.kind().toUnqualString();
    draws = draws || std::ranges::any_of(drawing, [&](std::string_view part) {
              return name.find(part) != std::string::npos;
            });
  });
  return draws;
}

}  // namespace ddptrain
