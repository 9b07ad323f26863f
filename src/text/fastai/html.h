// Character references of HTML as Python's html.unescape reads them.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

/// "&amp;", "&#38;", "&#x26;" and "&ampere" (the longest name that is one) become characters; what
/// is none stays as it is.
void append_unescaped(std::string& out, std::string_view text);

/// The table behind it: names and characters (text/fastai/html_entities.cpp).
extern const char html_entities[];

}  // namespace ddptrain
