#include "runs/transfer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/output/table_text.h"
#include "base/text.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kMostKept = 1000, kMostShown = 8, kWidestName = 40, kWidestRow = 30;

Names first_of(Names names) {
  if (names.size() > kMostKept) names.resize(kMostKept);
  return names;
}

Json group_json(const TransferGroup& group) {
  return {{"what", group.what},
          {"tensors", group.tensors},
          {"copied", group.copied},
          {"moved", group.moved},
          {"initialized", group.initialized},
          {"how", group.how},
          {"dropped", group.dropped},
          {"note", group.note},
          {"new", first_of(group.fresh_names)},
          {"gone", first_of(group.dropped_names)}};
}

TransferGroup group_of(const Json& json) {
  TransferGroup group;
  group.what = json.at("what");
  group.tensors = json.at("tensors").get<Names>();
  group.copied = json.at("copied");
  group.moved = json.at("moved");
  group.initialized = json.at("initialized");
  group.how = json.at("how");
  group.dropped = json.at("dropped");
  group.note = json.at("note");
  group.fresh_names = json.at("new").get<Names>();
  group.dropped_names = json.at("gone").get<Names>();
  return group;
}

void add_names(Names& lines, const std::string& title, const TransferGroup& group,
               const Names& names) {
  if (!names.empty())
    lines.push_back(
        fmt::format("  {}, {}: {}", one_line(group.what, kWidestName), title, few_names(names)));
}

}  // namespace

std::string few_names(const Names& names) {
  Names few;
  for (const auto& name : names) {
    if (few.size() == kMostShown) break;
    few.push_back(fmt::format("'{}'", one_line(name, kWidestName)));
  }
  auto text = join(few, ", ");
  if (names.size() > few.size()) text += fmt::format(" and {} more", names.size() - few.size());
  return text;
}

std::string to_json(const Transfer& transfer) {
  Json groups = Json::array();
  for (const auto& group : transfer.groups) groups.push_back(group_json(group));
  const Json json{{"file", transfer.file}, {"groups", groups}, {"warnings", transfer.warnings}};
  return lossy_json_text(json, 2) + "\n";
}

Transfer transfer_of(const std::string& text) {
  try {
    const auto json = parse_json(text);
    Transfer transfer{json.at("file"), {}, json.at("warnings").get<Names>()};
    for (const auto& group : json.at("groups")) transfer.groups.push_back(group_of(group));
    return transfer;
  } catch (const Json::exception&) {
    throw Error(Exit::data, "{} cannot be read", kTransferJson);
  }
}

void write_transfer_json(const Transfer& transfer, const std::string& folder) {
  write_atomically(folder + "/" + kTransferJson, to_json(transfer));
}

std::vector<std::string> to_lines(const Transfer& transfer) {
  std::vector<Names> rows{{"  rows by name", "copied", "moved", "re-initialized", "dropped"}};
  Names notes;
  for (const auto& group : transfer.groups) {
    const auto& name = group.tensors.empty() ? "other " + group.what : group.what;
    rows.push_back({"  " + one_line(name, kWidestRow), std::to_string(group.copied),
                    std::to_string(group.moved), std::to_string(group.initialized),
                    std::to_string(group.dropped)});
    const auto what = fmt::format("  {}: ", one_line(group.what, kWidestName));
    if (!group.note.empty()) notes.push_back(what + group.note);
    const auto how = group.how.empty() ? "re-initialized" : "re-initialized (" + group.how + ")";
    if (group.fresh_names.empty() && group.initialized > 0) notes.push_back(what + how);
    add_names(notes, how, group, group.fresh_names);
    add_names(notes, "dropped", group, group.dropped_names);
  }
  auto lines = aligned(rows);
  lines.insert(lines.end(), notes.begin(), notes.end());
  return lines;
}

}  // namespace ddptrain
