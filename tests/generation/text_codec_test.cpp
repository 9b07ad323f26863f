#include "generation/text_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/node.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// Dataset::state() of a run whose texts have this vocabulary.
std::string state_of(const json& tokenizer, const std::vector<std::string>& vocabulary) {
  const auto digest = catalog<Tokenizer>().build(fragment<Tokenizer>(tokenizer))->digest();
  return json{{"tokenizer", digest},
              {"tokenizer_options", {{"type", tokenizer.at("type")}}},
              {"vocabulary", vocabulary}}
      .dump();
}

const json kFastai{{"type", "fastai"}};
const std::vector<std::string> kWordList{"xxunk",  "xxpad", "xxbos", "xxeos", "xxfld", "xxrep",
                                         "xxwrep", "xxup",  "xxmaj", "the",   "film"};

TEST(TextCodec, NumbersATextAsTrainingDid) {
  const auto state = state_of(kFastai, kWordList);
  const TextCodec codec(fragment<Tokenizer>(kFastai), fitted_tokens_of(state));
  EXPECT_THAT(codec.encode("The film was"), ElementsAre(2, 8, 9, 10, 0));
  EXPECT_EQ(codec.size(), 11);
  EXPECT_EQ(codec.padding(), 1);
  EXPECT_EQ(codec.number("film"), 10);
  EXPECT_EQ(codec.number("day"), -1);
}

TEST(TextCodec, MarksAreSpecialTokensButTheUnknownOne) {
  const auto state = state_of(kFastai, kWordList);
  const TextCodec codec(fragment<Tokenizer>(kFastai), fitted_tokens_of(state));
  EXPECT_THAT(codec.marks(), ElementsAre(1, 2, 3));
}

// The tokens around a document but for those behind it, then the text's.
TEST(TextCodec, BeginsAsADocumentOfAFileTokenizerDoes) {
  const json recipe{{"type", "wordpiece"},
                    {"file", test::in_source("tests/golden/tokenizers/wordpiece_uncased.json")}};
  const auto tokenizer = catalog<Tokenizer>().build(fragment<Tokenizer>(recipe));
  const auto& tokens = tokenizer->vocabulary().tokens;
  const TextCodec codec(fragment<Tokenizer>(recipe), fitted_tokens_of(state_of(recipe, tokens)));
  const auto numbers = codec.encode("the end");
  std::vector<std::string> names;
  for (const auto number : numbers) names.push_back(tokens.at(static_cast<std::size_t>(number)));
  EXPECT_EQ(names.front(), "[CLS]");
  names.erase(names.begin());
  Tokens cut;
  tokenizer->tokenize("the end", cut);
  EXPECT_EQ(names, std::vector<std::string>(cut.list.begin(), cut.list.end()));
}

TEST(TextCodec, RefusesAnotherTokenizer) {
  auto fitted = fitted_tokens_of(state_of(kFastai, kWordList));
  fitted.tokenizer = "another";
  try {
    const TextCodec codec(fragment<Tokenizer>(kFastai), fitted);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.option(), "data.tokenizer");
    EXPECT_THAT(error.what(), HasSubstr("it gives other tokens"));
  }
}

TEST(TextCodec, RefusesAWordWithoutANumber) {
  const std::vector<std::string> few{"xxbos", "the"};
  const TextCodec codec(fragment<Tokenizer>(kFastai), fitted_tokens_of(state_of(kFastai, few)));
  EXPECT_THROW(codec.encode("the film"), Error);
}

TEST(TextState, DiffersFromThatOfOtherData) {
  EXPECT_TRUE(is_text_state(state_of(kFastai, kWordList)));
  EXPECT_FALSE(is_text_state(""));
  EXPECT_FALSE(is_text_state(R"({"columns": []})"));
}

TEST(TextState, HasTheTokenizersOptions) {
  const auto fitted = fitted_tokens_of(state_of(kFastai, kWordList));
  EXPECT_EQ(fitted.options.find("type")->text, "fastai");
  EXPECT_EQ(fitted.vocabulary, kWordList);
}

}  // namespace
}  // namespace ddptrain
