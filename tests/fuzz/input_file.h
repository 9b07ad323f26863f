// What a fuzzer makes up, as a file for readers that take a path.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain::fuzz {

/// A file in memory; it lives as long as the object.
class InputFile {
 public:
  explicit InputFile(std::string_view content);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

/// The fuzzer's bytes as text.
std::string_view text_of(const unsigned char* data, std::size_t size);

/// Ends the program, which libFuzzer reports with the input, unless the claim holds.
void claim(bool holds, const std::string& what);

}  // namespace ddptrain::fuzz

/// What libFuzzer calls with every input; each program defines it.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
