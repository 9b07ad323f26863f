// HTTP transfers by libcurl.
#include "sources/curl/plugin.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace ddptrain {
namespace {

/// SHA-256 of nothing: what a request without a body is signed with.
constexpr const char* empty_hash =
    "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// A transfer under way.
struct Transfer {
  HttpReply reply;
  std::uint64_t most = 0;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

/// The value of a header line of that name; nothing of another.
std::string_view value_of(std::string_view line, std::string_view name) {
  const auto same = [](char a, char b) { return std::tolower(a) == b; };
  const bool is_it = line.size() > name.size() && line[name.size()] == ':' &&
                     std::equal(name.begin(), name.end(), line.begin(),
                                [&](char b, char a) { return same(a, b); });
  return is_it ? trimmed(line.substr(name.size() + 1)) : std::string_view();
}

std::size_t take_header(char* data, std::size_t size, std::size_t count, void* to) {
  auto& reply = static_cast<Transfer*>(to)->reply;
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) reply = {};  // of the answer after a redirect
  if (const auto range = value_of(line, "content-range"); !range.empty()) reply.range = range;
  if (const auto tag = value_of(line, "etag"); !tag.empty()) reply.tag = tag;
  const auto modified = value_of(line, "last-modified");
  if (!modified.empty()) reply.modified = modified;
  if (const auto wait = value_of(line, "retry-after"); !wait.empty())
    reply.retry_after = std::strtod(std::string(wait).c_str(), nullptr);
  return size * count;
}

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  const auto bytes = size * count;
  const auto room =
      transfer.most - std::min<std::uint64_t>(transfer.most, transfer.reply.body.size());
  transfer.reply.body.append(data, std::min<std::size_t>(bytes, room));
  transfer.reply.too_long = bytes > room;
  return transfer.reply.too_long ? 0 : bytes;
}

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(HttpSettings settings) : settings_(std::move(settings)) {
    if (!settings_.token.empty()) add_header("x-amz-security-token: " + settings_.token);
    if (!settings_.sign.empty()) add_header(empty_hash);
    if (!settings_.bearer.empty()) add_header("Authorization: Bearer " + settings_.bearer);
  }
  ~CurlClient() override {
    for (auto* handle : idle_) curl_easy_cleanup(handle);
    curl_slist_free_all(headers_);
  }

  HttpReply send(const HttpRequest& request) const override {
    CURL* handle = take();
    if (handle == nullptr) return {.failure = "out of memory"};
    Transfer transfer;
    transfer.most = request.count;
    char why[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, why);
    set_up(handle, request, transfer);
    const auto code = curl_easy_perform(handle);
    finish(handle, code, why, transfer.reply);
    give_back(handle);
    return std::move(transfer.reply);
  }

 private:
  void add_header(const std::string& line) { headers_ = curl_slist_append(headers_, line.c_str()); }

  void set_up(CURL* handle, const HttpRequest& request, Transfer& transfer) const {
    curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    // A signature or token is for one host, and is not sent to another.
    const bool open = settings_.sign.empty() && settings_.bearer.empty();
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, open ? 1L : 0L);
    curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(settings_.connect_seconds));
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME,
                     std::max(1L, std::lround(settings_.stall_seconds)));
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_);
    if (!settings_.ca_file.empty())
      curl_easy_setopt(handle, CURLOPT_CAINFO, settings_.ca_file.c_str());
    if (request.head) curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    if (request.count > 0 && request.ranged) {
      const auto range = fmt::format("{}-{}", request.offset, request.offset + request.count - 1);
      curl_easy_setopt(handle, CURLOPT_RANGE, range.c_str());
    }
    if (settings_.sign.empty()) return;
    curl_easy_setopt(handle, CURLOPT_AWS_SIGV4, settings_.sign.c_str());
    curl_easy_setopt(handle, CURLOPT_USERPWD, settings_.user.c_str());
  }

  static long milliseconds(double seconds) { return std::max(1L, std::lround(1000 * seconds)); }

  static void finish(CURL* handle, CURLcode code, const char* why, HttpReply& reply) {
    curl_off_t length = -1;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &reply.status);
    curl_easy_getinfo(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    reply.length = length;
    if (code == CURLE_OK || reply.too_long) return;
    reply.failure = *why != '\0' ? why : curl_easy_strerror(code);
    reply.stalled = code == CURLE_OPERATION_TIMEDOUT;
  }

  CURL* take() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return curl_easy_init();
    CURL* handle = idle_.back();
    idle_.pop_back();
    return handle;
  }

  /// Its connections stay open for the next request.
  void give_back(CURL* handle) const {
    curl_easy_reset(handle);
    const std::lock_guard lock(mutex_);
    idle_.push_back(handle);
  }

  HttpSettings settings_;
  curl_slist* headers_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::vector<CURL*> idle_;
};

std::unique_ptr<HttpClient> open_http(const HttpSettings& settings) {
  static const auto ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  return ready == CURLE_OK ? std::make_unique<CurlClient>(settings) : nullptr;
}

}  // namespace
}  // namespace ddptrain

extern "C" __attribute__((visibility("default"))) const ddptrain::HttpPlugin*
ddptrain_curl_plugin() {
  static const ddptrain::HttpPlugin plugin{ddptrain::HttpPlugin::current, ddptrain::open_http};
  return &plugin;
}
