#include "jobs/restart/other_devices.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/files/files.h"
#include "base/text.h"
#include "config/catalog.h"
#include "config/yaml/reader.h"
#include "models/model.h"
#include "recipe/layers/address.h"
#include "recipe/run_folders.h"

namespace ddptrain {
namespace {

/// The options that follow from devices.
constexpr const char* kFollowing[] = {"parallel.device",  "parallel.devices.count",
                                      "parallel.sync_bn", "batch.micro",
                                      "train.threads",    "train.channels_last"};

/// Where the comment of a line begins, npos: it has none.
std::size_t mark_of(const std::string& line) { return line.rfind("  # "); }

/// A run's recipe.yaml, whose comments say what was `auto`.
class RecordedRecipe {
 public:
  explicit RecordedRecipe(const std::string& folder)
      : text_(read_text(folder + "/" + kRecipeYaml)),
        lines_(split(text_, '\n')),
        tree_(read_yaml(text_, folder + "/" + kRecipeYaml).tree) {}

  std::string value(const std::string& option) const {
    const auto* node = find(option);
    return node ? node->text : "";
  }

  /// "# auto" on its line, or "# micro: auto, accumulate: auto" where a line has several values.
  bool was_automatic(const std::string& option) const {
    const auto* node = find(option);
    if (!node || node->place.line < 1 || node->place.line > std::ssize(lines_)) return false;
    const auto& line = lines_[static_cast<std::size_t>(node->place.line - 1)];
    const auto mark = mark_of(line);
    if (mark == std::string::npos) return false;
    const auto parts = split(line.substr(mark + 4), ',');
    const auto key = option.substr(option.rfind('.') + 1) + ": auto";
    return std::ranges::any_of(
        parts, [&](const std::string& part) { return trim(part) == "auto" || trim(part) == key; });
  }

 private:
  const Node* find(const std::string& option) const {
    return find_at(tree_, read_address(option).value());
  }

  std::string text_;
  std::vector<std::string> lines_;
  Node tree_;
};

/// Lines of scalars that are written alike in both texts get the comment that they have in
/// `before`.
void copy_marks(const Node& before, const Node& now, const std::vector<std::string>& lines_before,
                std::vector<std::string>& lines) {
  for (const auto& member : now.members)
    if (const auto* other = before.find(member.key))
      copy_marks(*other, member.value, lines_before, lines);
  if (!now.is_scalar() || !before.is_scalar() || now.place.line < 1 || before.place.line < 1)
    return;
  auto& line = lines.at(static_cast<std::size_t>(now.place.line - 1));
  const auto& marked = lines_before.at(static_cast<std::size_t>(before.place.line - 1));
  const auto mark = mark_of(marked);
  if (mark != std::string::npos && marked.substr(0, mark) == line) line = marked;
}

bool begins_with(const std::vector<std::string>& overrides, const std::string& start) {
  return std::ranges::any_of(overrides,
                             [&](const std::string& word) { return word.starts_with(start); });
}

constexpr std::string_view kDevicesKey = "parallel.devices=";

/// The number in "parallel.devices=2"; nothing where there is none.
std::optional<std::int64_t> given_devices(const std::vector<std::string>& given) {
  for (auto word = given.rbegin(); word != given.rend(); ++word)
    if (word->starts_with(kDevicesKey)) return parse_integer(word->substr(kDevicesKey.size()));
  return {};
}

/// Whose statistics are those of one pass: another number of passes would train another model.
bool has_batch_norm(const std::string& model) {
  const auto* entry = catalog<Model>().find(model);
  return !entry || entry->has("batch_norm");
}

/// Another global batch would be another training: which numbers of devices can share this one,
/// each a multiple of `piece` samples.
void require_shared_batch(const RecordedRecipe& recipe, std::int64_t piece, std::int64_t devices) {
  const auto global = parse_integer(recipe.value("batch.global")).value_or(0);
  if (devices < 1 || global < 1 || piece < 1 || global % (devices * piece) == 0) return;
  std::vector<std::string> possible;
  for (std::int64_t each = 1; each <= std::min<std::int64_t>(global, 64); ++each)
    if (global % (each * piece) == 0) possible.push_back(std::to_string(each));
  throw Error(Exit::recipe, Option{"parallel.devices"},
              "the global batch of this run, {}, cannot be shared evenly by {} devices; these "
              "numbers can: {}",
              global, devices, join(possible, ", "));
}

/// What the recipe had left open, and a mode for the devices that are asked for.
std::vector<std::string> left_to_devices(const std::string& folder,
                                         const std::vector<std::string>& given) {
  const RecordedRecipe recipe(folder);
  std::vector<std::string> overrides;
  const auto leave_open = [&](const std::string& option) {
    if (!recipe.was_automatic(option)) return false;
    overrides.push_back((option == "parallel.devices.count" ? "parallel.devices" : option) +
                        "=auto");
    return true;
  };
  for (const auto* option : kFollowing) leave_open(option);
  const auto number = [&](const char* option) {
    return parse_integer(recipe.value(option)).value_or(1);
  };
  // A size of passes that was written leaves their number open, as at the start of the run.
  const bool sized = !recipe.was_automatic("batch.micro");
  auto piece = sized ? number("batch.micro") : number("batch.accumulate");
  if ((sized || !has_batch_norm(recipe.value("model.type"))) && leave_open("batch.accumulate") &&
      !sized)
    piece = 1;
  const auto devices = given_devices(given);
  if (devices && !begins_with(given, "batch.")) require_shared_batch(recipe, piece, *devices);
  if (recipe.value("parallel.mode") == "none" && devices.value_or(1) > 1 &&
      !begins_with(given, "parallel.mode="))
    overrides.emplace_back("parallel.mode=ddp");
  return overrides;
}

}  // namespace

bool names_devices(const std::vector<std::string>& overrides) {
  return begins_with(overrides, "parallel.device") || begins_with(overrides, "parallel.mode") ||
         begins_with(overrides, "parallel=");
}

bool is_of_devices(const Error& error) {
  const auto& option = error.option();
  return option.starts_with("parallel.") || option.starts_with("batch");
}

std::string with_marks_of(const std::string& before, const std::string& text) {
  auto lines = split(text, '\n');
  copy_marks(read_yaml(before, kRecipeYaml).tree, read_yaml(text, kRecipeYaml).tree,
             split(before, '\n'), lines);
  return join(lines, "\n");
}

std::vector<std::string> with_devices_open(const std::string& folder,
                                           const std::vector<std::string>& given) {
  auto overrides = left_to_devices(folder, given);
  overrides.insert(overrides.end(), given.begin(), given.end());
  return overrides;
}

std::vector<std::vector<std::string>> tried_on_devices(const std::string& folder,
                                                       const std::vector<std::string>& given) {
  std::vector<std::vector<std::string>> all{with_devices_open(folder, given)};
  const RecordedRecipe recipe(folder);
  if (given_devices(given) || !recipe.was_automatic("parallel.devices.count")) return all;
  const auto before = parse_integer(recipe.value("parallel.devices.count")).value_or(0);
  for (auto devices = before; devices > 0; --devices) {
    all.push_back(all.front());
    all.back().push_back(std::string(kDevicesKey) + std::to_string(devices));
  }
  return all;
}

}  // namespace ddptrain
