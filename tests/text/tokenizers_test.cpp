#include "text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/files/files.h"
#include "support/node.h"
#include "support/temporary_folder.h"
#include "support/where.h"
#include "text/vocabulary.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;

std::string file(const std::string& name) {
  return test::in_source("tests/text/tokenizer_files/" + name + ".json");
}

std::unique_ptr<Tokenizer> make(const json& recipe) {
  return catalog<Tokenizer>().build(fragment<Tokenizer>(recipe));
}

std::vector<std::string> tokens_of(const Tokenizer& tokenizer, const std::string& text) {
  Tokens tokens;
  tokenizer.tokenize(text, tokens);
  auto all = tokenizer.before();
  all.insert(all.end(), tokens.list.begin(), tokens.list.end());
  for (const auto& token : tokenizer.after()) all.push_back(token);
  return all;
}

TEST(TokenizerFile, GivesThePeersNumbers) {
  const auto cases = json::parse(read_text(file("expected_ids"))).at("cases");
  EXPECT_GT(cases.size(), 50);
  for (const auto& c : cases) {
    const std::string name = c.at("file");
    const auto tokenizer =
        make({{"type", name == "bert" ? "wordpiece" : "bpe"}, {"file", file(name)}});
    const Vocabulary vocabulary(tokenizer->vocabulary().tokens, -1);
    std::vector<std::int64_t> ids;
    for (const auto& token : tokens_of(*tokenizer, c.at("text")))
      ids.push_back(vocabulary.number(token));
    EXPECT_EQ(ids, c.at("ids").get<std::vector<std::int64_t>>()) << name << ": " << c.at("text");
  }
}

// GPT-2's own file is such a one.
TEST(TokenizerFile, ReadsAModelWithoutAType) {
  const TemporaryFolder folder;
  auto content = json::parse(read_text(file("gpt2")));
  content["model"].erase("type");
  const auto path = folder.write("t.json", content.dump());
  EXPECT_EQ(tokens_of(*make({{"type", "bpe"}, {"file", path}}), "the thing"),
            tokens_of(*make({{"type", "bpe"}, {"file", file("gpt2")}}), "the thing"));
}

TEST(TokenizerFile, OneMemoryServesSeveralTokenizers) {
  Tokens shared, own;
  for (const char* name : {"gpt2", "roberta"}) {
    const auto tokenizer = make({{"type", "bpe"}, {"file", file(name)}});
    tokenizer->encode("the thing and the thing", shared);
    tokenizer->encode("the thing and the thing", own = {});
    EXPECT_EQ(shared.ids, own.ids) << name;
  }
}

TEST(TokenizerFile, SaysWhatFillsUpRows) {
  EXPECT_EQ(make({{"type", "wordpiece"}, {"file", file("bert")}})->vocabulary().padding, "[PAD]");
  EXPECT_EQ(make({{"type", "bpe"}, {"file", file("roberta")}})->vocabulary().padding, "<pad>");
  EXPECT_EQ(make({{"type", "bpe"}, {"file", file("gpt2")}})->vocabulary().padding, "");
}

/// The message for a file in which a value was changed.
std::string complaint(const std::string& name, const std::string& type,
                      const std::function<void(json&)>& change) {
  const TemporaryFolder folder;
  auto content = json::parse(read_text(file(name)));
  change(content);
  try {
    make({{"type", type}, {"file", folder.write("t.json", content.dump())}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "nothing";
}

TEST(TokenizerFile, RefusesWhatItDoesNotKnowByItsName) {
  EXPECT_THAT(
      complaint("bert", "wordpiece", [](json& t) { t["normalizer"]["type"] = "Precompiled"; }),
      HasSubstr("t.json: normalizer: 'Precompiled' is not supported; there are Bert"));
  EXPECT_THAT(complaint("bert", "wordpiece", [](json& t) { t["normalizer"]["extra"] = 1; }),
              HasSubstr("t.json: normalizer: 'extra' is not supported"));
  EXPECT_THAT(
      complaint("words", "bpe", [](json& t) { t["normalizer"]["normalizers"][1]["type"] = "Nmt"; }),
      HasSubstr("normalizer.normalizers[1]: 'Nmt' is not supported"));
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["pre_tokenizer"]["type"] = "Unicode"; }),
              HasSubstr("pre_tokenizer: 'Unicode' is not supported"));
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["decoder"]["type"] = "CTC"; }),
              HasSubstr("decoder: 'CTC' is not supported; there are ByteLevel, "));
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["post_processor"]["type"] = "X"; }),
              HasSubstr("post_processor: 'X' is not supported"));
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["model"]["dropout"] = 0.1; }),
              HasSubstr("model.dropout: is not supported"));
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["model"]["type"] = "WordLevel"; }),
              HasSubstr("model: 'WordLevel' is not supported"));
  EXPECT_THAT(complaint("gpt2", "wordpiece", [](json&) {}),
              HasSubstr("'BPE' is what 'tokenizer: bpe' reads"));
  EXPECT_THAT(complaint("gpt2", "bpe",
                        [](json& t) {
                          t["truncation"] = {{"max_length", 5}};
                        }),
              EndsWith("t.json: truncation: is not supported; data.max_length cuts documents off"));
}

