#include "base/output/long_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/output/log.h"
#include "base/output/progress.h"
#include "base/output/terminal.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr double kSecondsUntilShown = 0.3;
constexpr double kSecondsBetween = 0.1;
constexpr std::size_t kBar = 10;

}  // namespace

LongWork::LongWork(std::string what, std::int64_t all)
    : what_(std::move(what)), all_(all), shows_(log::has_status()) {}

LongWork::~LongWork() {
  if (drawn_at_ > 0) log::status("");
}

void LongWork::did(std::int64_t pieces) {
  progress();
  if (!shows_) return;
  const auto done = done_ += pieces;
  const std::unique_lock lock(drawing_, std::try_to_lock);
  if (!lock) return;  // another thread draws
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  if (now < kSecondsUntilShown || now - drawn_at_ < kSecondsBetween) return;
  drawn_at_ = now;
  show(done, now);
}

void LongWork::show(std::int64_t done, double seconds) const {
  if (all_ <= 0) return log::status({{what_, 0}, {std::to_string(done), 1}});
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(all_), 0.0, 1.0);
  std::vector<StatusField> fields{{bar(share, kBar, is_utf8_locale()), 3},
                                  {what_, 0},
                                  {fmt::format("{} %", static_cast<int>(100 * share)), 1}};
  if (share > 0) fields.push_back({"left " + format_seconds(seconds * (1 - share) / share), 2});
  log::status(fields);
}

}  // namespace ddptrain
