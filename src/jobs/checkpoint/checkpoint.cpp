// `checkpoint info|verify|diff|consolidate|prune`: what checkpoints hold, and whether they are
// whole.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/saving/consolidate.h"
#include "checkpoint/tensor_files.h"
#include "checkpoint/tensor_image.h"
#include "checkpoint/verify.h"
#include "checkpoint/weights.h"
#include "cli/verb.h"
#include "jobs/checkpoint/compared_tensors.h"
#include "recipe/run_folders.h"
#include "runs/run_folder.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr int kTensorsDiffer = 1;
constexpr Flag kInfoFormat{"--format", "text|json", "of info (default text)"};
constexpr Flag kNewestKept{"--keep-last", "N", "of prune: how many of the newest stay"};
constexpr Flag kEveryTensor{"--all", "", "of diff: every tensor that differs, not the first 20"};

constexpr const char* kManifest = "/MANIFEST.json";

std::string step_name(const std::string& folder) { return fs::path(folder).filename().string(); }

std::string checkpoints_of(const std::string& run) { return run + "/checkpoints"; }

/// The folders that a word stands for: a checkpoint's, or all of a run's.
std::vector<std::string> checkpoints_at(const std::string& word) {
  if (fs::exists(word + kManifest) || step_name(word).starts_with("step-")) return {word};
  if (!fs::is_directory(checkpoints_of(word))) throw no_run_folder(word);
  auto folders = checkpoint_folders(checkpoints_of(word));
  if (folders.empty()) throw Error(Exit::data, "no checkpoint in '{}'", checkpoints_of(word));
  return folders;
}

Manifest manifest_of(const std::string& folder) {
  return parse_manifest(read_text(folder + kManifest), folder + kManifest);
}

std::int64_t bytes_of(const Manifest& manifest) {
  std::int64_t bytes = 0;
  for (const auto& file : manifest.files) bytes += file.written.size;
  return bytes;
}

/// What a file of tensors holds, by its header.
struct FileFacts {
  std::string name;
  std::int64_t bytes = 0, tensors = 0, elements = 0;
  std::vector<std::string> types;
};

FileFacts file_facts(const std::string& folder, const Manifest& manifest,
                     const ManifestFile& file) {
  FileFacts facts{file.name, file.written.size, 0, 0, {}};
  if (stem_of(file.name).empty()) return facts;
  std::map<std::string, std::int64_t> types;
  for (const auto& entry : read_safetensors_header(TensorImage(folder, manifest, file)).entries) {
    const auto width = static_cast<std::int64_t>(c10::elementSize(entry.dtype));
    ++facts.tensors;
    facts.elements += ddptrain::bytes_of(entry) / width;
    ++types[safetensors_dtype(entry.dtype)];
  }
  for (const auto& [type, count] : types) facts.types.push_back(type);
  return facts;
}

/// How many ranks have a file of their own in it.
std::int64_t files_of_ranks(const Manifest& manifest) {
  return std::ranges::count_if(manifest.rank_bytes, [](auto bytes) { return bytes > 0; });
}

std::string linked_best(const std::string& folder) {
  std::error_code none;
  return fs::read_symlink(fs::path(folder).parent_path() / "best", none).filename().string();
}

Json checkpoint_json(const std::string& folder) {
  const auto manifest = manifest_of(folder);
  const auto state = read_saved_state(folder);
  auto files = Json::array();
  for (const auto& file : manifest.files) {
    const auto facts = file_facts(folder, manifest, file);
    files.push_back({{"name", facts.name},
                     {"bytes", facts.bytes},
                     {"tensors", facts.tensors},
                     {"elements", facts.elements},
                     {"types", facts.types}});
  }
  return {{"folder", folder},
          {"step", manifest.step},
          {"epoch", state.position.epoch},
          {"samples", state.position.samples},
          {"seed", state.seed},
          {"best", linked_best(folder) == step_name(folder)},
          {"mode", state.environment.mode},
          {"ranks", state.environment.ranks},
          {"device", state.environment.device},
          {"ddptrain", state.environment.ddptrain},
          {"torch", state.environment.torch},
          {"bytes", bytes_of(manifest)},
          {"files_of_ranks", files_of_ranks(manifest)},
          {"files", std::move(files)}};
}

