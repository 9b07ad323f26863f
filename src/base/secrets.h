// Passwords and tokens that a recipe takes from its environment: what is logged or reported is
// without them.
#pragma once

#include <string>

namespace ddptrain {

/// From now on without_secrets() puts `reference` where `text` stands. A text of fewer than four
/// bytes, which is also part of other words, is one only in quotes.
void keep_secret(const std::string& text, const std::string& reference);

/// A message without secrets: kept secrets are their references, and user and password of an
/// address are as many '*' as they have characters.
std::string without_secrets(const std::string& message);

/// The second alone, which leaves everything at its column.
std::string without_passwords(std::string text);

/// A URL without what may be secret: user, password, the values of a query.
std::string shown_url(const std::string& url);

}  // namespace ddptrain
