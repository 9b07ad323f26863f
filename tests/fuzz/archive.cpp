// Archives into a folder: nothing lies outside of it afterwards, and no link leads there.
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "input_file.h"
#include "sources/fetch/unpack.h"

using namespace ddptrain;
namespace fs = std::filesystem;

namespace {

std::string scratch_folder() {
  std::string name = fs::is_directory("/dev/shm") ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX";
  fuzz::claim(::mkdtemp(name.data()) != nullptr, "a folder can be made");
  return name;
}

bool holds_only(const fs::path& folder, const std::string& name) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != name) return false;
  return true;
}

void claim_links_inside(const fs::path& root) {
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_symlink()) continue;
    std::error_code loop;
    const auto target = fs::weakly_canonical(entry.path(), loop);
    if (loop) continue;
    const auto relative = target.lexically_relative(root);
    fuzz::claim(!relative.empty() && *relative.begin() != "..", "links stay inside");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::InputFile file(fuzz::text_of(data, size));
  static const std::string outside = scratch_folder();
  const fs::path inside = outside + "/in/side";
  fs::create_directories(inside);
  try {
    claim_links_inside(unpack(file.path(), inside, {1 << 20, 100}));
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the file that is wrong");
  }
  fuzz::claim(holds_only(outside, "in") && holds_only(outside + "/in", "side"),
              "nothing lies outside");
  fs::remove_all(inside);
  return 0;
}
