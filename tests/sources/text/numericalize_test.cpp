#include "sources/text/numericalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/files/files.h"
#include "support/node.h"
#include "support/where.h"

namespace ddptrain {
namespace {

/// Documents whose words are drawn from few, with ties of their counts.
Corpus many_documents(std::size_t count) {
  Corpus corpus;
  corpus.classes = {"a"};
  for (std::size_t i = 0; i < count; ++i)
    corpus.documents[i % 5 == 0 ? 1 : 0].push_back({std::to_string(i), 0});
  corpus.read = [](std::size_t split, std::size_t index) {
    std::string text;
    for (std::size_t k = 0; k < 5 + index % 7; ++k)
      text += "w" + std::to_string((index * 31 + k * k + 17 * split) % 97) + " ";
    return text;
  };
  return corpus;
}

TEST(Numericalize, GivesTheSameBytesForAnyNumberOfThreads) {
  const auto corpus = many_documents(2000);
  const auto tokenizer = catalog<Tokenizer>().build(fragment<Tokenizer>("fastai"));
  NumericalizeOptions options;
  options.vocabulary.min_freq = 1;
  const auto one = PackedText::encode(numericalize(corpus, *tokenizer, options));
  for (const int threads : {2, 3, 8}) {
    options.threads = threads;
    EXPECT_EQ(PackedText::encode(numericalize(corpus, *tokenizer, options)), one) << threads;
  }
}

TEST(Numericalize, NamesTheFirstBadDocumentForAnyNumberOfThreads) {
  auto corpus = many_documents(2000);
  const auto good = corpus.read;
  corpus.read = [good](std::size_t split, std::size_t index) {
    const bool bad = split == 0 && index >= 700 && index % 3 == 0;
    return bad ? std::string("\xff") : good(split, index);
  };
  const auto tokenizer = catalog<Tokenizer>().build(fragment<Tokenizer>("fastai"));
  const auto name = corpus.documents[0][702].name;
  for (const int threads : {1, 2, 5}) {
    NumericalizeOptions options;
    options.threads = threads;
    try {
      numericalize(corpus, *tokenizer, options);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(name + ": not UTF-8 text"));
    }
  }
}

TEST(Numericalize, CountsWhatItChanged) {
  auto corpus = many_documents(10);
  corpus.read = [](std::size_t split, std::size_t index) -> std::string {
    return split == 0 && index < 3 ? "caf\xe9" : index == 1 ? " \n" : "plain";
  };
  const auto tokenizer = catalog<Tokenizer>().build(fragment<Tokenizer>("fastai"));
  NumericalizeOptions options;
  options.invalid_utf8 = InvalidUtf8::replace;
  const auto pack = numericalize(corpus, *tokenizer, options);
  EXPECT_THAT(pack.notes,
              testing::ElementsAre("3 documents are not UTF-8 text; U+FFFD stands for bytes that "
                                   "are not; the first is '1'",
                                   "1 document is empty; the first is '5'"));
}

/// The texts of those cases of tests/text/tokenizer_files that are of one file, alternately for
/// training and validation.
Corpus texts_of(const std::vector<nlohmann::json>& cases) {
  Corpus corpus;
  for (std::size_t i = 0; i < cases.size(); ++i)
    corpus.documents[i % 2].push_back({std::to_string(i), 0});
  corpus.read = [&cases](std::size_t split, std::size_t index) {
    return cases[2 * index + split].at("text").get<std::string>();
  };
  return corpus;
}

TEST(Numericalize, GivesThePeersNumbersWhereTheVocabularyIsGiven) {
  const std::string folder = test::in_source("tests/text/tokenizer_files/");
  std::map<std::string, std::vector<nlohmann::json>> cases;
  for (const auto& c : nlohmann::json::parse(read_text(folder + "expected_ids.json")).at("cases"))
    cases[c.at("file")].push_back(c);
  for (const auto& [file, of_file] : cases) {
    const auto tokenizer = catalog<Tokenizer>().build(fragment<Tokenizer>(
        {{"type", file == "bert" ? "wordpiece" : "bpe"}, {"file", folder + file + ".json"}}));
    NumericalizeOptions options;
    options.skip_bad = true;  // texts without a token
    for (const int threads : {1, 3}) {
      options.threads = threads;
      const auto pack = numericalize(texts_of(of_file), *tokenizer, options);
      for (const auto& part : pack.parts)
        for (std::size_t i = 0, first = 0; i < part.ends.size(); ++i) {
          const auto& c = of_file[static_cast<std::size_t>(std::stoi(part.documents[i].name))];
          const auto last = static_cast<std::size_t>(part.ends[i]);
          EXPECT_EQ(std::vector<std::int32_t>(part.ids.begin() + first, part.ids.begin() + last),
                    c.at("ids").get<std::vector<std::int32_t>>())
              << file << ": " << c.at("text");
          first = last;
        }
    }
  }
}

}  // namespace
}  // namespace ddptrain
