// Small folders of texts, and datasets of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/dataset.h"
#include "support/node.h"
#include "support/temporary_folder.h"

namespace ddptrain {

/// train/{neg,pos}/*.txt, valid/{neg,pos}/*.txt.
inline void write_reviews(const TemporaryFolder& folder) {
  folder.write("train/neg/0.txt", "bad bad film it was a bad film");
  folder.write("train/neg/1.txt", "a film of no use");
  folder.write("train/pos/0.txt", "good film");
  folder.write("train/pos/1.txt", "a good good good film and a good day");
  folder.write("valid/neg/0.txt", "bad weather");
  folder.write("valid/pos/0.txt", "a good film of today");
}

inline nlohmann::json text_recipe(const TemporaryFolder& folder) {
  return {{"type", "text_folder"},
          {"root", folder.path()},
          {"cache", folder / "cache"},
          {"vocabulary", {{"min_freq", 1}}}};
}

inline std::unique_ptr<Dataset> make_texts(const nlohmann::json& recipe,
                                           const DataContext& context = {}) {
  return catalog<Dataset>().build(fragment<Dataset>(recipe), context);
}

/// Token numbers of a sample, filled up to a length of the whole row; 0: no padding.
inline std::vector<std::int64_t> ids_of(const Dataset& data, Split split, std::int64_t index,
                                        std::int64_t length = 0) {
  auto batch = data.allocate_length(split, 1, length == 0 ? data.length(split, index) : length);
  data.load(split, index, {}, batch, 0);
  const auto& ids = batch.inputs.at(0);
  return {ids.const_data_ptr<std::int64_t>(), ids.const_data_ptr<std::int64_t>() + ids.numel()};
}

/// The same as words.
inline std::vector<std::string> words_of(const Dataset& data, Split split, std::int64_t index) {
  const auto tokens = nlohmann::json::parse(data.state()).at("vocabulary");
  std::vector<std::string> words;
  for (const auto id : ids_of(data, split, index))
    words.push_back(tokens.at(static_cast<std::size_t>(id)));
  return words;
}

/// What making them says.
inline std::string complaint_of_texts(const nlohmann::json& recipe,
                                      const DataContext& context = {}) {
  try {
    make_texts(recipe, context);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace ddptrain
