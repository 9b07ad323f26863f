#include "sources/fetch/fetch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/long_work.h"
#include "base/secrets.h"
#include "base/text.h"
#include "sources/fetch/curl.h"

namespace ddptrain {
namespace {

constexpr int attempts = 4;
constexpr int refused = 22, no_range = 33, too_large = 63;  // curl's exit statuses

/// How one run of curl ended.
struct Ended {
  int status = 0;  // curl's, or too_large
  std::string complaint;
};

/// curl's "The requested URL returned error: 403" names the status.
std::string refusal_of_server(const std::string& complaint) {
  constexpr std::string_view before = "error: ";
  const auto start = complaint.rfind(before);
  const auto status = start == std::string::npos ? "" : complaint.substr(start + before.size());
  if (status.empty() || status == "404" || status == "410") return "the server has no such file";
  return "it is refused with status " + status;
}

/// The proxy that curl takes for https, without a password; it may be what refuses.
std::string proxy_text(int status) {
  if (status != 7 && status != refused && status != 56) return {};
  for (const auto* name : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
    if (const char* proxy = std::getenv(name); proxy && *proxy)
      return fmt::format("; {} names the proxy {}", name,
                         shown(std::string_view(proxy).substr(std::string(proxy).rfind('@') + 1)));
  return {};
}

std::string reason(const Ended& ended, std::int64_t most) {
  switch (ended.status) {
    case 1:
      return "it leads to something that is not https";
    case 3:
      return "the address is malformed";
    case 5:
      return "the proxy's name is not known";
    case 6:
      return "the host's name is not known";
    case 7:
      return "the host does not answer";
    case refused:
      return refusal_of_server(ended.complaint);
    case 28:
      return "timed out";
    case 60:
      return "the server's certificate is not trusted";
    case too_large:
      return fmt::format(
          "it is larger than it may be: more than {} bytes; data.source.size says how large it is",
          most);
    default:
      return fmt::format("curl ended with status {}{}", ended.status,
                         ended.complaint.empty() ? "" : " and '" + ended.complaint + "'");
  }
}

/// A failure that another attempt may not meet, by curl's words for --retry.
bool is_passing(int status) { return status == 18 || status == 28 || status == 56 || status == 7; }

/// The file that an earlier attempt may have begun; our own file, and no link.
class Download {
 public:
  explicit Download(const std::string& path)
      : path_(path),
        file_(::open(path.c_str(),
                     O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)) {
    struct stat about {};
    if (file_ < 0 || ::fstat(file_, &about) != 0) fail();
    size_ = about.st_size;
    if (S_ISREG(about.st_mode) && about.st_nlink == 1 && about.st_uid == ::geteuid()) return;
    ::close(file_);
    throw Error(Exit::data,
                "cannot write '{}': it belongs to another user, has several names, or is no "
                "regular file; remove it",
                path);
  }
  ~Download() { ::close(file_); }
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  std::int64_t size() const { return size_; }
  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
      size_ += written;
    }
  }
  void empty() {
    if (::ftruncate(file_, 0) != 0) fail();
    size_ = 0;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(Exit::data, "cannot write '{}': {}", path_, std::strerror(errno));
  }

  std::string path_;
  int file_;
  std::int64_t size_ = 0;
};

/// One run of curl; too_large as soon as more comes than may.
Ended fetch_once(const std::string& url, Download& into, std::int64_t most) {
  Curl curl(url, into.size(), most);
  std::vector<char> buffer(1 << 18);
  LongWork work("fetching, bytes");
  while (true) {
    const auto got = ::read(curl.output(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const int status = curl.wait();
      return {status, curl.complaint()};
    }
    if (got > most - into.size()) return {too_large, ""};
    into.add({buffer.data(), static_cast<std::size_t>(got)});
    work.did(got);
  }
}

void check_url(const std::string& url) {
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 127; };
  if (lower(url.substr(0, 8)) != "https://")
    throw Error(Exit::recipe, Option{"data.source.url"},
                "'{}' is not https; fetch the archive yourself and name it under data.source.file",
                shown_url(url));
  if (std::any_of(url.begin(), url.end(), is_control))
    throw Error(Exit::recipe, Option{"data.source.url"}, "it has characters that no address has");
}

}  // namespace

void fetch(const std::string& url, const std::string& path, std::int64_t most) {
  check_url(url);
  Download download(path);
  if (download.size() > most) download.empty();
  Ended ended;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    ended = fetch_once(url, download, most);
    const int status = ended.status;
    if (status == 0) return;
    // A server refuses to continue what is complete.
    const bool again = (status == no_range || status == refused) && download.size() > 0;
    if (again) download.empty();
    if (!again && !is_passing(status)) break;
    if (attempt < attempts) ::sleep(again ? 0 : 1U << (attempt - 1));
  }
  if (ended.status == too_large) ::unlink(path.c_str());
  throw Error(Exit::data, "cannot fetch '{}': {}{}", shown_url(url), reason(ended, most),
              proxy_text(ended.status));
}

void fetch_copy(const std::string& file, const std::string& path) {
  InputFile source(file);
  std::vector<char> buffer(1 << 20);
  Download download(path);
  download.empty();
  try {
    while (const auto got = source.read_next(buffer.data(), buffer.size()))
      download.add({buffer.data(), got});
  } catch (const Error&) {
    ::unlink(path.c_str());
    throw;
  }
}

}  // namespace ddptrain
