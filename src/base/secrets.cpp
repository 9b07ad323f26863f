#include "base/secrets.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/text.h"

namespace ddptrain {
namespace {

/// What this process keeps to itself; the longest first, since one may begin another.
struct Secrets {
  struct LongestFirst {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };
  std::mutex mutex;
  std::map<std::string, std::string, LongestFirst> references;
};

Secrets& process_secrets() {
  static Secrets secrets;
  return secrets;
}

}  // namespace

void keep_secret(const std::string& text, const std::string& reference) {
  constexpr std::size_t shortest_searched = 4;
  if (text.empty() || text == reference) return;
  auto& secrets = process_secrets();
  const std::lock_guard lock(secrets.mutex);
  if (text.size() >= shortest_searched)
    secrets.references[text] = reference;
  else
    secrets.references["'" + text + "'"] = "'" + reference + "'";
}

// In one pass: what stands for a secret is not looked at again.
std::string without_secrets(const std::string& message) {
  auto& secrets = process_secrets();
  const std::lock_guard lock(secrets.mutex);
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    const auto stands_here = [&](const auto& secret) {
      return message.compare(at, secret.first.size(), secret.first) == 0;
    };
    const auto found =
        std::find_if(secrets.references.begin(), secrets.references.end(), stands_here);
    const bool secret = found != secrets.references.end();
    text += secret ? found->second : message.substr(at, 1);
    at += secret ? found->first.size() : 1;
  }
  return without_passwords(std::move(text));
}

std::string without_passwords(std::string text) {
  constexpr std::string_view scheme = "://", ends = "/?#\"<> \t\r\n";
  for (auto at = text.find(scheme); at != std::string::npos; at = text.find(scheme, at)) {
    at += scheme.size();
    const auto end = std::min(text.find_first_of(ends, at), text.size());
    const auto size = std::string_view(text).substr(at, end - at).rfind('@');
    if (size == std::string_view::npos) continue;
    text.replace(at, size, count_characters({text.data() + at, size}), '*');
  }
  return text;
}

std::string shown_url(const std::string& url) {
  const auto query = std::min(url.find('?'), url.find('#'));
  auto text = url.substr(0, query);
  const auto scheme = text.find("://");
  const auto host = scheme == std::string::npos ? 0 : scheme + 3;
  const auto secret = text.rfind('@');  // also where a password holds '/' or '@'
  if (secret != std::string::npos && secret >= host) text.erase(host, secret + 1 - host);
  return query == std::string::npos ? text : text + "?...";
}

}  // namespace ddptrain
