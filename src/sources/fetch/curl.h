// The program curl as a source of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launch/child_process.h"

namespace ddptrain {

/// A running curl that writes what it fetches, from byte `from` on, into output().
class Curl {
 public:
  /// Throws an Error (Exit::data) where there is no such program.
  Curl(const std::string& url, std::int64_t from, std::int64_t most);
  ~Curl();  // ends it
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;

  int output() const { return output_; }
  /// Waits for its end. Its exit status; -1 when it did not exit by itself.
  int wait();
  /// What it complained of last.
  std::string complaint() const;

 private:
  void start(const std::string& config, std::int64_t from, std::int64_t most);

  std::optional<ChildProcess> process_;
  int output_ = -1, errors_ = -1;
};

/// An option of curl's configuration file with its value in quotes.
std::string curl_option(const std::string& name, const std::string& value);

}  // namespace ddptrain
