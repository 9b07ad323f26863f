// `setup cuda`: the libraries that a GPU needs, for an installation that came without them.
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <cstdlib>
#include <filesystem>

#include "accelerator/devices.h"
#include "accelerator/plugin.h"
#include "base/error.h"
#include "base/files/plugin.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/engine_table.h"
#include "cli/program.h"
#include "jobs/setup/cuda_libraries.h"
#include "jobs/setup/cuda_wheels.h"
#include "launch/in_child.h"
#include "sources/fetch/package_index.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr Flag kWheels{"--wheels", "DIR", "take the wheels from this folder, and fetch none"};
constexpr Flag kIndex{"--index", "URL",
                      "of Python packages (default $PIP_INDEX_URL, else https://pypi.org/simple)"};
constexpr Flag kWheelList{"--list", "",
                          "only print which wheels, with digests, as 'pip download -r' reads them"};

std::string index_of(const Arguments& arguments) {
  const char* set = std::getenv("PIP_INDEX_URL");
  auto index = arguments.value(kIndex.name, set && *set ? set : "https://pypi.org/simple");
  while (index.ends_with('/')) index.pop_back();
  if (!lower(index).starts_with("https://"))
    throw Error(Exit::recipe, "'{}' is no package index whose address begins with https://{}",
                shown_url(index),
                arguments.has(kIndex.name) ? "" : " (PIP_INDEX_URL; --index names another)");
  return index;
}

int list_wheels() {
  for (const auto& wheel : pinned_wheels(cuda_wheels()))
    print_lines(
        fmt::format("{}=={} --hash=sha256:{}\n", wheel.package, wheel.version, wheel.sha256));
  return 0;
}

/// The folder that this process has LibTorch from.
fs::path libtorch_folder() {
  Dl_info found{};
  ::dladdr(reinterpret_cast<const void*>(&aoti_torch_abi_version), &found);
  std::error_code failed;
  return fs::canonical(found.dli_fname ? found.dli_fname : "", failed).parent_path();
}

/// Empty where the plug-in and all that it needs can be opened, with or without a GPU.
std::string why_not_usable() {
  return in_child([]() -> std::string {
    try {
      accelerator(automatic_kind());
      return {};
    } catch (const std::exception& error) {
      return error.what();
    }
  });
}

void require_usable() {
  if (const auto why = why_not_usable(); !why.empty()) throw Error(Exit::device, why);
}

int setup_cuda(const Arguments& arguments) {
  const auto plugin = find_plugin(cuda_plugin);
  if (plugin.empty()) require_usable();  // says that this build has no CUDA
  const auto libraries = libtorch_folder();
  const bool is_ours = !plugin.empty() && libraries == fs::canonical(plugin).parent_path();
  std::optional<std::string> folder;
  if (arguments.has(kWheels.name)) folder = arguments.value(kWheels.name);
  const auto index = folder ? std::string() : index_of(arguments);
  const bool installed =
      is_ours && install({std::string(cuda_wheels()), libraries.string(), index, folder});
  require_usable();
  log::info(
      "CUDA's libraries of LibTorch {} are {} '{}'; 'ddptrain doctor' lists this machine's GPUs",
      torch_version(), installed ? "in" : "already in",
      (is_ours ? libraries / "cuda" : libraries).string());
  return 0;
}

int setup_action(const Arguments& arguments) {
  const auto& what = arguments.words[0];
  if (what != "cuda")
    throw Error(Exit::recipe, "'setup' knows no '{}'{}", what,
                did_you_mean(nearest(what, {"cuda"}), "; there is cuda"));
  return arguments.has(kWheelList.name) ? list_wheels() : setup_cuda(arguments);
}

}  // namespace

Verb setup_verb() {
  return {.name = "setup",
          .usage = "cuda",
          .summary = "fetch what GPUs need, where LibTorch came with ddptrain (the tarball)",
          .flags = {kWheels, kIndex, kWheelList},
          .min_words = 1,
          .max_words = 1,
          .run = setup_action};
}

}  // namespace ddptrain
