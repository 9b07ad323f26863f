// What fastai's tracking callbacks decide at the end of each epoch.
#include "callbacks/callback.h"

#include <gtest/gtest.h>

#include "callbacks/best.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;

/// fastai counts the bad epoch itself, torch those let pass; fastai divides the rate.
json plateau(const json& input) {
  return {{"type", "reduce_lr_on_plateau"},
          {"metric", "watched"},
          {"mode", input.value("mode", "min")},
          {"patience", input.at("patience").get<int>() - 1},
          {"factor", 1 / input.value("factor", 10.0)},
          {"threshold", input.value("min_delta", 0.0)},
          {"threshold_mode", "abs"},
          {"min_lr", input.value("min_lr", 0.0)},
          {"eps", 0.0}};
}

json stopping(const json& input) {
  return {{"type", "early_stopping"},
          {"metric", "watched"},
          {"mode", input.at("mode")},
          {"patience", input.at("patience")},
          {"min_delta", input.value("min_delta", 0.0)}};
}

void expect_run(const Case& c, Callback& callback) {
  const auto values = numbers(c.input.at("values"));
  RunControl control;
  std::vector<double> rates;
  for (std::size_t epoch = 0; epoch < values.size() && !control.stop; ++epoch) {
    RunView run;
    run.lr = 1e-2 * control.lr_factor;
    rates.push_back(run.lr);
    run.metrics = {{"valid/watched", values[epoch]}};
    callback.at(Moment::evaluated, run, control);
  }
  EXPECT_EQ(rates.size(), c.expect.at("epochs_begun").get<std::size_t>());
  expect_close(rates, numbers(c.expect.at("lr_at_epoch_start")), 1e-9, 0, "rate");
}

void expect_saved(const Case& c) {
  Best best(c.input.at("mode") == "max" ? BestMode::max : BestMode::min,
            c.input.value("min_delta", 0.0));
  std::vector<std::size_t> saved;
  const auto values = numbers(c.input.at("values"));
  for (std::size_t epoch = 0; epoch < values.size(); ++epoch)
    if (best.improves(values[epoch])) saved.push_back(epoch);
  EXPECT_EQ(saved, c.expect.at("saved_at").get<std::vector<std::size_t>>());
}

}  // namespace

GOLDEN(training, callback) {
  const std::string name = c.input.at("callback");
  if (name == "save_best") return expect_saved(c);
  const auto recipe = name == "early_stopping" ? stopping(c.input) : plateau(c.input);
  expect_run(c, *catalog<Callback>().build(fragment<Callback>(recipe)));
}

}  // namespace ddptrain::golden
