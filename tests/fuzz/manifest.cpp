// A checkpoint's MANIFEST.json. Where the input has a place for its digest, the right one is put
// there: otherwise no input would get past it.
#include "checkpoint/manifest.h"

#include "base/error.h"
#include "base/files/digest.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

std::string with_own_digest(std::string text) {
  const std::string key = "\"manifest_sha256\": \"";
  const auto found = text.rfind(key);
  if (found == std::string::npos || found + key.size() + 64 > text.size()) return text;
  text.replace(found + key.size(), 64, std::string(64, '0'));
  return text.replace(found + key.size(), 64, sha256(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    const auto manifest =
        parse_manifest(with_own_digest(std::string(fuzz::text_of(data, size))), "MANIFEST.json");
    const auto again = parse_manifest(to_text(manifest), "MANIFEST.json");
    fuzz::claim(again.step == manifest.step && again.files.size() == manifest.files.size(),
                "what was written reads as the same");
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the data that is wrong");
  }
  return 0;
}
