#include "sources/remote/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>

#include "base/error.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/url.h"

namespace ddptrain {
namespace {

std::string first_in_environment(std::initializer_list<const char*> names) {
  for (const auto* name : names)
    if (const char* value = std::getenv(name); value && *value != '\0') return value;
  return {};
}

bool is_google(std::string_view url) { return url_scheme(url) == "gs"; }

/// Where the key begins, or the end.
std::size_t slash_of(std::string_view url) {
  return std::min(url.find('/', url_scheme(url).size() + 3), url.size());
}

/// RFC 3986: all but unreserved characters, and `also`.
std::string percent_encoded(std::string_view key, std::string_view also) {
  std::string text;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte < 128 && std::isalnum(byte)) ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       also.find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return text;
}

/// What an address of a web server may have besides, so that it stays as it is written.
constexpr std::string_view of_urls = ":/?#[]@!$&'()*+,;=%";

void require_plain_key(const std::string& url) {
  for (const auto& name : split(url.substr(slash_of(url)), '/'))
    if (name == "..")
      throw Error(Exit::data, "cannot read '{}': a key of a bucket has no '..'", url);
}

/// Without '/' at its end; the bucket is to follow. Empty: Amazon's own.
std::string endpoint_of(const std::string& url, const StoreSpec& store) {
  auto endpoint = store.endpoint.value_or("");
  if (endpoint.empty())
    endpoint = is_google(url) ? "https://storage.googleapis.com"
                              : first_in_environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint;
}

/// The address of a bucket, without '/' at its end.
std::string bucket_url(const std::string& url, const StoreSpec& store) {
  const auto bucket = bucket_of(url).substr(5);
  if (const auto endpoint = endpoint_of(url, store); !endpoint.empty())
    return endpoint + "/" + bucket;
  const auto host = "s3." + region_of(url, store) + ".amazonaws.com";
  const bool dotted = bucket.find('.') != bucket.npos;  // no certificate is for a.b.s3...
  return dotted ? "https://" + host + "/" + bucket : "https://" + bucket + "." + host;
}

}  // namespace

bool is_address(std::string_view path) {
  static constexpr std::array<std::string_view, 4> schemes{"https", "http", "s3", "gs"};
  return std::find(schemes.begin(), schemes.end(), url_scheme(path)) != schemes.end();
}

bool is_in_bucket(std::string_view path) { return path.starts_with("s3://") || is_google(path); }

std::string shown_address(const std::string& url) {
  return is_in_bucket(url) ? url : shown_url(url);
}

std::string key_of(const std::string& url) {
  auto names = split(url.substr(slash_of(url)), '/');
  std::erase_if(names, [](const auto& name) { return name.empty() || name == "."; });
  return join(names, "/");
}

std::string normal_address(const std::string& url) {
  return is_in_bucket(url) ? bucket_of(url) + "/" + key_of(url) : url;
}

std::string bucket_of(const std::string& url) { return url.substr(0, slash_of(url)); }

std::string request_url(const std::string& url, const StoreSpec& store) {
  if (!is_in_bucket(url)) return percent_encoded(url, of_urls);
  require_plain_key(url);
  return bucket_url(url, store) + "/" + percent_encoded(key_of(url), "/");
}

std::string list_url(const std::string& url, const ListRequest& request, const StoreSpec& store) {
  const auto value = [](const std::string& text) { return percent_encoded(text, {}); };
  std::string query =
      request.token.empty() ? "" : "continuation-token=" + value(request.token) + "&";
  query += fmt::format("delimiter=%2F&list-type=2&max-keys={}&prefix={}", request.most,
                       value(request.prefix));
  return bucket_url(url, store) + "/?" + query;
}

std::string region_of(const std::string& url, const StoreSpec& store) {
  if (store.region) return *store.region;
  if (is_google(url)) return "auto";
  const auto named = first_in_environment({"AWS_REGION", "AWS_DEFAULT_REGION"});
  return named.empty() ? "us-east-1" : named;
}

}  // namespace ddptrain
