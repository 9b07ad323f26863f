// Which operators took the time of a profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

/// An event of a trace. Those of a thread nest. Times are nanoseconds.
struct TracedEvent {
  std::string name;
  std::uint64_t thread = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct OperatorTime {
  std::string name;
  std::int64_t calls = 0;
  std::uint64_t self = 0;  // nanoseconds, without the events within it
};

/// Those that took the most time themselves, the longest first; events of one name are one.
std::vector<OperatorTime> slowest(std::vector<TracedEvent> events, std::size_t most);

/// A line for each, with its share of `total` nanoseconds; the first names the columns.
std::vector<std::string> to_lines(const std::vector<OperatorTime>& operators, std::uint64_t total,
                                  std::size_t columns = 0);

}  // namespace ddptrain
