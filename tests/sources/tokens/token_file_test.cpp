#include "sources/tokens/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "sources/tokens/token_documents.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

TokenVocabulary words(std::size_t count) {
  TokenVocabulary vocabulary;
  for (std::size_t i = 0; i < count; ++i) vocabulary.tokens.push_back("w" + std::to_string(i));
  vocabulary.bytes.assign(count, 2);
  vocabulary.padding = 1;
  vocabulary.unknown = "w0";
  vocabulary.tokenizer = "a digest";
  vocabulary.tokenizer_options = R"({"type":"fastai"})";
  return vocabulary;
}

std::string written(const TemporaryFolder& folder, std::vector<Numbers> documents,
                    std::size_t vocabulary = 100) {
  const auto path = folder / "train.tokens";
  write_token_file(path, TokenDocuments(std::move(documents)), words(vocabulary));
  return path;
}

Numbers ids_of_document(const TokenFile& file, std::int64_t document) {
  Numbers ids(static_cast<std::size_t>(file.length(document)));
  file.copy({document, 0, std::ssize(ids)}, ids);
  return ids;
}

std::string complaint_about(const std::string& path) {
  try {
    const TokenFile file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "nothing";
}

/// The file with other bytes, and its checksum again right.
void change(const std::string& path, std::size_t at, const std::string& bytes) {
  auto text = read_text(path);
  text.replace(at, bytes.size(), bytes);
  const std::uint64_t checksum = crc32c(std::string_view(text).substr(0, text.size() - 8));
  std::memcpy(text.data() + text.size() - 8, &checksum, 8);
  std::ofstream(path, std::ios::binary) << text;
}

TEST(TokenFile, HasWhatWasWritten) {
  const TemporaryFolder folder;
  const TokenFile file(written(folder, {{5, 6, 7}, {}, {99}, {8, 9}}));
  EXPECT_EQ(file.documents(), 4);
  EXPECT_EQ(file.tokens(), 6);
  EXPECT_EQ(file.empty_documents(), 1);
  EXPECT_EQ(ids_of_document(file, 0), (Numbers{5, 6, 7}));
  EXPECT_EQ(ids_of_document(file, 1), Numbers());
  EXPECT_EQ(ids_of_document(file, 2), (Numbers{99}));
  Numbers part(1);
  file.copy({3, 1, 1}, part);
  EXPECT_EQ(part, (Numbers{9}));
  EXPECT_EQ(file.vocabulary().tokens, words(100).tokens);
  EXPECT_EQ(file.vocabulary().bytes, words(100).bytes);
  EXPECT_EQ(file.vocabulary().padding, 1);
  EXPECT_EQ(file.vocabulary().unknown, "w0");
  EXPECT_EQ(file.vocabulary().tokenizer, "a digest");
  EXPECT_EQ(file.vocabulary().tokenizer_options, R"({"type":"fastai"})");
}

TEST(TokenFile, HasTwoBytesForAnIdUpTo65536TokensAndFourAbove) {
  const TemporaryFolder folder;
  const std::vector<Numbers> documents{Numbers(4000, 65535)};
  const auto small = std::filesystem::file_size(written(folder, documents, 65536));
  EXPECT_EQ(ids_of_document(TokenFile(folder / "train.tokens"), 0), documents[0]);
  const auto large = std::filesystem::file_size(written(folder, documents, 65537));
  EXPECT_EQ(ids_of_document(TokenFile(folder / "train.tokens"), 0), documents[0]);
  EXPECT_NEAR(static_cast<double>(large - small), 4000 * 2, 32);
}

TEST(TokenFile, ThatWasCutIsNamed) {
  const TemporaryFolder folder;
  const auto path = written(folder, {{5, 6, 7}});
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 1);
  EXPECT_THAT(complaint_about(path),
              HasSubstr("train.tokens': torn or added to: it has " + std::to_string(size) +
                        " bytes by its header, and it has " + std::to_string(size - 1)));
  std::filesystem::resize_file(path, 40);
  EXPECT_THAT(complaint_about(path), HasSubstr("torn or added to: it is longer by its header"));
  std::filesystem::resize_file(path, 9);
  EXPECT_THAT(complaint_about(path), HasSubstr("torn"));
}

TEST(TokenFile, WithAnotherChecksumIsDamaged) {
  const TemporaryFolder folder;
  const auto path = written(folder, {{5, 6, 7}});
  auto text = read_text(path);
  text[text.size() - 10] ^= 1;
  folder.write("train.tokens", text);
  EXPECT_THAT(complaint_about(path), HasSubstr("damaged: its checksum is another one"));
}

TEST(TokenFile, NamesATokenThatTheVocabularyLacks) {
  const TemporaryFolder folder;
  const auto path = written(folder, {{5, 6, 7}, {8, 9, 10, 11, 12}});
  const auto ids_at = std::filesystem::file_size(path) - 8 - 16;
  change(path, ids_at + 8, std::string("\xe8\x03", 2));
  EXPECT_THAT(complaint_about(path),
              HasSubstr("token 4 (document 1) is 1000, and the vocabulary has 100 tokens"));
}

TEST(TokenFile, WithoutATokenIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint_about(written(folder, {})), HasSubstr("it has no documents"));
  EXPECT_THAT(complaint_about(written(folder, {{}, {}})),
              HasSubstr("all of its documents are empty"));
}

TEST(TokenFile, OfAnotherKindIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint_about(folder.write("a.txt", "some text that is no such file")),
              HasSubstr("a.txt': no token file, which 'ddptrain data tokens' writes"));
  EXPECT_THAT(complaint_about(folder / "none"), HasSubstr("none"));
}

TEST(TokenFile, WithDocumentsThatEndBeforeTheyBeginIsAnError) {
  const TemporaryFolder folder;
  const auto path = written(folder, {{5, 6, 7}, {8, 9}});
  const auto ends_at = std::filesystem::file_size(path) - 8 - 16 - 16;
  change(path, ends_at, std::string("\x09", 1));
  EXPECT_THAT(complaint_about(path), HasSubstr("document 0 ends before it begins"));
}

TEST(TokenFile, WithABrokenHeaderIsAnError) {
  const TemporaryFolder folder;
  const auto path = written(folder, {{5, 6, 7}});
  change(path, 17, "\"tokenz\"");
  EXPECT_THAT(complaint_about(path), HasSubstr("its header has no usable 'tokens'"));
  change(path, 16, "[");
  EXPECT_THAT(complaint_about(path), HasSubstr("its header is not JSON"));
}

}  // namespace
}  // namespace ddptrain
