#include "cli/documents/recipes_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "base/files/files.h"
#include "base/text.h"
#include "config/encode.h"
#include "config/yaml/reader.h"
#include "recipe/load/load.h"
#include "support/where.h"
#include "train/catalogs.h"

namespace ddptrain::test {
namespace {

using Json = nlohmann::json;

Node settings_file() {
  const auto file = in_source("bench/recipes.yaml");
  auto read = read_yaml(read_text(file), file);
  EXPECT_EQ(render(read.problems), "");
  return std::move(read.tree);
}

std::string text_of(const Node& map, const char* key) {
  const auto* node = map.find(key);
  return node ? node->text : "";
}

std::vector<std::string> texts_of(const Node& map, const char* key) {
  std::vector<std::string> all;
  if (const auto* node = map.find(key))
    for (const auto& item : node->items) all.push_back(item.text);
  return all;
}

Loaded loaded(const RecipeRow& row, const std::vector<std::string>& more) {
  auto overrides = row.overrides;
  overrides.insert(overrides.end(), more.begin(), more.end());
  auto read = load_recipe({row.file()}, overrides, all_catalogs());
  EXPECT_FALSE(has_errors(read.problems)) << row.recipe << "\n" << render(read.problems);
  return read;
}

/// "data.transforms.train[0].size" in a tree; null where that does not write it.
const Node* value_at(const Node& tree, const std::string& path) {
  static const std::regex part("[^.\\[\\]]+");
  const auto* node = &tree;
  for (std::sregex_iterator at(path.begin(), path.end(), part), end; at != end && node; ++at) {
    if (node->is_list()) {
      const auto index = static_cast<std::size_t>(std::stoul(at->str()));
      node = index < node->items.size() ? &node->items[index] : nullptr;
    } else {
      node = node->is_map() ? node->find(at->str()) : nullptr;
    }
  }
  return node;
}

/// "`optimizer.lr: 1e-2` ...", as the recipe writes it, or its default.
std::string shown_settings(const RecipeRow& row) {
  const auto read = loaded(row, {});
  auto recipe = read.recipe;
  const auto complete = encode(recipe, &all_catalogs());
  std::vector<std::string> shown;
  for (const auto& key : row.settings) {
    const auto* value = value_at(read.tree, key);
    if (!value) value = value_at(complete, key);
    EXPECT_NE(value, nullptr) << row.recipe << " has no " << key;
    if (value) shown.push_back("`" + key + ": " + to_flow(*value) + "`");
  }
  return join(shown, " ");
}

std::string name_of(const RecipeRow& row) {
  auto words = row.overrides;
  words.insert(words.begin(), row.recipe);
  return "`" + join(words, " ") + "`";
}

// --- results ---

struct Figures {
  std::vector<double> values;
  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  double deviation() const {
    double sum = 0;
    for (const double value : values) sum += (value - mean()) * (value - mean());
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
  }
};

std::string rounded(double value, int digits) {
  std::ostringstream out;
  out.setf(std::ios::fixed);
  out.precision(digits);
  out << value;
  return out.str();
}

/// Accuracies in per cent; of others four digits.
std::string shown(const Figures& figures, const std::string& metric) {
  const bool share = metric.find("accuracy") != std::string::npos;
  const double factor = share ? 100 : 1;
  const double mean = factor * figures.mean();
  const int digits =
      share ? 2 : std::clamp(3 - static_cast<int>(std::floor(std::log10(mean))), 0, 6);
  auto text = rounded(mean, digits);
  if (figures.values.size() > 1) text += " ± " + rounded(factor * figures.deviation(), digits);
  return share ? text + " %" : text;
}

/// Of records whose `part` ("last", or "best") has the metric.
Figures figures_of(const std::vector<Json>& records, const std::string& part,
                   const std::string& metric) {
  Figures figures;
  for (const auto& record : records) {
    if (!record.contains(part) || record[part].is_null()) continue;
    const auto& metrics = part == "best" ? record[part]["metrics"] : record[part];
    figures.values.push_back(metrics.at(metric).get<double>());
  }
  return figures;
}

std::vector<Json> runs_of(const RecipeRow& row, bool peer) {
  auto records = records_of(row);
  std::erase_if(records, [&](const Json& each) { return each.value("peer", false) != peer; });
  return records;
}

std::string seeds_of(const std::vector<Json>& records) {
  std::vector<std::string> seeds;
  for (const auto& record : records) seeds.push_back(std::to_string(record["seed"].get<int>()));
  return (seeds.size() == 1 ? "seed " : "seeds ") + join(seeds, ", ");
}

std::string result_of(const RecipeRow& row) {
  const auto runs = runs_of(row, false);
  if (runs.empty()) return "not run here";
  const auto name = row.metric.substr(row.metric.find('/') + 1);
  return name + " " + shown(figures_of(runs, "last", row.metric), row.metric) + " (below)";
}

/// Without what differs from seed to seed.
std::string command_of(const Json& record) {
  static const std::regex seed("seed(=| )-?[0-9]+");
  return std::regex_replace(record["command"].get<std::string>(), seed, "seed$1N");
}

std::string line_of_runs(const RecipeRow& row, bool peer) {
  const auto records = runs_of(row, peer);
  if (records.empty()) return "";
  Figures seconds;
  for (const auto& record : records)
    if (record.contains("cpu_seconds"))
      seconds.values.push_back(record["cpu_seconds"].get<double>());
  const auto best = figures_of(records, "best", row.metric);
  return "| " + name_of(row) + (peer ? ", the peer" : "") + " | `" + command_of(records[0]) +
         "` | " + seeds_of(records) + " | " + row.metric + " | " +
         shown(figures_of(records, "last", row.metric), row.metric) + " | " +
         (best.values.empty() ? "" : shown(best, row.metric)) + " | " +
         (seconds.values.empty() ? "" : rounded(seconds.mean(), 0)) + " |\n";
}

}  // namespace

std::string RecipeRow::file() const { return in_source("recipes/" + recipe + ".yaml"); }

std::string RecipeRow::resolved(const std::vector<std::string>& more) const {
  auto read = loaded(*this, more);
  return to_yaml(encode(read.recipe, &all_catalogs()));
}

std::vector<RecipeRow> recipe_rows() {
  std::vector<RecipeRow> rows;
  const auto file = settings_file();
  for (const auto& row : file.find("rows")->items)
    rows.push_back({text_of(row, "recipe"), texts_of(row, "overrides"), text_of(row, "source"),
                    texts_of(row, "settings"), text_of(row, "published"), text_of(row, "metric")});
  return rows;
}

std::vector<Json> records_of(const RecipeRow& row) {
  std::vector<Json> records;
  const auto file = in_source("bench/records/" + row.recipe + ".jsonl");
  if (!std::filesystem::exists(file)) return records;
  for (const auto& line : split(read_text(file), '\n'))
    if (!line.empty()) records.push_back(Json::parse(line));
  std::erase_if(records, [&](const Json& each) { return each.at("overrides") != row.overrides; });
  std::stable_sort(records.begin(), records.end(), [](const Json& a, const Json& b) {
    return a.value("peer", false) < b.value("peer", false);
  });
  return records;
}

std::string recipes_page() {
  const auto file = settings_file();
  std::string page = text_of(file, "introduction") +
                     "\n| recipe | source | settings | published | here |\n|---|---|---|---|---|\n";
  std::string runs;
  for (const auto& row : recipe_rows()) {
    page += "| " + name_of(row) + " | " + row.source + " | " + shown_settings(row) + " | " +
            row.published + " | " + result_of(row) + " |\n";
    runs += line_of_runs(row, false) + line_of_runs(row, true);
  }
  page += "\n" + text_of(file, "runs") +
          "\n| recipe | command | seeds | metric | last weights | best weights | CPU seconds |\n"
          "|---|---|---|---|---|---|---|\n" +
          runs;
  page += "\n" + text_of(file, "differences") + "\n| recipe | difference |\n|---|---|\n";
  for (const auto& each : file.find("differ")->items)
    page += "| " + text_of(each, "recipe") + " | " + text_of(each, "how") + " |\n";
  return page;
}

}  // namespace ddptrain::test
