#include "sources/files/mapped_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/files/files.h"
#include "sources/archives.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

constexpr std::size_t mebibyte = 1 << 20;

std::string text_of(const MappedFile& file) { return {file.bytes().begin(), file.bytes().end()}; }

std::string refusal_of(const std::string& path) {
  try {
    const MappedFile file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "none";
}

/// Members of 8 MiB of zeros, each a thousandth of that, which gzip reads as one file.
std::string write_zeros(const TemporaryFolder& folder, int members) {
  write_gzip(folder / "member", std::string(8 * mebibyte, '\0'));
  const auto member = read_text(folder / "member");
  std::string file;
  for (int i = 0; i < members; ++i) file += member;
  return folder.write("zeros.gz", file);
}

TEST(MappedFile, InflatesWhatIsPackedInOneOrSeveralMembers) {
  const TemporaryFolder folder;
  std::string text;
  for (unsigned i = 0; i < 400'000; ++i) text += std::to_string(i * 7919 % 100'003) + ",";
  write_gzip(folder / "a", text);
  EXPECT_EQ(text_of(MappedFile(folder / "a")), text);
  folder.write("two", read_text(folder / "a") + read_text(folder / "a"));
  MappedFile two(folder / "two");
  const MappedFile moved(std::move(two));
  EXPECT_EQ(text_of(moved), text + text);
}

TEST(MappedFile, SmallFilesMayBecomeSixtyFourMebibytes) {
  const TemporaryFolder folder;
  const MappedFile file(write_zeros(folder, 8));
  EXPECT_EQ(file.bytes().size(), 64 * mebibyte);
}

TEST(MappedFile, ABombIsRefusedAndCostsLittle) {
  const TemporaryFolder folder;
  const auto path = write_zeros(folder, 120);  // 1 MB that become 960 MiB
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const auto message = refusal_of(path);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_THAT(message, HasSubstr("'" + path + "' has "));
  EXPECT_THAT(message, HasSubstr("unpacked (gzip); if that is right, unpack it with gunzip"));
  EXPECT_LT((after.ru_maxrss - before.ru_maxrss) << 10, 256'000'000);
}

TEST(MappedFile, SaysWhatIsWrongWithAPackedFile) {
  const TemporaryFolder folder;
  write_gzip(folder / "whole", std::string(1000, 'a'));
  const auto whole = read_text(folder / "whole");
  EXPECT_THAT(refusal_of(folder.write("cut", whole.substr(0, whole.size() - 9))),
              HasSubstr("cut short or damaged (gzip)"));
  write_gzip(folder / "nothing", "");
  EXPECT_EQ(refusal_of(folder / "nothing"), "'" + (folder / "nothing") + "' is empty");
}

}  // namespace
}  // namespace ddptrain
