// Published throughputs on several numbers of devices: those that the constants are calibrated on,
// and those that are held out.
#pragma once

#include <string>
#include <vector>

#include "forecast/step.h"

namespace ddptrain::test {

enum class Use { calibration, held_out };

/// Throughput of each device: samples or tokens a second, whichever a source has.
struct PublishedPoint {
  std::string name = {};
  Use use = Use::held_out;
  KnownMachine machine = {};
  Work base = {};  // of the measured devices
  std::int64_t base_devices = 8;
  double base_rate = 0;   // of a device
  double per_sample = 1;  // what the rate counts, of a sample: tokens
  std::int64_t devices = 8;
  double micro = 0, accumulate = 1;  // of the forecast devices
  double rate = 0;                   // published, of a device
  std::string outside = {};          // why the model does not claim it; empty: it does
};

/// The rate that the model gives, from the measured one.
double forecast_rate(const PublishedPoint& point);
/// (forecast - published) / published.
double error_of(const PublishedPoint& point);
/// That of a forecast that nothing is lost.
double error_without_losses(const PublishedPoint& point);

/// Sources are in docs/forecast.md.
std::vector<PublishedPoint> published_points();

/// The rows of its table.
std::vector<std::string> points_table();

}  // namespace ddptrain::test
