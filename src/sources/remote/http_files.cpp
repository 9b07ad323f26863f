#include "sources/remote/http_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "base/url.h"
#include "sources/remote/address.h"
#include "sources/remote/bucket_list.h"

namespace ddptrain {
namespace {

constexpr std::uint64_t most_range = std::uint64_t{8} << 20;  // of one request

[[noreturn]] void fail_at(const std::string& url, const std::string& why) {
  throw Error(Exit::data, "cannot read '{}': {}", shown_address(url), why);
}

bool is_passing(const HttpReply& reply) {
  const auto status = reply.status;
  return !reply.failure.empty() || status == 0 || status == 408 || status == 429 ||
         (status >= 500 && status != 501);
}

std::string refusal_text(const std::string& url, long status) {
  const auto text = fmt::format("the server refuses it ({})", status);
  if (url_scheme(url) == "s3")
    return text +
           "; set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and data.store.region (where the "
           "keys may not list, a file that is missing is refused too)";
  if (url_scheme(url) == "gs")
    return text + "; set GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, or GOOGLE_OAUTH_ACCESS_TOKEN";
  return text;
}

std::string text_of_status(const std::string& url, long status) {
  switch (status) {
    case 301:
    case 307:
      if (is_in_bucket(url))
        return fmt::format("its bucket is in another region ({}); name it in data.store.region",
                           status);
      return fmt::format("the server answers {}", status);
    case 401:
    case 403:
      return refusal_text(url, status);
    case 404:
      return "the server has no such file (404)";
    case 429:
    case 503:
      return fmt::format("the server asks for fewer requests ({})", status);
    default:
      return fmt::format("the server answers {}", status);
  }
}

std::string text_of(const std::string& url, const HttpReply& reply) {
  if (reply.stalled) return "nothing came for too long (data.store.timeout): " + reply.failure;
  return reply.failure.empty() ? text_of_status(url, reply.status) : reply.failure;
}

double random_uniform() {
  static thread_local std::mt19937_64 engine(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

/// "bytes 10-19/100": where it begins and of how many bytes it is.
struct ContentRange {
  std::uint64_t first = 0, total = 0;
};

std::optional<ContentRange> content_range(const std::string& text) {
  const auto dash = text.find('-'), slash = text.find('/');
  if (!text.starts_with("bytes ") || dash == text.npos || slash == text.npos) return {};
  const auto first = parse_integer(text.substr(6, dash - 6));
  const auto total = parse_integer(text.substr(slash + 1));
  if (!first || !total || *first < 0 || *total < 0) return {};
  return ContentRange{static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*total)};
}

/// Lists and answers may differ in the quotes.
std::string without_quotes(std::string tag) {
  std::erase(tag, '"');
  return tag;
}

FileInfo file_info(std::uint64_t size, const std::string& tag, const std::string& modified) {
  return {
      FileKind::file, size, static_cast<std::int64_t>(hash_text(tag.empty() ? modified : tag)), {}};
}

FileInfo folder_info() { return {FileKind::folder, 0, 0, "it is a folder"}; }

}  // namespace

double seconds_to_wait(std::int64_t next, double retry_after, double uniform) {
  if (retry_after > 0) return std::min(retry_after, 60.0);
  return uniform * std::min(20.0, 0.2 * std::exp2(static_cast<double>(next)));
}

HttpFiles::HttpFiles(std::unique_ptr<const HttpClient> client, StoreSpec store, Sleep sleep)
    : client_(std::move(client)), store_(std::move(store)), sleep_(std::move(sleep)) {}

/// The first answer that will not be another one soon, or the last of all attempts.
HttpReply HttpFiles::answered(const std::string& url, const HttpRequest& request) const {
  for (std::int64_t attempt = 1;; ++attempt) {
    auto reply = client_->send(request);
    const bool whole = reply.status != 206 || reply.body.size() == request.count;
    if (!is_passing(reply) && whole) return reply;
    if (attempt < store_.attempts) {
      sleep_(seconds_to_wait(attempt, reply.retry_after, random_uniform()));
      continue;
    }
    const auto why = is_passing(reply)
                         ? text_of(url, reply)
                         : fmt::format("{} of {} bytes came", reply.body.size(), request.count);
    fail_at(url, fmt::format("{}; {}", why, plural(attempt, "attempt")));
  }
}

FileInfo HttpFiles::info(const std::string& url) const { return known(url).info; }

HttpFiles::KnownFile HttpFiles::known(const std::string& address) const {
  const auto url = normal_address(address);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(url); found != known_.end()) return found->second;
    if (is_listed(url)) return {{FileKind::none, 0, 0, text_of_status(url, 404)}};
  }
  auto now = asked(url);
  const std::lock_guard lock(mutex_);
  return known_.emplace(url, std::move(now)).first->second;
}

/// Whether a list that is here would have a file. The lock is held.
bool HttpFiles::is_listed(const std::string& url) const {
  return std::any_of(listed_.begin(), listed_.end(), [&](const std::string& begin) {
    return url.starts_with(begin) && url.find('/', begin.size()) == url.npos;
  });
}

