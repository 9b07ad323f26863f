#include "jobs/line_stream.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostLines = 4096;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // were all as long as the longest
constexpr std::size_t kPiece = std::size_t{1} << 18;
constexpr int kPause = 10;      // milliseconds after which what came is answered
constexpr int kAskAgain = 100;  // milliseconds between questions whether to stop

std::string without_carriage_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return std::string(line);
}

/// Not so files and folders, which poll() need not know.
bool may_wait(int file) {
  struct stat found {};
  return ::fstat(file, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

}  // namespace

LineStream::LineStream(int file) : file_(file), waits_(may_wait(file)) {}

NumberedLines LineStream::next(const std::function<bool()>& stop) {
  NumberedLines lines{taken_ + 1, {}};
  std::size_t longest = 0;
  while (lines.texts.size() < kMostLines && !stop()) {
    if (const auto line = whole_line()) {
      longest = std::max(longest, line->size());
      if (!lines.texts.empty() && (lines.texts.size() + 1) * longest > kMostBytes) break;
      lines.texts.push_back(without_carriage_return(*line));
      drop(line->size() + 1);
    } else if (ended_) {
      break;
    } else if (has_input(lines.texts.empty() ? kAskAgain : kPause)) {
      receive();
    } else if (!lines.texts.empty()) {
      break;
    }
  }
  taken_ += std::ssize(lines.texts);
  return lines;
}

std::optional<std::string_view> LineStream::whole_line() {
  const auto end = bytes_.find('\n', searched_);
  searched_ = std::min(end, bytes_.size());
  if (end == std::string::npos && (!ended_ || begin_ == bytes_.size())) return {};
  return std::string_view(bytes_).substr(begin_, searched_ - begin_);
}

void LineStream::drop(std::size_t bytes) {
  begin_ = std::min(begin_ + bytes, bytes_.size());
  searched_ = begin_;
}

bool LineStream::has_input(int milliseconds) const {
  if (!waits_) return true;
  pollfd asked{file_, POLLIN, 0};
  return ::poll(&asked, 1, milliseconds) > 0;  // a signal ends the wait
}

void LineStream::receive() {
  bytes_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  if (bytes_.size() > kLongestText)
    throw Error(Exit::data, "line {} of stdin is longer than {}", taken_ + 1,
                format_bytes(static_cast<std::int64_t>(kLongestText)));
  const auto before = bytes_.size();
  bytes_.resize(before + kPiece);
  const auto got = ::read(file_, bytes_.data() + before, kPiece);
  const int error = errno;
  bytes_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got == 0) ended_ = true;
  if (got < 0 && error != EINTR && error != EAGAIN)
    throw Error(Exit::data, "cannot read stdin: {}", std::generic_category().message(error));
}

}  // namespace ddptrain
