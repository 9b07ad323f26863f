#include "checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/digest.h"

namespace ddptrain {
namespace {

/// With the digest that the text wants.
std::string signed_text(std::string text) {
  const std::string zeros(64, '0');
  const auto at = text.find(zeros);
  return text.replace(at, 64, sha256(text));
}

std::string manifest(const std::string& step, const std::string& size) {
  return signed_text(
      "{\"format\": 1, \"step\": " + step + ", \"files\": {\"w\": {\"size\": " + size +
      ", \"sha256\": \"\"}}, \"manifest_sha256\": \"" + std::string(64, '0') + "\"}\n");
}

TEST(Manifest, ReadsWholeNumbers) {
  const auto read = parse_manifest(manifest("7", "88"), "MANIFEST.json");
  EXPECT_EQ(read.step, 7);
  ASSERT_EQ(read.files.size(), 1U);
}

TEST(Manifest, RefusesOtherNumbers) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"73e40", "88"}, {"7.5", "88"}, {"-1", "88"}, {"7", "1e99"}};
  for (const auto& each : wrong) {
    const auto text = manifest(each.first, each.second);
    EXPECT_THAT([&] { parse_manifest(text, "M"); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("not a whole number")))
        << text;
  }
}

std::string refused_manifest(const std::string& members) {
  const auto text =
      signed_text("{" + members + "\"manifest_sha256\": \"" + std::string(64, '0') + "\"}\n");
  try {
    parse_manifest(text, "M");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "";
}

TEST(Manifest, OfAnotherFormatIsRefused) {
  EXPECT_EQ(refused_manifest("\"format\": 2, "), "'M' has format 2, this program reads format 1");
  EXPECT_THAT(refused_manifest(""), testing::StartsWith("'M' is no manifest of a checkpoint: "));
}

TEST(Manifest, NamesNoFileOutsideItsFolder) {
  const std::string sized = "\": {\"size\": 1, \"sha256\": \"\"}}, ";
  for (const std::string name : {"../w", "/w", ".w", ""})
    EXPECT_EQ(refused_manifest("\"format\": 1, \"step\": 1, \"files\": {\"" + name + sized),
              "'M' names a file outside its folder: '" + name + "'");
}

}  // namespace
}  // namespace ddptrain
