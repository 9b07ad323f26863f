// A page of a bucket's list. What is read of it is no longer than the page.
#include "sources/remote/list_page.h"

#include "input_file.h"

using namespace ddptrain;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto page = parse_list_page(text);
  std::size_t read = page.next.size();
  for (const auto& object : page.objects) {
    fuzz::claim(!object.key.empty(), "a file has a key");
    read += object.key.size() + object.tag.size() + object.modified.size();
  }
  for (const auto& prefix : page.prefixes) read += prefix.size();
  fuzz::claim(read <= size, "nothing is made up");
  fuzz::claim(error_code_of(text).size() <= 64, "a code is short");
  return 0;
}
