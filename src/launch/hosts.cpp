#include "launch/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostHosts = 65'536;  // Slurm's own MAX_RANGE
constexpr std::size_t kMostDigits = 18;

[[noreturn]] void refuse_nodes(const std::string& nodes, const std::string& why) {
  const auto shown = nodes.size() > 60 ? nodes.substr(0, 60) + "..." : nodes;
  throw Error(Exit::recipe, "Slurm's node list '{}' cannot be read: {}", shown, why);
}

std::string padded(std::int64_t number, std::size_t width) {
  auto text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

/// Splits at commas that no bracket holds.
std::vector<std::string> outer_parts(const std::string& nodes) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : nodes) {
    if (c == '[' && ++depth > 1) refuse_nodes(nodes, "a bracket in a bracket");
    if (c == ']' && --depth < 0) refuse_nodes(nodes, "']' without '['");
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (depth != 0) refuse_nodes(nodes, "']' is missing");
  std::erase_if(parts, [](const std::string& part) { return trim(part).empty(); });
  return parts;
}

/// "01-03,7": 01, 02, 03, 7.
std::vector<std::string> numbers_in(const std::string& ranges, const std::string& nodes) {
  std::vector<std::string> all;
  for (const auto& range : split(ranges, ',')) {
    const auto dash = range.find('-');
    const auto low = range.substr(0, dash);
    const auto high = dash == std::string::npos ? low : range.substr(dash + 1);
    const auto first = parse_integer(low), last = parse_integer(high);
    if (!first || !last || *first < 0 || *last < *first || high.size() > kMostDigits)
      refuse_nodes(nodes, fmt::format("'{}' is no range", range));
    if (static_cast<std::size_t>(*last - *first) >= kMostHosts - std::min(all.size(), kMostHosts))
      refuse_nodes(nodes, "more than 65,536 hosts");
    for (auto number = *first; number <= *last; ++number) all.push_back(padded(number, low.size()));
  }
  return all;
}

/// "rack[1-2]node[01-04]": the last bracket varies fastest.
std::vector<std::string> expanded(const std::string& part, const std::string& nodes) {
  std::vector<std::string> hosts{""};
  for (std::size_t at = 0; at < part.size();) {
    const auto open = std::min(part.find('[', at), part.size());
    const auto close = open < part.size() ? part.find(']', open) : open;
    for (auto& host : hosts) host += part.substr(at, open - at);
    at = std::min(close + 1, part.size());
    if (open == part.size()) break;
    const auto numbers = numbers_in(part.substr(open + 1, close - open - 1), nodes);
    if (hosts.size() * numbers.size() > kMostHosts) refuse_nodes(nodes, "more than 65,536 hosts");
    std::vector<std::string> longer;
    for (const auto& host : hosts)
      for (const auto& number : numbers) longer.push_back(host + number);
    hosts = std::move(longer);
  }
  return hosts;
}

/// Each once, in their order.
class Distinct {
 public:
  void add(std::string host) {
    if (!host.empty() && known_.insert(host).second) hosts_.push_back(std::move(host));
  }
  std::vector<std::string> hosts() && { return std::move(hosts_); }

 private:
  std::unordered_set<std::string> known_;
  std::vector<std::string> hosts_;
};

}  // namespace

std::vector<std::string> slurm_hosts(const std::string& nodes) {
  std::vector<std::string> hosts;
  for (const auto& part : outer_parts(nodes)) {
    auto more = expanded(std::string(trim(part)), nodes);
    if (hosts.size() + more.size() > kMostHosts) refuse_nodes(nodes, "more than 65,536 hosts");
    hosts.insert(hosts.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  return hosts;
}

int tasks_on_node(const std::string& tasks_per_node, int node) {
  for (const auto& part : split(tasks_per_node, ',')) {
    const auto times = part.find("(x");
    const auto tasks = parse_integer(part.substr(0, times));
    if (!tasks) return 0;
    std::optional<std::int64_t> nodes = 1;
    if (times != std::string::npos)
      nodes = parse_integer(part.substr(times + 2, part.size() - times - 3));
    if (!nodes) return 0;
    if (node < *nodes) return static_cast<int>(*tasks);
    node -= static_cast<int>(*nodes);
  }
  return 0;
}

std::vector<std::string> hosts_in_list(const std::string& names) {
  Distinct found;
  std::string word;
  const auto end_word = [&] {
    if (!parse_integer(word)) found.add(word);
    word.clear();
  };
  for (const char c : names) {
    if (std::string_view(" \t\r\n,;").find(c) == std::string_view::npos)
      word += c;
    else
      end_word();
  }
  end_word();
  return std::move(found).hosts();
}

std::vector<std::string> hosts_in_file(const std::string& path) {
  Distinct found;
  try {
    for (const auto& line : split(read_text(path), '\n')) {
      const std::string text(trim(line.substr(0, line.find('#'))));
      found.add(text.substr(0, text.find_first_of(" \t:")));
    }
  } catch (const Error&) {
    return {};
  }
  return std::move(found).hosts();
}

}  // namespace ddptrain
