#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/files/plugin.h"
#include "base/secrets.h"
#include "base/url.h"
#include "sources/remote/address.h"
#include "sources/remote/http_files.h"

namespace ddptrain {
namespace {

constexpr const char* http_plugin_name = "libddptrain_curl.so";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// One that messages do not have.
std::string secret_from_environment(const char* name) {
  auto value = from_environment(name);
  keep_secret(value, std::string("${") + name + "}");
  return value;
}

/// Signed with a pair of keys, if both are there.
void sign(HttpSettings& settings, const std::string& region, const char* key_name,
          const char* secret_name) {
  const auto key = from_environment(key_name), secret = secret_from_environment(secret_name);
  if (key.empty() || secret.empty()) return;
  settings.sign = "aws:amz:" + region + ":s3";
  settings.user = key + ":" + secret;
}

/// A token is the key itself, and is not sent in the clear, but to this machine.
void require_encryption(const std::string& url, const StoreSpec& store) {
  const auto sent = request_url(url, store);
  const bool safe = sent.starts_with("https://") || sent.starts_with("http://127.0.0.1:") ||
                    sent.starts_with("http://localhost:");
  if (!safe)
    throw Error(Exit::data, Option{"data.store.endpoint"},
                "GOOGLE_OAUTH_ACCESS_TOKEN is sent over https:// alone");
}

HttpSettings settings_for(const std::string& url, const StoreSpec& store) {
  HttpSettings settings;
  settings.connect_seconds = settings.stall_seconds = store.timeout.count;
  settings.ca_file = from_environment("CURL_CA_BUNDLE");
  const auto region = region_of(url, store);
  if (url_scheme(url) == "s3") {
    sign(settings, region, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
    if (!settings.sign.empty()) settings.token = secret_from_environment("AWS_SESSION_TOKEN");
  } else if (url_scheme(url) == "gs") {
    sign(settings, region, "GS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY");
    if (settings.sign.empty())
      settings.bearer = secret_from_environment("GOOGLE_OAUTH_ACCESS_TOKEN");
    if (!settings.bearer.empty()) require_encryption(url, store);
  }
  return settings;
}

}  // namespace

std::unique_ptr<const FileSystem> open_store(const std::string& url, const StoreSpec& store) {
  auto opened = open_plugin(http_plugin_name, RTLD_NOW | RTLD_LOCAL);
  const auto* plugin = table_of<HttpPlugin>(opened, http_plugin_name);
  if (plugin == nullptr)
    throw Error(Exit::data, "'{}' cannot be read: {} (Debian's libcurl4 has libcurl)",
                shown_address(url), opened.why_not);
  auto client = plugin->open(settings_for(url, store));
  if (!client)
    throw Error(Exit::data, "'{}' cannot be read: libcurl does not start", shown_address(url));
  const auto sleep = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  return std::make_unique<HttpFiles>(std::move(client), store, sleep);
}

}  // namespace ddptrain
