#include "sources/fetch/package_index.h"

#include "base/text.h"
#include "base/url.h"

namespace ddptrain {
namespace {

std::string without_entities(std::string text) {
  constexpr std::string_view ampersand = "&amp;";
  for (auto at = text.find(ampersand); at != std::string::npos; at = text.find(ampersand, at + 1))
    text.replace(at, ampersand.size(), "&");
  return text;
}

/// RFC 3986, section 5; curl takes `..` out of a path.
std::string absolute_link(const std::string& link, const std::string& address) {
  if (!url_scheme(link).empty()) return link;
  const auto host = address.find("//") + 2;
  if (link.starts_with("//")) return address.substr(0, host - 2) + link;
  if (link.starts_with("/")) return address.substr(0, address.find('/', host)) + link;
  return address.substr(0, address.rfind('/') + 1) + link;
}

}  // namespace

std::vector<PinnedWheel> pinned_wheels(std::string_view requirements) {
  constexpr std::string_view equals = "==", hash = " --hash=sha256:";
  std::vector<PinnedWheel> wheels;
  for (const auto& line : split(requirements, '\n')) {
    const auto version = line.find(equals), digest = line.find(hash);
    if (line.starts_with('#') || version == std::string::npos || digest == std::string::npos)
      continue;
    const auto after = version + equals.size();
    wheels.push_back({line.substr(0, version), line.substr(after, digest - after),
                      std::string(trim(line.substr(digest + hash.size())))});
  }
  return wheels;
}

std::string link_with_digest(std::string_view page, const std::string& address,
                             const std::string& sha256) {
  const auto end = page.find("#sha256=" + sha256);
  if (end == std::string_view::npos) return {};
  const auto quote = page.find_last_of("\"'", end);
  if (quote == std::string_view::npos) return {};
  return absolute_link(without_entities(std::string(page.substr(quote + 1, end - quote - 1))),
                       address);
}

}  // namespace ddptrain
