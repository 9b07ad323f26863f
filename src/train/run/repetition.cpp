#include "train/run/repetition.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/mean.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostMetrics = 8;
constexpr std::size_t kHead = 10;  // columns

std::string cell(double value, std::size_t width) {
  char text[64];
  std::snprintf(text, sizeof text, "%.5g", value);
  const std::string plain = std::isnan(value) ? "-" : text;
  return std::string(width > plain.size() ? width - plain.size() : 0, ' ') + plain;
}

std::size_t width_of(const std::string& name) { return std::max<std::size_t>(name.size(), 9); }

std::vector<std::string> columns(const std::vector<MemberResult>& results) {
  std::vector<std::string> names;
  for (const auto& result : results)
    for (const auto& [name, value] : result.metrics)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

/// Of the members that have a number for it.
Mean spread_of(const std::vector<MemberResult>& results, const std::string& name) {
  std::vector<double> values;
  for (const auto& result : results)
    if (const double value = value_named(result.metrics, name); !std::isnan(value))
      values.push_back(value);
  return mean_of(values);
}

std::string row(std::string head, const std::vector<std::string>& names, const auto& value) {
  head.resize(std::max(head.size(), kHead), ' ');
  for (const auto& name : names) head += "  " + cell(value(name), width_of(name));
  return head + "\n";
}

}  // namespace

Repetition::Repetition(const std::string& runs, const std::string& name, std::string recipe_text,
                       std::int64_t count)
    : path_(runs + "/" + name + "/repeat.json"),
      recipe_text_(std::move(recipe_text)),
      count_(count) {
  if (!fs::exists(path_)) return;
  const auto json = Json::parse(read_text(path_), nullptr, false);
  if (!json.is_object() || json.value("recipe", Json()) != recipe_text_ ||
      json.value("count", Json()) != count_)
    return;
  const auto folders = json.value("folders", Json::array());
  for (const auto& folder : folders) {
    if (!folder.is_string() || !fs::exists(folder.get<std::string>() + "/run.json")) return;
    folders_.push_back(folder);
  }
}

void Repetition::add(const std::string& folder) {
  folders_.push_back(folder);
  const Json json{{"recipe", recipe_text_}, {"count", count_}, {"folders", folders_}};
  write_atomically(path_, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Repetition::finish() const { fs::remove(path_); }

std::string members_table(const std::string& kind, const std::vector<MemberResult>& results) {
  const auto all = columns(results);
  const std::vector<std::string> names(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostMetrics)));
  std::string text = kind;
  text.resize(std::max(text.size(), kHead), ' ');
  for (const auto& name : names)
    text += "  " + std::string(width_of(name) - name.size(), ' ') + name;
  text += "\n";
  for (const auto& result : results)
    text += row(result.name, names,
                [&](const auto& name) { return value_named(result.metrics, name); });
  text += row("mean", names, [&](const auto& name) { return spread_of(results, name).value; });
  text +=
      row("deviation", names, [&](const auto& name) { return spread_of(results, name).deviation; });
  if (all.size() > names.size())
    text +=
        "and " + std::to_string(all.size() - names.size()) + " more in each run's metrics.csv\n";
  return text;
}

std::string best_members_table(const std::string& kind, const std::vector<MemberResult>& results) {
  std::vector<MemberResult> best;
  const BestEvaluation* by = nullptr;
  for (const auto& result : results) {
    best.push_back({result.name, {}});
    if (!result.best) continue;
    by = &*result.best;
    best.back().metrics.emplace_back("step", static_cast<double>(by->step));
    best.back().metrics.insert(best.back().metrics.end(), by->values.begin(), by->values.end());
  }
  if (!by) return {};
  const auto* way = by->mode == BestMode::max ? " (larger is better)" : " (smaller is better)";
  return "\nbest by " + by->metric + way + "\n" + members_table(kind, best);
}

}  // namespace ddptrain
