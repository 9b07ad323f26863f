// Files that were made to cost much, read in a process of its own, within limits.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/error.h"
#include "checkpoint/weights.h"
#include "tensors.h"
#include "torch_bytes.h"

namespace ddptrain::hostile {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kMostSeconds = 20;
inline constexpr long kMostKilobytes = 4096L << 10;
#else
inline constexpr double kMostSeconds = 1;
inline constexpr long kMostKilobytes = 256L << 10;
#endif

inline double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

[[noreturn]] inline void read_and_say(const std::string& path, int out) {
  std::string message = "read";
  try {
    read_weights(path);
  } catch (const Error& error) {
    message = error.code() == Exit::data ? error.what() : "another error";
  } catch (const std::exception& error) {
    message = std::string("a bug: ") + error.what();
  }
  message.resize(std::min<std::size_t>(message.size(), 1000));
  ::_exit(::write(out, message.data(), message.size()) < 0);
}

struct Reading {
  std::string message;
  double seconds = 0;
  long kilobytes = 0;
};

inline Reading read_in_child(const std::string& path) {
  rusage before{}, used{};
  ::getrusage(RUSAGE_SELF, &before);
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const auto child = ::fork();
  if (child == 0) read_and_say(path, pipe[1]);
  ::close(pipe[1]);
  char buffer[1024] = {};
  const auto got = ::read(pipe[0], buffer, sizeof buffer - 1);
  ::close(pipe[0]);
  int status = 0;
  EXPECT_EQ(::wait4(child, &status, 0, &used), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return {got > 0 ? std::string(buffer) : "nothing",
          seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss - before.ru_maxrss};
}

/// What the reader says, within the limits. What else a machine does makes a process slower, never
/// faster: the best of three counts.
inline std::string said_to(const std::string& bytes, const std::string& name = "x.pth") {
  const TemporaryFolder folder;
  write_bytes(folder / name, bytes);
  auto reading = read_in_child(folder / name);
  for (int i = 1; i < 3 && reading.seconds > kMostSeconds; ++i)
    if (auto again = read_in_child(folder / name); again.seconds < reading.seconds)
      reading = std::move(again);
  EXPECT_LE(reading.seconds, kMostSeconds);
  EXPECT_LE(reading.kilobytes, kMostKilobytes);
  EXPECT_THAT(reading.message, testing::AnyOf("read", testing::HasSubstr(name)));
  return reading.message;
}

inline std::string times(std::size_t count, const std::string& piece) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += piece;
  return all;
}

inline constexpr std::size_t kMebibyte = 1 << 20;

}  // namespace ddptrain::hostile
