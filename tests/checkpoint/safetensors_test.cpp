#include "checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "tensors.h"

namespace ddptrain {
namespace {

std::string with_length(const std::string& json) {
  const std::uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json;
}

/// What the reader says of these bytes, behind the file's name.
std::string refused_safetensors(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto file = folder / "x.safetensors";
  write_bytes(file, bytes);
  try {
    read_safetensors(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    const auto start = "'" + file + "' is no sound safetensors file: ";
    EXPECT_THAT(error.what(), testing::StartsWith(start));
    return std::string(error.what()).substr(start.size());
  }
  return "";
}

TEST(Safetensors, HaveTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{{"w", ramp({2})}}, {{"format", "pt"}}});
  // The example layout of the format's description: length, JSON padded with blanks, data.
  std::string json =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const float values[] = {0, 1};
  EXPECT_EQ(read_bytes(folder / "a"),
            with_length(json) + std::string(reinterpret_cast<const char*>(values), 8));
}

TEST(Safetensors, ComeBackInOrderWithEveryType) {
  const TemporaryFolder folder;
  Safetensors content;
  content.metadata = {{"step", "7"}};
  content.tensors = {{"flag", ramp({3}, at::kBool)},
                     {"byte", ramp({5}, at::kByte)},
                     {"half", ramp({3, 2}, at::kHalf)},
                     {"brain", ramp({2}, at::kBFloat16)},
                     {"long", ramp({}, at::kLong)},
                     {"double", ramp({1, 1}, at::kDouble)},
                     {"empty", ramp({0, 3})},
                     {"int", ramp({2}, at::kInt)},
                     {"short", ramp({2}, at::kShort)},
                     {"char", ramp({2}, at::kChar)},
                     {"float", ramp({2, 3, 4}).transpose(0, 2)}};
  write_safetensors(folder / "a", content);
  const auto back = read_safetensors(folder / "a");
  EXPECT_EQ(back.metadata, content.metadata);
  ASSERT_EQ(back.tensors.size(), content.tensors.size());
  for (std::size_t i = 0; i < back.tensors.size(); ++i) {
    EXPECT_EQ(back.tensors[i].name, content.tensors[i].name);
    EXPECT_EQ(back.tensors[i].tensor.scalar_type(), content.tensors[i].tensor.scalar_type());
    EXPECT_TRUE(back.tensors[i].tensor.equal(content.tensors[i].tensor)) << back.tensors[i].name;
  }
}

TEST(Safetensors, AreTheSameBytesForTheSameTensors) {
  const TemporaryFolder folder;
  const Safetensors content{small_checkpoint(3).model, {{"b", "2"}, {"a", "1"}}};
  write_safetensors(folder / "a", content);
  write_safetensors(folder / "b", content);
  EXPECT_EQ(read_bytes(folder / "a"), read_bytes(folder / "b"));
}

TEST(Safetensors, RefuseHostileHeaders) {
  const auto entry = [](const std::string& body) {
    return with_length("{\"w\":{" + body + "}}") + std::string(8, '\0');
  };
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  EXPECT_EQ(refused_safetensors(entry(good)), "");
  EXPECT_EQ(refused_safetensors(""), "it has only 0 bytes");
  EXPECT_EQ(refused_safetensors(std::string(8, '\xff')),
            "its header claims 18446744073709551615 bytes");
  EXPECT_EQ(refused_safetensors(with_length("{}").substr(0, 9)), "its header is cut short");
  EXPECT_EQ(refused_safetensors(with_length("{nonsense}")), "its header is not JSON");
  EXPECT_EQ(refused_safetensors(with_length("[]")), "its header does not begin with '{'");
  EXPECT_EQ(refused_safetensors(with_length("{}") + "x"), "it has 1 byte behind its last tensor");
  EXPECT_EQ(refused_safetensors(with_length("{}") + "xy"), "it has 2 bytes behind its last tensor");
  EXPECT_EQ(refused_safetensors(entry(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])")),
            "tensor 'w' has the unknown dtype \"F33\"");
  EXPECT_EQ(refused_safetensors(entry(R"("shape":[2],"data_offsets":[0,8])")),
            "tensor 'w' has no dtype");
  EXPECT_EQ(refused_safetensors(entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])")),
            "tensor 'w' has a shape and data_offsets that disagree");
  EXPECT_EQ(refused_safetensors(entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])")),
            "tensor 'w' has -2 in its shape");
  EXPECT_EQ(refused_safetensors(entry(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])")),
            "tensor 'w' has 2.0 in its shape");
  EXPECT_EQ(refused_safetensors(entry(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])")),
            "tensor 'w' runs out of the file");
  EXPECT_EQ(refused_safetensors(entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])")),
            "tensor 'w' has data_offsets that are no range");
  EXPECT_EQ(refused_safetensors(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])")),
            "tensor 'w' follows a gap");
  EXPECT_EQ(refused_safetensors(
                entry(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])")),
            "tensor 'w' has a shape whose size overflows");
  EXPECT_EQ(refused_safetensors(
                entry(R"("dtype":"F32","shape":[0,4611686018427387904,4],"data_offsets":[0,0])")),
            "tensor 'w' has a shape whose size overflows");
  EXPECT_EQ(refused_safetensors(entry(good + R"(,"extra":1)")),
            "tensor 'w' has the unknown key 'extra'");
  EXPECT_EQ(refused_safetensors(with_length("{\"w\":{" + good + "},\"w\":{" + good + "}}") +
                                std::string(8, '\0')),
            "'w' comes twice in its header");
  EXPECT_EQ(refused_safetensors(with_length("{\"v\":{" + good + "},\"w\":{" + good + "}}") +
                                std::string(8, '\0')),
            "tensor 'w' overlaps another tensor");
  EXPECT_EQ(refused_safetensors(with_length(R"({"__metadata__":{"a":1}})")),
            "'a' in its '__metadata__' is not text");
  EXPECT_EQ(refused_safetensors(with_length("{\"w\":" + std::string(100000, '[') + "}")),
            "tensor 'w' is not described by an object");
  EXPECT_EQ(refused_safetensors(entry(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])")),
            "its header is nested too deeply");
}

TEST(Safetensors, HoldNoComplexNumbers) {
  const TemporaryFolder folder;
  const auto file = folder / "x.safetensors";
  EXPECT_THAT(
      [&] {
        write_safetensors(file, {{{"w", ramp({1}, at::kComplexFloat)}}, {}});
      },
      testing::ThrowsMessage<Error>("'" + file + "' cannot hold tensor 'w' of type ComplexFloat"));
}

TEST(Safetensors, NameAMissingFileAndAFolder) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_safetensors(folder / "none"), Error);
  EXPECT_THROW(read_safetensors(folder.path()), Error);
}

}  // namespace
}  // namespace ddptrain
