#include "launch/run_process.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "launch/signals.h"

namespace ddptrain {
namespace {

/// Rank 1 of nothing: its failure is for the record, not for the terminal.
Topology recorded_in(const std::string& folder) {
  Topology topology;
  topology.rank = 1;
  topology.store = folder;
  return topology;
}

Exit exit_of(int code) {
  if (code == 128 + SIGKILL) return Exit::memory;
  return code > 128 ? Exit::device : static_cast<Exit>(code);
}

}  // namespace

RunProcess::RunProcess(const std::function<int()>& train, const std::string& output,
                       const sigset_t& signals)
    : output_(output.empty() ? folder_.path() + "/output.txt" : output),
      process_(
          recorded_in(folder_.path()),
          [&](const Topology&) {
            log::use_color(log::Color::never);
            return train();
          },
          output_, signals) {}

Failure RunProcess::failure() const {
  if (auto failure = read_failure(folder_.path(), process_.rank())) return *std::move(failure);
  const int code = process_.code();
  return {process_.rank(), process_.ended_at(), exit_of(code), why_ended(code, output_), {}};
}

std::string why_ended(int code, const std::string& output) {
  constexpr std::string_view mark = "error: ";
  const auto lines =
      std::filesystem::exists(output) ? split(read_text(output), '\n') : std::vector<std::string>();
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (const auto at = line->find(mark); at != std::string::npos)
      return line->substr(at + mark.size());
  if (code > 128) return "ended by " + signal_name(code - 128);
  if (code == static_cast<int>(Exit::non_finite)) return "the loss is not finite";
  return fmt::format("ended with exit code {}", code);
}

}  // namespace ddptrain