void print_one(const std::string& folder) {
  const auto manifest = manifest_of(folder);
  const auto state = read_saved_state(folder);
  const auto& at = state.environment;
  print_shown("%s: step %s, epoch %s, %s seen, seed %s\n", folder.c_str(),
              std::to_string(manifest.step).c_str(), std::to_string(state.position.epoch).c_str(),
              plural(state.position.samples, "sample").c_str(), std::to_string(state.seed).c_str());
  print_shown("written by ddptrain %s with torch %s: mode %s, %s, %s\n", at.ddptrain.c_str(),
              at.torch.c_str(), at.mode.c_str(), plural(at.ranks, "rank").c_str(),
              at.device.c_str());
  std::vector<std::vector<std::string>> rows{{"file", "size", "tensors", "elements", "types"}};
  for (const auto& file : manifest.files) {
    const auto facts = file_facts(folder, manifest, file);
    const bool has_tensors = !stem_of(file.name).empty();
    rows.push_back({facts.name, format_bytes(facts.bytes),
                    has_tensors ? std::to_string(facts.tensors) : "-",
                    has_tensors ? std::to_string(facts.elements) : "-",
                    has_tensors ? join(facts.types, ", ") : "-"});
  }
  print_table(rows);
  if (const auto files = files_of_ranks(manifest); files > 0)
    print_shown("their bytes are in %s of ranks; 'checkpoint consolidate' makes them one each\n",
                plural(files, "file").c_str());
}

void print_all(const std::vector<std::string>& folders) {
  std::vector<std::vector<std::string>> rows{
      {"checkpoint", "step", "epoch", "size", "mode", "ranks", ""}};
  for (const auto& folder : folders) try {
      const auto manifest = manifest_of(folder);
      const auto state = read_saved_state(folder);
      const bool best = linked_best(folder) == step_name(folder);
      rows.push_back({step_name(folder), std::to_string(manifest.step),
                      std::to_string(state.position.epoch), format_bytes(bytes_of(manifest)),
                      state.environment.mode, std::to_string(state.environment.ranks),
                      best ? "best" : ""});
    } catch (const Error& error) {
      log::warning(error.what());
      rows.push_back({step_name(folder), "-", "-", "-", "-", "-", "damaged"});
    }
  print_table(rows);
}

int show_info(const Arguments& arguments) {
  const auto folders = checkpoints_at(arguments.words[1]);
  if (arguments.chosen(kInfoFormat) == 1) {
    auto all = Json::array();
    for (const auto& folder : folders) all.push_back(checkpoint_json(folder));
    print_exact(json_text(all, 2) + "\n");
  } else if (folders.size() == 1) {
    print_one(folders[0]);
  } else {
    print_all(folders);
  }
  return 0;
}

int verify_all(const Arguments& arguments) {
  std::int64_t damaged = 0, looked_at = 0;
  for (std::size_t i = 1; i < arguments.words.size(); ++i)
    for (const auto& folder : checkpoints_at(arguments.words[i])) {
      ++looked_at;
      const auto damages = damages_of(folder);
      for (const auto& damage : damages) log::error(damage);
      damaged += damages.empty() ? 0 : 1;
      if (damages.empty())
        print_shown("%s: complete, %s\n", folder.c_str(),
                    format_bytes(bytes_of(manifest_of(folder))).c_str());
    }
  if (damaged > 0)
    throw Error(Exit::data, "{} of {} damaged", damaged, plural(looked_at, "checkpoint"));
  return 0;
}

/// A checkpoint, the newest of a run, or a file of weights.
Checkpoint tensors_at(const std::string& word) {
  if (fs::is_regular_file(word)) {
    Checkpoint file;
    file.model = map_safetensors(word).tensors;
    return file;
  }
  return map_checkpoint(checkpoints_at(word).back());
}

std::vector<std::string> difference_row(const std::string& stem, const ComparedTensor& tensor) {
  if (!tensor.problem.empty()) return {stem, tensor.name, tensor.problem, "", ""};
  return {stem, tensor.name, plural(tensor.others, "element"), short_number(tensor.largest),
          short_number(tensor.relative)};
}

