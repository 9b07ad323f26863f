#include <dlfcn.h>

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/files/plugin.h"
#include "base/secrets.h"
#include "base/url.h"
#include "sources/remote/http_files.h"

namespace ddptrain {
namespace {

constexpr const char* http_plugin_name = "libddptrain_curl.so";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string region_of(const StoreOptions& options) {
  if (options.region) return *options.region;
  for (const auto* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (auto value = from_environment(name); !value.empty()) return value;
  return "us-east-1";
}

/// RFC 3986: all but unreserved characters and '/'.
std::string percent_encoded(std::string_view key) {
  std::string text;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte < 128 && std::isalnum(byte)) ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return text;
}

HttpSettings settings_for(const std::string& url, const StoreOptions& options) {
  HttpSettings settings;
  settings.connect_seconds = settings.stall_seconds = options.timeout.count;
  settings.ca_file = from_environment("CURL_CA_BUNDLE");
  const auto key = from_environment("AWS_ACCESS_KEY_ID");
  const auto secret = from_environment("AWS_SECRET_ACCESS_KEY");
  if (url_scheme(url) != "s3" || key.empty() || secret.empty()) return settings;
  settings.sign = "aws:amz:" + region_of(options) + ":s3";
  settings.user = key + ":" + secret;
  settings.token = from_environment("AWS_SESSION_TOKEN");
  keep_secret(secret, "${AWS_SECRET_ACCESS_KEY}");
  keep_secret(settings.token, "${AWS_SESSION_TOKEN}");
  return settings;
}

}  // namespace

std::string request_url(const std::string& url, const StoreOptions& options) {
  if (url_scheme(url) != "s3") return url;
  const auto name = url.substr(5);
  const auto slash = std::min(name.find('/'), name.size());
  const auto bucket = name.substr(0, slash);
  const auto key = percent_encoded(std::string_view(name).substr(slash));
  if (!options.endpoint)
    return "https://" + bucket + ".s3." + region_of(options) + ".amazonaws.com" + key;
  auto endpoint = *options.endpoint;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint + "/" + bucket + key;
}

std::unique_ptr<const FileSystem> open_store(const std::string& url, const StoreOptions& options) {
  auto opened = open_plugin(http_plugin_name, RTLD_NOW | RTLD_LOCAL);
  const auto* plugin = table_of<HttpPlugin>(opened, http_plugin_name);
  if (plugin == nullptr)
    throw Error(Exit::data, Option{"data.url"},
                "files behind an address cannot be read: " + opened.why_not +
                    " (Debian's libcurl4 has libcurl)");
  auto client = plugin->open(settings_for(url, options));
  if (!client) throw Error(Exit::data, Option{"data.url"}, "libcurl does not start");
  const auto sleep = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  return std::make_unique<HttpFiles>(std::move(client), options, sleep);
}

}  // namespace ddptrain
