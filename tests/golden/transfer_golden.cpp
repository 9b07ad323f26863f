// Weights of a language model for a vocabulary of other words, as fastai moves them.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/rows.h"
#include "checkpoint/weights.h"
#include "checkpoint/words_file.h"
#include "models/model.h"
#include "support/golden.h"
#include "support/node.h"
#include "train/transfer/row_names.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using WordList = std::vector<std::string>;

/// Element i of tensor k, as transfer.py has it.
at::Tensor sine_tensor(const std::vector<std::int64_t>& sizes, int k) {
  std::int64_t count = 1;
  for (const auto size : sizes) count *= size;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(std::sin(12.9898 * static_cast<double>(i) + 78.233 * k));
  return at::tensor(values, at::kDouble).to(at::kFloat).view(sizes);
}

void expect_values(const at::Tensor& tensor, const json& expected, const std::string& name) {
  const auto found = tensor.detach().to(at::kDouble).contiguous();
  const auto wanted = golden::numbers(expected);
  ASSERT_EQ(found.numel(), std::ssize(wanted)) << name;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(found.const_data_ptr<double>()[i], wanted[i], 1e-6) << name << " " << i;
}

GOLDEN(transfer, match_embeds) {
  const auto before = c.input.at("old").get<WordList>(), now = c.input.at("new").get<WordList>();
  const auto count = std::ssize(before), width = c.input.at("width").get<std::int64_t>();
  const auto match = match_names(before, now);
  for (const auto& [name, expected] : c.expect.items()) {
    const bool bias = name == "1.decoder.bias";
    const auto saved = bias ? sine_tensor({count}, 2) : sine_tensor({count, width}, 1);
    auto sizes = saved.sizes().vec();
    sizes[0] = std::ssize(now);
    expect_values(matched(saved, at::zeros(sizes), 0, match, FreshPlaces::mean), expected, name);
  }
}

std::unique_ptr<Model> awd_lstm_for(const json& input, std::int64_t words) {
  ModelContext context;
  context.data.cardinalities = {words};
  context.data.padding = 1;
  context.data.classes = {"neg", "pos"};
  context.generator = at::make_generator<at::CPUGeneratorImpl>(1);
  json recipe{{"type", "awd_lstm"}};
  for (const char* size : {"emb_sz", "n_hid", "n_layers"}) recipe[size] = input.at(size);
  return catalog<Model>().build(fragment<Model>(recipe), context);
}

GOLDEN(transfer, load_pretrained) {
  const auto file = [&](const char* key) {
    return golden::folder() + "/transfer/" + c.input.at(key).get<std::string>();
  };
  const auto now = c.input.at("new").get<WordList>();
  const auto model = awd_lstm_for(c.input, std::ssize(now));
  auto saved = read_weights(file("file"));
  drop_raw_copies(saved);
  rename(saved, model->borrowed_names());
  RowNames there, here;
  there.fitted.columns = {{"", read_words(file("words")), true}};
  here.fitted.columns = {{"", now, true}};
  const auto& entry = *catalog<Model>().find("awd_lstm");
  match_rows_by_name(saved, there, here, {*model, entry}, {.outputs = false});
  const auto fit = take_weights(saved, model->state(), {}, model->own_parts());
  EXPECT_TRUE(fit.missing.empty() && fit.reshaped.empty()) << misfit(fit);
  std::size_t compared = 0;
  for (const auto& [name, tensor] : model->state()) {
    if (!name.starts_with("0.")) continue;
    expect_values(tensor, c.expect.at(name), name);
    ++compared;
  }
  EXPECT_EQ(compared, c.expect.size());
}

}  // namespace
}  // namespace ddptrain