int show_differences(const Arguments& arguments) {
  if (arguments.words.size() != 3) throw Error(Exit::recipe, "usage: ddptrain checkpoint diff A B");
  const auto a = tensors_at(arguments.words[1]), b = tensors_at(arguments.words[2]);
  const bool files =
      fs::is_regular_file(arguments.words[1]) || fs::is_regular_file(arguments.words[2]);
  std::vector<std::vector<std::string>> rows{
      {"of", "tensor", "differs in", "largest distance", "by the largest in A"}};
  std::vector<std::string> sums;
  for (const auto& kind : kTensorFiles) {
    if (files && kind.tensors != &Checkpoint::model) continue;
    const auto found = compare_tensors(a.*kind.tensors, b.*kind.tensors);
    if (found.both == 0 && found.apart.empty()) continue;
    for (const auto& tensor : found.apart) rows.push_back(difference_row(kind.stem, tensor));
    sums.push_back(fmt::format("{}: {} in both, {} differ", kind.stem, plural(found.both, "tensor"),
                               found.apart.size()));
  }
  const auto differing = rows.size() - 1;
  constexpr std::size_t most = 20;
  if (!arguments.has("--all")) rows.resize(std::min(rows.size(), most + 1));
  if (differing > 0) print_table(rows);
  if (rows.size() - 1 < differing)
    print_shown(
        "and %s; --all shows them\n",
        plural(static_cast<std::int64_t>(differing - rows.size() + 1), "more tensor").c_str());
  for (const auto& sum : sums) print_shown("%s\n", sum.c_str());
  return differing > 0 ? kTensorsDiffer : 0;
}

int consolidate(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.size() != 3)
    throw Error(Exit::recipe,
                "usage: ddptrain checkpoint consolidate CHECKPOINT FILE.safetensors|FOLDER");
  const auto folder = checkpoints_at(words[1]).back();
  const auto manifest = verify_checkpoint(folder);
  if (!words[2].ends_with(".safetensors")) {
    consolidate_checkpoint(folder, manifest, words[2]);
    log::info("wrote {}, {}, to {}", folder, format_bytes(bytes_of(manifest)), words[2]);
    return 0;
  }
  const auto checkpoint = map_checkpoint(folder);
  write_safetensors(words[2], {checkpoint.model, {{"format", "pt"}}});
  log::info("wrote {} of {} to {}", plural(std::ssize(checkpoint.model), "tensor"), folder,
            words[2]);
  return 0;
}

int prune_run(const Arguments& arguments) {
  const auto keep = parse_integer(arguments.value("--keep-last")).value_or(0);
  if (arguments.words.size() != 2 || keep < 1)
    throw Error(Exit::recipe, "usage: ddptrain checkpoint prune RUN --keep-last N, from 1");
  const auto& run = arguments.words[1];
  if (!fs::is_directory(checkpoints_of(run))) throw no_run_folder(run);
  const auto lock = lock_run(run);
  const auto before = list_checkpoints(checkpoints_of(run));
  prune_checkpoints(checkpoints_of(run), keep, "");
  for (const auto& folder : before)
    if (!fs::exists(folder)) log::info("deleted {}", folder);
  print_shown("%s left\n",
              plural(std::ssize(list_checkpoints(checkpoints_of(run))), "checkpoint").c_str());
  return 0;
}

int checkpoint_action(const Arguments& arguments) {
  const auto& action = arguments.words[0];
  const std::map<std::string, int (*)(const Arguments&)> actions{{"info", show_info},
                                                                 {"verify", verify_all},
                                                                 {"diff", show_differences},
                                                                 {"consolidate", consolidate},
                                                                 {"prune", prune_run}};
  const auto found = actions.find(action);
  if (found == actions.end())
    throw Error(Exit::recipe, "'checkpoint' has no action '{}'{}", action,
                did_you_mean(nearest(action, {"info", "verify", "diff", "consolidate", "prune"}),
                             "; there are info, verify, diff, consolidate, prune"));
  return found->second(arguments);
}

}  // namespace

Verb checkpoint_verb() {
  return {.name = "checkpoint",
          .usage =
              "info RUN|CHECKPOINT | verify RUN|CHECKPOINT... | diff A B | consolidate "
              "CHECKPOINT FILE|FOLDER | prune RUN",
          .summary =
              "what checkpoints hold, whether they are complete, what differs between two; "
              "diff exits 1 where they differ",
          .flags = {kInfoFormat, kEveryTensor, kNewestKept},
          .min_words = 2,
          .run = checkpoint_action};
}

}  // namespace ddptrain
