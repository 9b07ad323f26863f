// Where the compiler has no libFuzzer: runs a fuzz program on every file of a folder and on changes
// of them that are the same in every run. An input that ends the program is left in
// ./fuzz-finding.
//   fuzz_NAME FOLDER CHANGES     CHANGES of each file
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/files/files.h"
#include "base/random.h"
#include "input_file.h"

using namespace ddptrain;
namespace fs = std::filesystem;

namespace {

std::string current;  // the input that is looked at

void keep_input(int signal) {
  const int file = ::open("fuzz-finding", O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (::write(file, current.data(), current.size()) >= 0)
    std::fprintf(stderr, "the input is in ./fuzz-finding\n");
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void look_at(std::string input) {
  current = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(current.data()), current.size());
}

/// A byte changed, a piece dropped, doubled, or replaced by one of another input.
void change(std::string& text, const std::string& other, Stream& draw) {
  const auto at = draw.below(text.size() + 1);
  const auto size = std::min(draw.below(16), text.size() - at);
  const auto from = draw.below(other.size() + 1);
  switch (draw.below(5)) {
    case 0:
      text.insert(at, 1, static_cast<char>(draw.below(256)));
      break;
    case 1:
      text.erase(at, size);
      break;
    case 2:
      text.insert(at, text.substr(at, size));
      break;
    case 3:
      text.replace(at, size, other.substr(from, draw.below(64)));
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << draw.below(8)));
  }
}

}  // namespace

int main(int, char** arguments) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal, keep_input);
  std::vector<std::string> files, inputs;
  for (const auto& entry : fs::directory_iterator(arguments[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) inputs.push_back(read_text(file));
  fuzz::claim(!inputs.empty(), "the folder holds inputs");
  const auto changes = std::strtoull(arguments[2], nullptr, 10);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    look_at(inputs[i]);
    for (std::uint64_t j = 0; j < changes; ++j) {
      Stream draw(hash_text("fuzz"), i, j);
      auto input = inputs[i];
      for (auto n = 1 + draw.below(4); n > 0; --n)
        change(input, inputs[draw.below(inputs.size())], draw);
      look_at(std::move(input));
    }
  }
  std::printf("%zu files, %llu changes of each\n", inputs.size(), changes);
}
