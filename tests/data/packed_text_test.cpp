#include "data/packed_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "data/numericalize.h"
#include "support/node.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

TextPack small_pack() {
  TextPack pack;
  pack.classes = {"neg", "pos"};
  pack.tokens = {"xxunk", "xxpad", "a"};
  pack.padding = 1;
  pack.notes = {"a note"};
  pack.parts[0] = {{{"t/1", 0}, {"t/22", 1}}, {2, 5}, {2, 0, 2, 2, 0}};
  pack.parts[1] = {{{"v/1", 1}}, {1}, {2}};
  return pack;
}

void expect_small_pack(const PackedText& text) {
  EXPECT_EQ(text.classes(), (std::vector<std::string>{"neg", "pos"}));
  EXPECT_EQ(text.tokens().size(), 3);
  EXPECT_EQ(text.padding(), 1);
  EXPECT_EQ(text.notes(), (std::vector<std::string>{"a note"}));
  ASSERT_EQ(text.size(0), 2);
  ASSERT_EQ(text.size(1), 1);
  const auto second = text.document(0, 1);
  EXPECT_EQ(std::vector<std::int32_t>(second.begin(), second.end()),
            (std::vector<std::int32_t>{2, 2, 0}));
  EXPECT_EQ(text.name(0, 1), "t/22");
  EXPECT_EQ(text.label(0, 1), 1);
  EXPECT_EQ(text.name(1, 0), "v/1");
}

TEST(CachedText, IsMadeOnceAndReadAfterwards) {
  const TemporaryFolder folder;
  int made = 0;
  const auto make = [&] {
    ++made;
    return small_pack();
  };
  expect_small_pack(cached_text(folder / "deep/cache", "key", make));
  expect_small_pack(cached_text(folder / "deep/cache", "key", make));
  EXPECT_EQ(made, 1);
  cached_text(folder / "deep/cache", "other", make);
  EXPECT_EQ(made, 2);
}

TEST(CachedText, IsMadeAnewWhereAByteIsWrong) {
  const TemporaryFolder folder;
  int made = 0;
  const auto make = [&] {
    ++made;
    return small_pack();
  };
  cached_text(folder.path(), "key", make);
  const auto path = text_cache_file(folder.path(), "key");
  const auto whole = read_text(path);
  int wanted = 1;
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    folder.write("key.ids", damaged);
    expect_small_pack(cached_text(folder.path(), "key", make));
    ASSERT_EQ(made, ++wanted) << "byte " << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, whole.size() - 8}) {
    folder.write("key.ids", whole.substr(0, size));
    expect_small_pack(cached_text(folder.path(), "key", make));
    ASSERT_EQ(made, ++wanted);
  }
}

TEST(CachedText, RemovesWhatAKilledProcessLeft) {
  const TemporaryFolder folder;
  folder.write("key.ids.tmp123", "half");
  folder.write("other.ids.tmp123", "not ours");
  cached_text(folder.path(), "key", small_pack);
  EXPECT_FALSE(fs::exists(folder / "key.ids.tmp123"));
  EXPECT_TRUE(fs::exists(folder / "other.ids.tmp123"));
}

TEST(CachedText, IsMadeByOneOfManyProcesses) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    const auto text = cached_text(folder.path(), "key", [&] {
      folder.write("made-by-" + std::to_string(::getpid()), "");
      ::usleep(100000);
      return small_pack();
    });
    ::_exit(text.size(0) == 2 ? 0 : 1);
  }
  for (const auto child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int makers = 0;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    makers += entry.path().filename().string().starts_with("made-by-");
  EXPECT_EQ(makers, 1);
}

TEST(CachedText, NamesAFolderThatCannotBeWritten) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  try {
    cached_text(folder / "file/below", "key", small_pack);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("data.cache: cannot write in '" + folder.path()));
  }
}

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

}  // namespace
}  // namespace ddptrain