TEST(TokenizerFile, RefusesTokensThatItCannotPlace) {
  const auto added = [](const json& change) {
    return complaint("bert", "wordpiece", [&](json& t) { t["added_tokens"][0].update(change); });
  };
  EXPECT_THAT(added({{"content", ""}}), EndsWith("t.json: added_tokens[0]: 'content' is empty"));
  EXPECT_THAT(added({{"lstrip", 1}}),
              EndsWith("t.json: added_tokens[0].lstrip: is not true or false"));
  EXPECT_THAT(added({{"id", "0"}}),
              EndsWith("t.json: added_tokens[0].id: is not a whole number from 0"));
  EXPECT_THAT(complaint("bert", "wordpiece",
                        [](json& t) {
                          t["model"]["vocab"] = {{"[UNK]", 0}, {"other", 0}};
                          t["added_tokens"] = nullptr;
                        }),
              EndsWith("t.json: model.vocab: tokens '[UNK]' and 'other' have one number, 0"));
  EXPECT_THAT(complaint("bert", "wordpiece", [](json& t) { t["model"].erase("unk_token"); }),
              EndsWith("t.json: model: has no 'unk_token'"));
}

TEST(TokenizerFile, RefusesTemplatesWithoutOnePlaceForTheText) {
  const auto single = [](const json& pieces) {
    return complaint("bert", "wordpiece", [&](json& t) {
      t["post_processor"] = {{"type", "TemplateProcessing"}, {"single", pieces}};
    });
  };
  const json mark{{"SpecialToken", {{"id", "[CLS]"}}}}, text{{"Sequence", {{"id", "A"}}}};
  EXPECT_THAT(single(json::array({mark})),
              EndsWith("t.json: post_processor.single: has no 'Sequence'"));
  EXPECT_THAT(single({text, mark, text}),
              EndsWith("t.json: post_processor.single[2]: the text stands there twice"));
  EXPECT_THAT(single("A"), EndsWith("t.json: post_processor.single: is not a list"));
  EXPECT_THAT(single({mark, "A"}), EndsWith("t.json: post_processor.single[1]: is not an object"));
}

TEST(TokenizerFile, RefusesDamage) {
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["model"]["merges"][3] = "ab"; }),
              EndsWith("t.json: model.merges[3]: 'ab' is not a pair"));
  EXPECT_THAT(complaint("gpt2", "bpe",
                        [](json& t) {
                          t["model"]["merges"][3] = {"t", "qqqq"};
                        }),
              EndsWith("t.json: model.merges[3]: 'qqqq' is not in the vocabulary"));
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["model"]["vocab"]["x"] = -1; }),
              EndsWith("t.json: model.vocab: token 'x' has the number -1, which is not below 3028; "
                       "number the tokens from 0 without large gaps"));
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["model"]["vocab"]["x"] = "1"; }),
              EndsWith("t.json: model.vocab: 'x' has no whole number"));
  EXPECT_THAT(complaint("bert", "wordpiece", [](json& t) { t["model"]["unk_token"] = "<u>"; }),
              EndsWith("t.json: model.unk_token: '<u>' is not in the vocabulary"));
  EXPECT_THAT(complaint("bert", "wordpiece", [](json& t) { t["model"].erase("vocab"); }),
              EndsWith("t.json: model: has no 'vocab'"));
  const TemporaryFolder folder;
  EXPECT_THAT(complaint("bert", "wordpiece", [](json& t) { t["model"]["vocab"] = 3; }),
              EndsWith("t.json: model.vocab: is not an object"));
  EXPECT_THAT(complaint("bert", "wordpiece", [](json& t) { t["model"] = "WordPiece"; }),
              EndsWith("t.json: model: is not an object"));
  EXPECT_THROW(make({{"type", "bpe"}, {"file", folder.write("t.json", "{\"a\": ")}}), Error);
  EXPECT_THROW(make({{"type", "bpe"}, {"file", folder / "none.json"}}), Error);
}

