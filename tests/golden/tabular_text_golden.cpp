// Tables as fastai prepares them, and its samplers.
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/text.h"
#include "config/decode.h"
#include "data/dataset.h"
#include "data/sampler.h"
#include "data/table.h"
#include "models/embedding_size.h"
#include "support/golden.h"
#include "support/node.h"
#include "support/temporary_folder.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;

/// "row % 5 == 4".
bool holds(const std::string& rule, int row) {
  const auto words = split(rule, ' ');
  return row % std::stoi(words.at(2)) == std::stoi(words.at(4));
}

std::string original(const Case& c) {
  const char* data = std::getenv("DDPTRAIN_DATA");
  const std::string path =
      std::string(data ? data : "") + "/" + c.input.at("file").get<std::string>();
  return data && std::filesystem::exists(path) ? path : "";
}

/// The first rows of the file with some cells made empty.
void write_table(const Case& c, const std::string& from, const std::string& to) {
  std::ifstream in(from);
  std::ofstream out(to);
  std::string line;
  std::getline(in, line);
  out << line << "\n";
  const auto header = split(line, ',');
  for (int row = 0; row < c.input.at("rows") && std::getline(in, line); ++row) {
    auto cells = split(line, ',');
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (c.input.at("missing_rule").contains(header[i]) &&
          holds(c.input["missing_rule"][header[i]], row))
        cells[i].clear();
    out << join(cells, ",") << "\n";
  }
}

json recipe_of(const Case& c, const std::string& file) {
  json recipe;
  recipe["type"] = "csv_table";
  recipe["file"] = file;
  recipe["unseen"] = "class";
  for (const char* key : {"categories", "continuous", "target", "fill"})
    recipe[key] = c.input.at(key);
  recipe["valid"]["fraction"] = nullptr;
  for (int row = 0; row < c.input.at("rows"); ++row)
    if (holds(c.input.at("valid_rule"), row)) recipe["valid"]["rows"].push_back(row);
  return recipe;
}

void expect_columns(const TableFit& table, const json& expect) {
  json categories, continuous, classes, sizes, fill = json::object();
  for (const auto& column : table.categories) {
    categories.push_back(column.name);
    classes[column.name] = column.classes;
    const auto count = static_cast<std::int64_t>(column.classes.size());
    sizes.push_back({count, embedding_size(count)});
  }
  std::vector<double> mean, deviation, wanted_mean, wanted_deviation;
  for (const auto& column : table.continuous) {
    continuous.push_back(column.name);
    if (column.fill) fill[column.name] = *column.fill;
    mean.push_back(column.mean);
    deviation.push_back(column.deviation);
    wanted_mean.push_back(expect.at("means").at(column.name));
    wanted_deviation.push_back(expect.at("stds").at(column.name));
  }
  EXPECT_EQ(categories, expect.at("category_columns"));
  EXPECT_EQ(continuous, expect.at("continuous_columns"));
  EXPECT_EQ(classes, expect.at("classes"));
  EXPECT_EQ(sizes, expect.at("embedding_sizes"));
  EXPECT_EQ(fill, expect.at("fill"));
  expect_close(mean, wanted_mean, 1e-6, 0, "means");
  expect_close(deviation, wanted_deviation, 1e-6, 0, "deviations");
  EXPECT_EQ(json(table.target_classes), expect.value("target_classes", json::array()));
}

std::vector<double> flat(const at::Tensor& tensor) {
  const auto row = tensor.to(at::kDouble).contiguous();
  return {row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel()};
}

Batch all_rows(const Dataset& data, Split split) {
  const auto rows = data.size(split);
  auto batch = data.allocate(split, rows);
  for (std::int64_t row = 0; row < rows; ++row) EXPECT_TRUE(data.load(split, row, {}, batch, row));
  return batch;
}

void expect_first(const Batch& batch, const json& expect) {
  EXPECT_EQ(flat(batch.inputs[0].narrow(0, 0, 5)), numbers(expect.at("categories")));
  expect_close(flat(batch.inputs[1].narrow(0, 0, 5)), numbers(expect.at("continuous")), 2e-6, 2e-6,
               "numbers");
  EXPECT_EQ(flat(batch.targets[0].narrow(0, 0, 5)), numbers(expect.at("target")));
}

}  // namespace

GOLDEN(tabular_text, tabular) {
  const auto from = original(c);
  if (from.empty()) GTEST_SKIP() << "DDPTRAIN_DATA names no folder with " << c.input.at("file");
  const TemporaryFolder folder;
  const auto file = folder.path() + "/table.csv";
  write_table(c, from, file);
  auto recipe = recipe_of(c, file);
  const auto data = catalog<Dataset>().build(fragment<Dataset>(recipe), DataContext{});
  const auto train = all_rows(*data, Split::train), valid = all_rows(*data, Split::valid);
  EXPECT_EQ(train.rows, c.expect.at("train_rows"));
  EXPECT_EQ(valid.rows, c.expect.at("valid_rows"));
  expect_first(train, c.expect.at("train_first5"));
  expect_first(valid, c.expect.at("valid_first5"));
  EXPECT_EQ(flat(train.inputs[0].sum(0)), numbers(c.expect.at("train_category_sums")));
  EXPECT_EQ(flat(valid.inputs[0].sum(0)), numbers(c.expect.at("valid_category_sums")));
  expect_close(flat(valid.inputs[1].sum(0, false, at::kDouble)),
               numbers(c.expect.at("valid_continuous_sums")), 2e-6, 1e-3, "sums of numbers");
  recipe.erase("type");
  expect_columns(read_table(decode<TableOptions>(to_node(recipe))).fit, c.expect);
}

GOLDEN(tabular_text, embedding_size) {
  EXPECT_EQ(embedding_size(c.input.at("categories")), c.expect.at("size"));
}

GOLDEN(tabular_text, partial_loader) {
  const auto choice = fragment<Sampler>({{"type", "partial"}, {"samples", c.input.at("partial")}});
  const auto order =
      catalog<Sampler>().build(choice, SamplerContext{c.input.at("n"), {}, 0})->order(0);
  EXPECT_EQ(order.size(), c.expect.at("draws"));
  EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), c.expect.at("distinct"));
}

/// Frequencies over many epochs: five deviations of a binomial draw are allowed.
GOLDEN(tabular_text, weighted_loader) {
  const auto weights = numbers(c.input.at("weights"));
  const auto n = static_cast<std::int64_t>(weights.size());
  const auto sampler =
      catalog<Sampler>().build(fragment<Sampler>("weighted"), SamplerContext{n, weights, 0});
  EXPECT_EQ(sampler->order(0).size(), c.expect.at("draws_per_epoch"));
  std::vector<double> counts(weights.size());
  double draws = 0;
  for (std::int64_t epoch = 0; epoch < 2000; ++epoch)
    for (const auto index : sampler->order(epoch)) {
      ++counts.at(static_cast<std::size_t>(index));
      ++draws;
    }
  const auto chances = numbers(c.expect.at("probabilities"));
  for (std::size_t i = 0; i < counts.size(); ++i)
    EXPECT_NEAR(counts[i], draws * chances[i],
                5 * std::sqrt(draws * chances[i] * (1 - chances[i])));
}

}  // namespace ddptrain::golden
