// Files that are part of the program: the report's style, and its script, which says what is at the
// pointer.
#pragma once

#include <string_view>

namespace ddptrain {

struct Asset {
  std::string_view text;
  std::string_view sha256;  // of the text, 64 hexadecimal digits
};

Asset report_style();
Asset report_script();

}  // namespace ddptrain
