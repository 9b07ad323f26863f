// Texts in lines of JSON.
#include "sources/text/text_records.h"

#include "base/error.h"
#include "base/text.h"
#include "input_file.h"

using namespace ddptrain;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::InputFile file(fuzz::text_of(data, size));
  for (const auto policy : {InvalidUtf8::error, InvalidUtf8::replace}) try {
      for (const auto& record : read_json_lines(file.path(), {}, Labels::known, policy)) {
        fuzz::claim(!record.label.empty(), "a text has a class");
        fuzz::claim(!find_invalid_utf8(record.texts.at(0)), "texts are UTF-8");
      }
    } catch (const Error& error) {
      fuzz::claim(error.code() == Exit::data, "it is the data that is wrong");
    }
  return 0;
}
