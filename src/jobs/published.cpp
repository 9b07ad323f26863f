#include "jobs/published.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "config/decode.h"
#include "jobs/model_config.h"
#include "recipe/model_section.h"
#include "sources/fetch/file.h"
#include "weights/folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string size_text(const PublishedWeights& weights) {
  if (weights.mebibytes == 0) return "";
  return " (" + format_bytes(static_cast<std::int64_t>(weights.mebibytes * (1 << 20))) + ")";
}

std::string get_command(const PublishedWeights& weights) {
  return fmt::format("ddptrain weights get {} {}", weights.model, weights.name);
}

/// That of the recipe, else what is published of weights by name.
void check_digest(const WeightsSpec& spec, const PublishedWeights* named, const std::string& path) {
  const auto known = spec.sha256.value_or(named ? std::string(named->sha256) : "");
  if (known.empty()) return;
  const auto digest = digest_file(DigestKind::sha256, path);
  if (is_digest(digest, known)) return;
  const auto found = fmt::format("sha256 of '{}' is {}", path, digest);
  if (spec.sha256)
    throw Error(Exit::data, Option{"model.weights.sha256"}, "{}, and the recipe says {}", found,
                known);
  throw Error(Exit::data, Option{"model.weights"},
              "{}, and that of {} begins with {}; remove the file, and '{}' fetches it; or write "
              "the digest that you trust as model.weights.sha256",
              found, text_of(*named), known, get_command(*named));
}

/// The file of published weights, fetched where that is allowed.
std::string settled_file(const PublishedWeights& weights, const WeightsSpec& spec,
                         Fetching fetching) {
  auto path = weights_path(weights);
  if (!fs::exists(path)) {
    if (!spec.fetch || fetching == Fetching::never)
      throw Error(Exit::data, Option{"model.weights"},
                  "{} is '{}', which is not in '{}'; '{}' fetches it{}{}", text_of(weights),
                  file_name(weights), weights_folder(), get_command(weights), size_text(weights),
                  spec.fetch ? "" : ", and so does a run with 'fetch: true' next to the name");
    provide_weights(weights, spec.sha256.value_or(""));
  }
  return path;
}

std::string folder_of(const std::string& path) {
  return fs::is_directory(path) ? path : fs::path(path).parent_path().string();
}

}  // namespace

bool provide_weights(const PublishedWeights& weights, const std::string& sha256,
                     const std::optional<std::string>& file) {
  if (sha256.empty() && weights.sha256.empty())
    throw Error(Exit::recipe,
                "no digest of {} is published; look at {} and give the one that you trust: '{} "
                "--sha256 DIGEST', or 'sha256' under model.weights",
                text_of(weights), weights.url, get_command(weights));
  const auto path = weights_path(weights);
  if (!fs::exists(path) && !is_writable(weights_folder()))
    throw Error(
        Exit::data,
        "weights cannot be written to '{}'; set DDPTRAIN_WEIGHTS to a folder that you may write to",
        weights_folder());
  try {
    return provide_file({weights.url, file, sha256.empty() ? std::string(weights.sha256) : sha256},
                        path);
  } catch (const Error& error) {
    const auto why = error.message();  // or a wrong digest, or a full disk
    if (file || !(why.starts_with("cannot fetch") || why.starts_with("cannot run"))) throw;
    throw Error(Exit::data, "{}; fetch it where there is a network and put it to '{}'", why, path);
  }
}

void settle_weights(Choice<Model>& model, Fetching fetching) {
  auto node = model.node();
  const auto spec = decode<ModelSection>(node).weights;
  if (!spec) return;
  const auto* named = named_weights(model, spec->file);
  const bool is_name = named && !fs::exists(spec->file);
  const auto path = is_name ? settled_file(*named, *spec, fetching) : spec->file;
  if (fs::is_regular_file(path)) check_digest(*spec, is_name ? named : nullptr, path);
  if (!is_name) return settle_model_config(model, folder_of(path));
  log::info("weights: {} is {}", text_of(*named), path);
  auto& written = *node.find("weights");
  if (written.is_map()) {
    written.set("file", Node::quoted_text(path, written.place));
    written.set("fetch", Node::scalar("false", written.place));
  } else
    written = Node::quoted_text(path, written.place);
  model.choose(std::move(node));
}

}  // namespace ddptrain
