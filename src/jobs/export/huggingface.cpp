#include "jobs/export/huggingface.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

/// Both spellings of the type: versions before 5 read `torch_dtype`.
std::string config_text(const std::vector<std::pair<std::string, std::string>>& config) {
  Json json;
  for (const auto& [key, value] : config) json[key] = Json::parse(value);
  json["bos_token_id"] = nullptr;
  json["eos_token_id"] = nullptr;
  json["dtype"] = "float32";
  json["torch_dtype"] = "float32";
  return json.dump(2) + "\n";
}

void make_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Error(Exit::data, "cannot make the folder '" + folder + "': " + failed.message());
}

}  // namespace

void write_huggingface_folder(const std::string& folder, const Model& model,
                              const std::vector<NamedTensor>& weights) {
  const auto config = model.published_config();
  if (config.empty())
    throw Error(Exit::recipe,
                "--format huggingface: transformers has no such network; without --format the "
                "weights are one .safetensors file");
  make_folder(folder);
  write_safetensors(folder + "/model.safetensors", {weights, {{"format", "pt"}}});
  write_atomically(folder + "/config.json", config_text(config));
  log::info("wrote " + plural(std::ssize(weights), "tensor") + " and config.json to " + folder);
}

}  // namespace ddptrain
