#include "callbacks/count_line.h"

#include <fmt/format.h>

#include "base/output/log.h"
#include "base/output/terminal.h"
#include "base/text.h"

namespace ddptrain {

CountLine::CountLine(std::string what, std::string unit)
    : what_(std::move(what)), unit_(std::move(unit)) {}

void CountLine::show(std::int64_t done, std::int64_t all) {
  const double now = seconds();
  if (shown_at_ >= 0 && now - shown_at_ < 0.1) return;
  shown_at_ = now;
  const double rate = now > 0 ? static_cast<double>(done) / now : 0;
  std::vector<StatusField> fields{{fmt::format("{} {}/{}", what_, done, all), 0}};
  if (rate > 0) {
    fields.push_back({fmt::format("{} {}/s", format_fixed(rate, 1), unit_), 2});
    fields.push_back({"left " + format_seconds(static_cast<double>(all - done) / rate), 1});
  }
  log::status(fields);
}

void CountLine::clear() { log::status(""); }

double CountLine::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

}  // namespace ddptrain
