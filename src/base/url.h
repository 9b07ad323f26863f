// Whether a text is a URL rather than a path.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace ddptrain {

/// "s3" of "s3://bucket/runs" (RFC 3986); empty where the text does not begin with a scheme and
/// "://".
inline std::string_view url_scheme(std::string_view text) {
  const auto end = text.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  const auto scheme = text.substr(0, end);
  const bool letters = std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '+' || c == '-' || c == '.';
  });
  return letters && std::isalpha(static_cast<unsigned char>(scheme[0])) ? scheme
                                                                        : std::string_view();
}

}  // namespace ddptrain
