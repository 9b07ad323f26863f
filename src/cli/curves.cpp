#include "cli/curves.h"

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "config/complete.h"
#include "recipe/optimizer_options.h"
#include "schedules/schedule.h"
#include "schedules/swa.h"

namespace ddptrain {
namespace {

/// The innermost optimiser's options, defaults filled in.
Node optimizer_options(const Recipe& recipe, const Catalogs& catalogs) {
  auto node = complete_component(recipe.optimizer.node(), "optimizer", catalogs);
  for (const Node* inner = node.find("inner"); inner; inner = node.find("inner")) {
    Node next = complete_component(*inner, "optimizer", catalogs);
    node = std::move(next);
  }
  return node;
}

double rate_of(const Node& lr) {
  const auto* number = lr.is_map() ? lr.find("to") : &lr;
  return number ? parse_number(number->text).value_or(0) : 0;
}

/// What a schedule may cycle: `momentum`, or the first beta.
std::optional<double> momentum_of(const Node& options) {
  const auto* momentum = options.find("momentum");
  if (momentum && momentum->is_scalar()) return parse_number(momentum->text);
  const auto* betas = options.find("betas");
  if (betas && !betas->items.empty()) return parse_number(betas->items.front().text);
  return {};
}

struct Part {
  std::int64_t first = 0, steps = 0;
  std::unique_ptr<Schedule> schedule;
};

class Curves {
 public:
  Curves(const Recipe& recipe, const RunLength& length, const Catalogs& catalogs)
      : length_(length) {
    const auto options = optimizer_options(recipe, catalogs);
    momentum_ = momentum_of(options);
    const auto written_for = common_options(recipe.optimizer).lr_batch;
    const double factor =
        written_for ? static_cast<double>(length.global) / static_cast<double>(*written_for) : 1;
    std::int64_t first = 0;
    for (const auto& stage : stages_of(recipe)) {
      const auto steps = in_steps(stage.duration, length).value_or(length.total);
      const auto lr = stage.lr ? stage.lr->to : rate_of(*options.find("lr"));
      parts_.push_back(
          {first, steps,
           catalog<Schedule>().build(stage.schedule, ScheduleContext{lr * factor, momentum_})});
      first += steps;
    }
    if (recipe.train.swa && recipe.train.swa->lr) hold(*recipe.train.swa, factor);
  }

  RatesAt at(std::int64_t step) const {
    const Part* part = &parts_.front();
    for (const auto& each : parts_)
      if (step >= each.first) part = &each;
    const Progress progress{step - part->first, part->steps, length_.per_epoch};
    const auto momentum = part->schedule->momentum(progress);
    return {step, part->schedule->lr(progress), momentum ? momentum : momentum_};
  }

 private:
  // The end that stochastic weight averaging holds; only a run of one stage has it.
  void hold(const SwaSpec& swa, double factor) {
    auto& schedule = parts_.front().schedule;
    schedule = swa_schedule(std::move(schedule),
                            {*swa.lr * factor, swa.anneal, *in_steps(swa.start, length_),
                             *in_steps(swa.over, length_)});
  }

  RunLength length_;
  std::optional<double> momentum_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<RatesAt> rates_over_run(const Recipe& recipe, const RunLength& length,
                                    const Catalogs& catalogs, std::int64_t points) {
  const Curves curves(recipe, length, catalogs);
  std::vector<RatesAt> rates;
  const auto last = length.total - 1;
  const auto count = std::min(points, length.total);
  for (std::int64_t i = 0; i < count; ++i)
    rates.push_back(curves.at(count == 1 ? last : i * last / (count - 1)));
  return rates;
}

}  // namespace ddptrain
