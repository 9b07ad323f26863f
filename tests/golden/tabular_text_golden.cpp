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
#include "models/sizes.h"
#include "sources/order/length_order.h"
#include "sources/sampler.h"
#include "sources/table/csv_source.h"
#include "sources/table/table.h"
#include "sources/text/padding.h"
#include "support/golden.h"
#include "support/node.h"
#include "support/temporary_folder.h"
#include "text/fastai/fastai_rules.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

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

std::vector<double> flat_values(const at::Tensor& tensor) {
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
  EXPECT_EQ(flat_values(batch.inputs[0].narrow(0, 0, 5)), numbers(expect.at("categories")));
  expect_close(flat_values(batch.inputs[1].narrow(0, 0, 5)), numbers(expect.at("continuous")), 2e-6,
               2e-6, "numbers");
  EXPECT_EQ(flat_values(batch.targets[0].narrow(0, 0, 5)), numbers(expect.at("target")));
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
  EXPECT_EQ(flat_values(train.inputs[0].sum(0)), numbers(c.expect.at("train_category_sums")));
  EXPECT_EQ(flat_values(valid.inputs[0].sum(0)), numbers(c.expect.at("valid_category_sums")));
  expect_close(flat_values(valid.inputs[1].sum(0, false, at::kDouble)),
               numbers(c.expect.at("valid_continuous_sums")), 2e-6, 1e-3, "sums of numbers");
  recipe.erase("type");
  const auto options = decode<TableOptions>(to_node(recipe));
  expect_columns(read_table(CsvSource(options.file), options).fit, c.expect);
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

namespace {

std::vector<std::string> tokens_of(const json& recipe, const std::string& text) {
  Tokens tokens;
  catalog<Tokenizer>().build(fragment<Tokenizer>(recipe))->tokenize(text, tokens);
  return {tokens.list.begin(), tokens.list.end()};
}

/// Rules with the text left whole: cutting at spaces and joining again loses nothing.
std::string ruled(const json& rules, const std::string& text) {
  return join(tokens_of({{"type", "fastai"}, {"rules", rules}, {"split", "spaces"}}, text), " ");
}

}  // namespace

GOLDEN(tabular_text, tokens) {
  const std::string text = c.input.at("text");
  json rules;
  for (const auto name : names(TextRule{})) {
    const std::string rule(name);
    rules.push_back(rule);
    EXPECT_EQ(ruled({rule}, text), c.expect.at(rule)) << rule;
  }
  EXPECT_EQ(ruled(rules, text), c.expect.at("all_rules"));
  EXPECT_EQ(json(tokens_of({{"type", "fastai"}, {"split", "spaces"}}, text)),
            c.expect.at("basic_tokens"));
}

GOLDEN(tabular_text, vocabulary) {
  std::vector<std::vector<std::string>> texts;
  Words seen;
  std::vector<TokenCount> counts;
  for (const auto& text : c.input.at("texts"))
    texts.push_back(tokens_of({{"type", "fastai"}, {"split", "spaces"}}, text));
  for (const auto& text : texts)
    for (const auto& token : text) {
      const auto number = seen.add(token);
      if (number == counts.size()) counts.push_back({seen[number], 0});
      ++counts[number].count;
    }
  const VocabularyOptions options{c.input.at("min_freq"), c.input.at("max_vocab")};
  const Vocabulary vocabulary(make_vocabulary(counts, fastai_special_tokens(), options), 0);
  EXPECT_EQ(json(vocabulary.tokens()), c.expect.at("vocabulary"));
  for (const std::size_t which : {0, 3}) {
    std::vector<std::int64_t> ids;
    for (const auto& token : texts[which]) ids.push_back(vocabulary.number(token));
    EXPECT_EQ(json(ids), c.expect.at("ids_of_text" + std::to_string(which)));
  }
}

GOLDEN(tabular_text, padding) {
  const auto documents = c.input.at("sequences").get<std::vector<std::vector<std::int32_t>>>();
  std::size_t longest = 0;
  for (const auto& document : documents) longest = std::max(longest, document.size());
  const auto filled = [&](const json& recipe) {
    const auto options = decode<PaddingOptions>(to_node(recipe));
    json rows;
    for (const auto& document : documents) {
      std::vector<std::int64_t> row(longest);
      fill_row(document, row, c.input.at("pad_id"), options);
      rows.push_back(row);
    }
    return rows;
  };
  EXPECT_EQ(filled({{"side", "last"}}), c.expect.at("pad_end"));
  EXPECT_EQ(filled({{"side", "first"}}), c.expect.at("pad_first"));
  for (const int chunk : {3, 10, 72})
    EXPECT_EQ(filled({{"side", "chunks"}, {"chunk", chunk}}),
              c.expect.at("pad_chunk_seq" + std::to_string(chunk)));
}

GOLDEN(tabular_text, sorted_loader) {
  const auto lengths = c.input.at("lengths").get<std::vector<std::int64_t>>();
  const std::int64_t batch = c.input.at("batch");
  const auto wanted = c.expect.at("order").get<std::vector<std::int64_t>>();
  if (c.input.at("shuffle")) {  // the draws are given: what remains is the arithmetic
    const LengthOrder parts{batch, 50, c.input.at("permutation").get<std::vector<std::int64_t>>()};
    const auto shuffled = c.input.at("batch_permutation").get<std::vector<std::int64_t>>();
    EXPECT_EQ(shuffled.size(), fastai_batches(static_cast<std::int64_t>(lengths.size()), batch));
    EXPECT_EQ(fastai_order(lengths, parts, shuffled), wanted);
    return;
  }
  SamplerContext context{static_cast<std::int64_t>(lengths.size()), {}, 0, lengths, batch};
  const auto choice = fragment<Sampler>({{"type", "length_sorted"}, {"shuffle", false}});
  EXPECT_EQ(catalog<Sampler>().build(choice, context)->order(3), wanted);
}

}  // namespace ddptrain::golden