HttpFiles::KnownFile HttpFiles::asked(const std::string& url) const {
  if (is_in_bucket(url) && key_of(url).empty()) return {folder_info()};
  const auto reply = answered(url, {.url = request_url(url, store_), .head = true});
  if (reply.status == 200) {
    if (reply.length < 0) fail_at(url, "the server does not say its size");
    const auto tag = without_quotes(reply.tag);
    return {file_info(static_cast<std::uint64_t>(reply.length), tag, reply.modified), tag};
  }
  if (reply.status != 404) fail_at(url, text_of_status(url, reply.status));
  if (is_in_bucket(url) && is_folder_of_bucket(url)) return {folder_info()};
  return {{FileKind::none, 0, 0, text_of_status(url, reply.status)}};
}

/// Whether keys begin with it and '/'. Where lists are refused, a name with a dot is no folder.
bool HttpFiles::is_folder_of_bucket(const std::string& url) const {
  const auto ask = [&](const HttpRequest& request) { return answered(url, request); };
  const auto below = list_bucket(url, "", store_, ask, 1);
  const bool named_as_file = url.find('.', url.rfind('/')) != url.npos;
  if (!below.why.empty() && !(below.refused && named_as_file)) fail_at(url, below.why);
  return !below.files.empty() || !below.folders.empty();
}

std::string HttpFiles::list_beginning(const std::string& folder, const std::string& begin,
                                      const VisitEntry& visit) const {
  if (!is_in_bucket(folder))
    return "a web server does not list its files; name them by a pattern, as in "
           "'train-{000000..000099}.tar'";
  const auto ask = [&](const HttpRequest& request) { return answered(folder, request); };
  const auto found = list_bucket(folder, begin, store_, ask);
  if (!found.why.empty()) return found.why;
  if (found.files.empty() && found.folders.empty() && begin.empty())
    return "the bucket has nothing there";
  keep(folder, begin, found);
  const auto skipped = key_of(folder).empty() ? 0 : key_of(folder).size() + 1;
  const auto slash = folder.ends_with('/') ? "" : "/";
  const auto path_of = [&](const std::string& key) { return folder + slash + key.substr(skipped); };
  for (const auto& each : found.folders) visit({path_of(each), FileKind::folder});
  for (const auto& each : found.files) visit({path_of(each.key), FileKind::file});
  return {};
}

void HttpFiles::keep(const std::string& folder, const std::string& begin,
                     const BucketEntries& found) const {
  const auto bucket = bucket_of(folder) + "/";
  const std::lock_guard lock(mutex_);
  for (const auto& each : found.folders)
    known_.insert_or_assign(bucket + each, KnownFile{folder_info()});
  for (const auto& each : found.files) {
    const auto tag = without_quotes(each.tag);
    known_.insert_or_assign(bucket + each.key,
                            KnownFile{file_info(each.size, tag, each.modified), tag});
  }
  const auto key = key_of(folder);
  listed_.push_back(bucket + (key.empty() ? "" : key + "/") + begin);
}

std::string HttpFiles::read(const std::string& url, std::uint64_t offset,
                            std::uint64_t most) const {
  const auto there = known(url);
  if (there.info.kind != FileKind::file) fail_at(url, there.info.why);
  const auto size = there.info.size;
  const auto count = std::min(most, size - std::min(offset, size));
  std::string bytes;
  while (bytes.size() < count) {
    const auto next = std::min(most_range, count - bytes.size());
    bytes += read_range(url, offset + bytes.size(), next, there);
  }
  return bytes;
}

std::string HttpFiles::read_range(const std::string& url, std::uint64_t offset, std::uint64_t count,
                                  const KnownFile& there) const {
  const HttpRequest request{request_url(url, store_), false, offset, count};
  auto reply = answered(url, request);
  require_range(url, reply, request, there);
  return std::move(reply.body);
}

void HttpFiles::require_range(const std::string& url, const HttpReply& reply,
                              const HttpRequest& request, const KnownFile& there) const {
  const auto size = there.info.size;
  const auto tag = without_quotes(reply.tag);
  const bool sent = reply.status == 200 || reply.status == 206;
  if (sent && is_in_bucket(url) && !tag.empty() && !there.tag.empty() && tag != there.tag)
    fail_at(url, fmt::format("it changed while the run read it: its ETag was '{}' and is now '{}'",
                             shown(there.tag, 80), shown(tag, 80)));
  const bool whole = request.offset == 0 && request.count == size;
  if (reply.status == 200 && whole && !reply.too_long && reply.body.size() == size) return;
  if (reply.status == 200 && !whole) fail_at(url, "the server sends no ranges, only whole files");
  const auto range = content_range(reply.range);
  const auto total = range ? range->total : static_cast<std::uint64_t>(reply.body.size());
  const bool other_size =
      reply.status == 416 || reply.status == 200 || (reply.status == 206 && range && total != size);
  if (other_size)
    fail_at(url, fmt::format("the server reported {} bytes, and now {}; it changed, or the "
                             "server's sizes are wrong",
                             size, reply.status == 416 ? "less" : std::to_string(total)));
  if (reply.status != 206) fail_at(url, text_of_status(url, reply.status));
  if (reply.too_long || !range || range->first != request.offset)
    fail_at(url, fmt::format("the server sends other bytes than the {} from {} on", request.count,
                             request.offset));
}

MappedFile HttpFiles::map(const std::string& url) const {
  const auto bytes = read(url, 0, info(url).size);
  return {std::vector<std::uint8_t>(bytes.begin(), bytes.end()), url};
}

}  // namespace ddptrain
