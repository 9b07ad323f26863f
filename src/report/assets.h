// Files that are part of the program: the report's style, and its script, which says what is at the
// pointer.
#pragma once

#include <string_view>

namespace ddptrain {

std::string_view report_style();
std::string_view report_script();

}  // namespace ddptrain
