#include "sources/remote/http_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "base/random.h"
#include "base/secrets.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::uint64_t most_range = std::uint64_t{8} << 20;  // of one request

[[noreturn]] void fail_at(const std::string& url, const std::string& why) {
  throw Error(Exit::data, "cannot read '" + shown_url(url) + "': " + why);
}

bool is_passing(const HttpReply& reply) {
  const auto status = reply.status;
  return !reply.failure.empty() || status == 0 || status == 408 || status == 429 ||
         (status >= 500 && status != 501);
}

std::string text_of_status(long status) {
  switch (status) {
    case 401:
    case 403:
      return fmt::format(
          "the server refuses it ({}); for s3:// set AWS_ACCESS_KEY_ID and "
          "AWS_SECRET_ACCESS_KEY, and data.store.region",
          status);
    case 404:
      return "the server has no such file (404)";
    case 429:
    case 503:
      return fmt::format("the server asks for fewer requests ({})", status);
    default:
      return fmt::format("the server answers {}", status);
  }
}

std::string text_of(const HttpReply& reply) {
  if (reply.stalled) return "nothing came for too long (data.store.timeout): " + reply.failure;
  return reply.failure.empty() ? text_of_status(reply.status) : reply.failure;
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

}  // namespace

double seconds_to_wait(std::int64_t next, double retry_after, double uniform) {
  if (retry_after > 0) return std::min(retry_after, 60.0);
  return uniform * std::min(20.0, 0.2 * std::exp2(static_cast<double>(next)));
}

HttpFiles::HttpFiles(std::unique_ptr<const HttpClient> client, StoreOptions options, Sleep sleep)
    : client_(std::move(client)), options_(std::move(options)), sleep_(std::move(sleep)) {}

/// The first answer that will not be another one soon, or the last of all attempts.
HttpReply HttpFiles::answered(const std::string& url, const HttpRequest& request) const {
  for (std::int64_t attempt = 1;; ++attempt) {
    auto reply = client_->send(request);
    const bool whole = reply.status != 206 || reply.body.size() == request.count;
    if (!is_passing(reply) && whole) return reply;
    if (attempt < options_.attempts) {
      sleep_(seconds_to_wait(attempt, reply.retry_after, random_uniform()));
      continue;
    }
    const auto why = is_passing(reply)
                         ? text_of(reply)
                         : fmt::format("{} of {} bytes came", reply.body.size(), request.count);
    fail_at(url, fmt::format("{}; {}", why, plural(attempt, "attempt")));
  }
}

FileInfo HttpFiles::info(const std::string& url) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(url); found != known_.end()) return found->second;
  }
  const auto reply = answered(url, {.url = request_url(url, options_), .head = true});
  FileInfo info{FileKind::none, 0, 0, text_of_status(reply.status)};
  if (reply.status == 200) {
    if (reply.length < 0) fail_at(url, "the server does not say its size");
    info = {FileKind::file,
            static_cast<std::uint64_t>(reply.length),
            static_cast<std::int64_t>(hash_text(reply.tag)),
            {}};
  } else if (reply.status != 404) {
    fail_at(url, text_of_status(reply.status));
  }
  const std::lock_guard lock(mutex_);
  return known_.emplace(url, info).first->second;
}

std::string HttpFiles::list(const std::string&, const VisitEntry&) const {
  return "a store is not listed; name its shards by a pattern, as in 'train-{000000..000099}.tar'";
}

std::string HttpFiles::read(const std::string& url, std::uint64_t offset,
                            std::uint64_t most) const {
  const auto there = info(url);
  if (there.kind != FileKind::file) fail_at(url, there.why);
  const auto count = std::min(most, there.size - std::min(offset, there.size));
  std::string bytes;
  while (bytes.size() < count) {
    const auto next = std::min(most_range, count - bytes.size());
    bytes += read_range(url, offset + bytes.size(), next, there.size);
  }
  return bytes;
}

std::string HttpFiles::read_range(const std::string& url, std::uint64_t offset, std::uint64_t count,
                                  std::uint64_t size) const {
  const HttpRequest request{request_url(url, options_), false, offset, count};
  auto reply = answered(url, request);
  require_range(url, reply, request, size);
  return std::move(reply.body);
}

void HttpFiles::require_range(const std::string& url, const HttpReply& reply,
                              const HttpRequest& request, std::uint64_t size) const {
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
  if (reply.status != 206) fail_at(url, text_of_status(reply.status));
  if (reply.too_long || !range || range->first != request.offset)
    fail_at(url, fmt::format("the server sends other bytes than the {} from {} on", request.count,
                             request.offset));
}

MappedFile HttpFiles::map(const std::string& url) const {
  const auto bytes = read(url, 0, info(url).size);
  return {std::vector<std::uint8_t>(bytes.begin(), bytes.end()), url};
}

}  // namespace ddptrain
