#include "jobs/draft/machine.h"

#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "accelerator/devices.h"
#include "base/text.h"
#include "weights/folder.h"
#include "weights/weights.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::int64_t gpus() { return std::ssize(find_devices(DeviceKind::automatic).names); }

std::string cores_text() {
  return plural(static_cast<std::int64_t>(std::thread::hardware_concurrency()), "core");
}

}  // namespace

bool has_gpu() { return gpus() > 0; }

std::string model_lines(const std::string& options, const std::string& network) {
  const auto* weights = find_weights(network, "imagenet");
  const auto plain = fmt::format("model: {{{}}}\n", options);
  const auto pretrained = fmt::format("model: {{{}, weights: imagenet}}", options);
  if (!weights) return plain;
  std::error_code unknown;
  if (fs::exists(weights_path(*weights), unknown))
    return pretrained + "     # published weights, which are on this machine\n";
  return plain + "# With weights that know ImageNet far fewer images do; 'ddptrain weights get " +
         network + "' fetches them:\n# " + pretrained + "\n";
}

MachineUse use_of_this_machine() {
  MachineUse use;
  const auto count = gpus();
  use.mode = count > 1 ? "ddp" : "none";
  use.device = count > 0 ? "cuda" : "cpu";
  use.devices = count > 1 ? "auto" : "1";
  use.machine = cores_text() + ", " + (count > 0 ? plural(count, "GPU") : "no GPU");
  return use;
}

std::string parallel_line(bool small_work) {
  const auto count = gpus();
  const auto cores = cores_text();
  if (count > 1 && !small_work)
    return "parallel: {mode: ddp, device: cuda, devices: auto}     # this machine: " +
           plural(count, "GPU") + ", all of which train\n";
  if (count > 1)
    return "parallel: {mode: none, devices: 1}     # this machine: " + plural(count, "GPU") +
           "; one is enough for this table\n";
  return fmt::format("parallel: {{mode: none, devices: 1}}     # this machine: {}\n",
                     count == 1 ? "one GPU, which auto takes" : cores + ", no GPU");
}

}  // namespace ddptrain
