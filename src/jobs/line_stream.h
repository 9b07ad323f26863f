// Lines of stdin as they come.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "data/text/text_lines.h"

namespace ddptrain {

class LineStream {
 public:
  explicit LineStream(int file);

  /// Waits for a line, and takes what follows it without a pause, up to 4,096 lines; fewer of long
  /// ones. None: the input has ended, or `stop` asks for an end, as it is asked ten times a second.
  /// Lines end in LF or CR LF, the last one need not. Errors (Exit::data): the input cannot be
  /// read, or a line has more than 256 MiB.
  NumberedLines next(const std::function<bool()>& stop);

 private:
  std::optional<std::string_view> whole_line();
  void drop(std::size_t bytes);
  bool has_input(int milliseconds) const;
  void receive();

  int file_;
  bool waits_;  // a terminal, a pipe or a socket
  bool ended_ = false;
  std::string bytes_;
  std::size_t begin_ = 0;     // of the first line that was not taken
  std::size_t searched_ = 0;  // up to here no line ends
  std::int64_t taken_ = 0;
};

}  // namespace ddptrain
