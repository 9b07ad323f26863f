// A token file whose checksum is right, whatever else is wrong with it.
#include "sources/tokens/token_file.h"

#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/files/digest.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

/// The checksum in the last eight bytes: what is before it would otherwise never be looked at.
std::string with_checksum(std::string content) {
  if (content.size() < 8) return content;
  const auto at = content.size() - 8;
  const std::uint64_t checksum = crc32c(std::string_view(content).substr(0, at), 0);
  std::memcpy(content.data() + at, &checksum, sizeof checksum);
  return content;
}

void read_all(const TokenFile& file) {
  const auto& vocabulary = file.vocabulary();
  std::int64_t tokens = 0;
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < file.documents(); ++i) {
    ids.resize(static_cast<std::size_t>(file.length(i)));
    file.copy({i, 0, file.length(i)}, ids);
    for (const auto id : ids)
      fuzz::claim(id >= 0 && id < std::ssize(vocabulary.tokens), "ids are those of tokens");
    tokens += file.length(i);
  }
  fuzz::claim(tokens == file.tokens() && tokens > 0, "documents have all tokens");
  fuzz::claim(vocabulary.padding >= -1 && vocabulary.padding < std::ssize(vocabulary.tokens),
              "padding is a token or none");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::InputFile file(with_checksum(std::string(fuzz::text_of(data, size))));
  try {
    read_all(TokenFile(file.path()));
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the file that is wrong");
  }
  return 0;
}
