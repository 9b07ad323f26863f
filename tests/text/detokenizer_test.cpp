#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include "support/node.h"
#include "support/temporary_folder.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

std::unique_ptr<Tokenizer> made(const json& recipe) {
  return catalog<Tokenizer>().build(fragment<Tokenizer>(recipe));
}

std::unique_ptr<Tokenizer> from_file(const std::string& type, const std::string& name) {
  return made({{"type", type}, {"file", test::in_source("tests/golden/tokenizers/" + name)}});
}

Ids encoded(const Tokenizer& tokenizer, const std::string& text) {
  Tokens tokens;
  tokenizer.encode(text, tokens);
  return tokens.ids;
}

std::int64_t bytes_of(const Tokenizer& tokenizer, const std::string& text) {
  const auto bytes = Detokenizer(tokenizer, tokenizer.vocabulary().tokens).token_bytes();
  std::int64_t sum = 0;
  for (const auto id : encoded(tokenizer, text)) sum += bytes[static_cast<std::size_t>(id)];
  return sum;
}

constexpr const char* mixed = "The river — 東京の日本語 é 😀\n\tends: 12345 times.";

// A byte-level vocabulary loses nothing, so its tokens' bytes are the text's.
TEST(Detokenizer, CountsTheBytesOfAText) {
  const auto size = static_cast<std::int64_t>(std::string(mixed).size());
  for (const char* name : {"gpt2.json", "llama3.json", "qwen.json"})
    EXPECT_EQ(bytes_of(*from_file("bpe", name), mixed), size) << name;
  EXPECT_EQ(bytes_of(*from_file("bpe", "roberta_like.json"), mixed), size + 1);  // a space in front
  EXPECT_EQ(bytes_of(*from_file("bpe", "llama2.json"), mixed), size + 1);
  EXPECT_EQ(bytes_of(*from_file("unigram", "unigram_bytes.json"), "the  river"), 10);
  EXPECT_EQ(bytes_of(*from_file("wordpiece", "wordpiece_uncased.json"), "the rivers."), 12);
}

TEST(Detokenizer, SpecialTokensHaveNoBytes) {
  const auto llama = from_file("bpe", "llama3.json");
  const auto bytes = Detokenizer(*llama, llama->vocabulary().tokens).token_bytes();
  EXPECT_EQ(bytes.size(), 505);
  EXPECT_EQ(bytes[504], 0);                                              // <|eot_id|>
  EXPECT_EQ(bytes_of(*from_file("bpe", "gpt2_added.json"), "<ab>"), 4);  // an added word
}

TEST(Detokenizer, IdsWithoutATokenAddNothing) {
  const auto gpt2 = from_file("bpe", "gpt2.json");
  const Detokenizer detokenizer(*gpt2, gpt2->vocabulary().tokens);
  const auto ids = encoded(*gpt2, "ab");
  EXPECT_EQ(detokenizer.decode(Ids{-100, ids[0], 100'000, ids[1]}), "ab");
}

TEST(Detokenizer, BytesThatAreNoCharacterAreReplaced) {
  const auto gpt2 = from_file("bpe", "gpt2.json");
  const Detokenizer detokenizer(*gpt2, gpt2->vocabulary().tokens);
  const auto ids = encoded(*gpt2, "\xe2\x82\xac");  // €
  ASSERT_EQ(ids.size(), 3);
  EXPECT_EQ(detokenizer.decode(Ids{ids[0], ids[1]}), "\xef\xbf\xbd");
  EXPECT_EQ(detokenizer.decode(Ids{ids[1], ids[2]}), "\xef\xbf\xbd\xef\xbf\xbd");
}

std::string streamed(const Tokenizer& tokenizer, const Ids& ids) {
  const Detokenizer detokenizer(tokenizer, tokenizer.vocabulary().tokens);
  TextStream stream(detokenizer);
  std::string text;
  for (const auto id : ids) text += stream.add(id);
  return text + stream.finish();
}

TEST(TextStream, AddsUpToTheText) {
  for (const char* name : {"gpt2.json", "llama3.json", "llama2.json", "mistral_metaspace.json"}) {
    const auto tokenizer = from_file("bpe", name);
    EXPECT_EQ(streamed(*tokenizer, encoded(*tokenizer, mixed)), mixed) << name;
  }
}

TEST(TextStream, HoldsAnIncompleteCharacterUntilTheEnd) {
  const auto gpt2 = from_file("bpe", "gpt2.json");
  const Detokenizer detokenizer(*gpt2, gpt2->vocabulary().tokens);
  const auto ids = encoded(*gpt2, "a\xe2\x82\xac");
  TextStream stream(detokenizer);
  EXPECT_EQ(stream.add(ids[0]), "a");
  EXPECT_EQ(stream.add(ids[1]), "");
  EXPECT_EQ(stream.add(ids[2]), "");
  EXPECT_EQ(stream.finish(), "\xef\xbf\xbd");
  EXPECT_EQ(stream.add(ids[0]), "a");
}

TEST(TextStream, ShowsBytesThatNeverBecomeACharacter) {
  const auto gpt2 = from_file("bpe", "gpt2.json");
  const auto ids = encoded(*gpt2, "\xe2\x82\xac");
  const Ids endless(1000, ids[2]);
  std::string wanted;
  for (std::size_t i = 0; i < endless.size(); ++i) wanted += "\xef\xbf\xbd";
  EXPECT_EQ(streamed(*gpt2, endless), wanted);
}

std::string decoded(const std::vector<std::string_view>& tokens) {
  return made("fastai")->decode(tokens);
}

// The examples of fastai's documentation of decode_spec_tokens.
TEST(Fastai, DecodesItsRules) {
  EXPECT_EQ(decoded({"xxmaj", "text"}), "Text");
  EXPECT_EQ(decoded({"xxup", "text"}), "TEXT");
  EXPECT_EQ(decoded({"xxrep", "3", "a"}), "aaa");
  EXPECT_EQ(decoded({"xxwrep", "3", "word"}), "word word word");
  EXPECT_EQ(decoded({"xxrep", "3", "a", "b"}), "aaa b");
}

TEST(Fastai, DecodesWhateverAModelWrites) {
  EXPECT_EQ(decoded({"xxrep", "999999999999", "a"}), "a");
  EXPECT_EQ(decoded({"xxrep", "no", "a", "xxmaj"}), "a");
  EXPECT_EQ(decoded({"xxmaj", "xxup", "straße"}), "STRASSE");
}

TEST(Fastai, PaddingAndBeginsAreNoText) {
  const std::vector<std::string> tokens{"xxbos", "xxmaj", "it", "'s", "xxpad"};
  const auto tokenizer = made("fastai");
  const Detokenizer detokenizer(*tokenizer, tokens);
  EXPECT_EQ(detokenizer.decode(Ids{0, 1, 2, 3, 4}), "It 's");
  EXPECT_EQ(detokenizer.decode(Ids{0, 1, 2}, SpecialTokens::keep), "xxbos It");
  EXPECT_EQ(detokenizer.token_bytes(), (Ids{0, 0, 3, 3, 0}));
}

}  // namespace
}  // namespace ddptrain