TEST(TokenizerFile, QuotesARegularExpressionThatItCannotRun) {
  EXPECT_THAT(complaint("gpt2", "bpe",
                        [](json& t) {
                          t["pre_tokenizer"] = {{"type", "Split"},
                                                {"pattern", {{"Regex", "\\d(?=x)"}}},
                                                {"behavior", "Isolated"}};
                        }),
              EndsWith("pre_tokenizer.pattern.Regex: '\\d(?=x)' is not supported; there are those "
                       "of GPT-2, GPT-4, Llama 3 and Qwen"));
  EXPECT_THAT(complaint("gpt2", "bpe",
                        [](json& t) {
                          t["normalizer"] = {{"type", "Replace"},
                                             {"pattern", {{"Regex", "a+"}}},
                                             {"content", "b"}};
                        }),
              EndsWith("normalizer.pattern.Regex: 'a+' is not supported; there are ' {2,}' alone"));
}

// 337 bytes took 5.2 GB.
TEST(TokenizerFile, RefusesNumbersWithLargeGaps) {
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["model"]["vocab"]["x"] = 16'000'000; }),
              EndsWith("t.json: model.vocab: token 'x' has the number 16000000, which is not below "
                       "3028; number the tokens from 0 without large gaps"));
  EXPECT_THAT(complaint("gpt2", "bpe", [](json& t) { t["added_tokens"][0]["id"] = 16'000'000; }),
              EndsWith("t.json: added_tokens[0]: token '<|endoftext|>' has the number 16000000, "
                       "which is not below 3028; number the tokens from 0 without large gaps"));
  EXPECT_THAT(
      complaint("bert", "wordpiece",
                [](json& t) { t["model"]["max_input_chars_per_word"] = 1'000'000; }),
      EndsWith("t.json: model.max_input_chars_per_word: is above 1000, which would take too long"));
}

TEST(TokenizerFile, RefusesTextBehindANul) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.json", read_text(file("gpt2")) + std::string(1, '\0') + "x");
  EXPECT_THROW(make({{"type", "bpe"}, {"file", path}}), Error);
}

TEST(TokenizerFile, FindsManyAddedTokensInGoodTime) {
  const auto tokenizer = make({{"type", "wordpiece"}, {"file", file("bert")}});
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "[SEP]";
  Tokens tokens;
  tokenizer->tokenize(text, tokens);
  EXPECT_EQ(tokens.list.size(), 200'000U);
}

TEST(Bpe, JoinsAVeryLongWordInGoodTime) {
  const auto tokenizer = make({{"type", "bpe"}, {"file", file("gpt2")}});
  Tokens tokens;
  std::string text;
  while (text.size() < 2000000) text += "thethingandanother";
  tokenizer->tokenize(text, tokens);
  EXPECT_GT(tokens.list.size(), text.size() / 10);
}

std::vector<std::string> words_of(const std::string& text) {
  auto tokens = tokens_of(*make("fastai"), text);
  return {tokens.begin() + 1, tokens.end()};  // without xxbos
}

// As spaCy 3.8's blank English tokenizer has them (tabular_text.json, spacy_tokens).
TEST(Fastai, CutsWordsMuchAsSpacyDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(
      words_of("it's. I can't, they've (and) he'd"),
      (Words{"it", "'s", ".", "i", "ca", "n't", ",", "they", "'ve", "(", "and", ")", "he", "'d"}));
  EXPECT_EQ(words_of("1990s 3.14 $5.00 50% 1,234"),
            (Words{"1990s", "3.14", "$", "5.00", "50", "%", "1,234"}));
  EXPECT_EQ(words_of("line one\nline\n\ntwo"), (Words{"line", "one", "\n", "line", "\n\n", "two"}));
  EXPECT_EQ(words_of("naïve “quotes” ’"), (Words{"naïve", "“", "quotes", "”", "’"}));
  EXPECT_EQ(words_of("by u.s. and e-mail."), (Words{"by", "u.s.", "and", "e", "-", "mail", "."}));
}

TEST(Fastai, CutsAtSpacesAlone) {
  EXPECT_EQ(tokens_of(*make({{"type", "fastai"}, {"split", "spaces"}}), "It's here,\nnow"),
            (std::vector<std::string>{"xxbos", "xxmaj", "it's", "here,\nnow"}));
}

TEST(Fastai, AnEmptyTextHasOneToken) {
  for (const char* split : {"words", "spaces"})
    EXPECT_EQ(tokens_of(*make({{"type", "fastai"}, {"split", split}}), " \n ")[0], "xxbos");
}

TEST(Tokenizers, DigestsTellTheirTokensApart) {
  EXPECT_EQ(make("fastai")->digest(), make("fastai")->digest());
  EXPECT_NE(make("fastai")->digest(), make({{"type", "fastai"}, {"split", "spaces"}})->digest());
  EXPECT_NE(make("fastai")->digest(),
            make({{"type", "fastai"}, {"rules", {"lowercase"}}})->digest());
}

}  // namespace
}  // namespace ddptrain
