// A run as a report shows it: what its folder holds, whole or torn.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/output/named_table.h"
#include "report/chart.h"

namespace ddptrain {

using ReportValues = std::vector<std::pair<std::string, double>>;
using ReportTexts = std::vector<std::pair<std::string, std::string>>;

/// A value over the steps of a run, "train/loss" or "valid/accuracy".
struct ReportSeries {
  std::string name;
  Points points;
};

/// A sample as the last evaluation scored it (train/step/sample_record.h has the numbers). A few
/// have a name and what a person may see of it.
struct ReportSample {
  double loss = 0, truth = 0, predicted = 0;
  double probability = 0, second = 0;  // NaN where samples have numbers
  std::string name;
  ReportTexts cells;
  std::string png;  // in Base64
};

struct ReportRun {
  std::string name;                     // "quickstart/003"
  std::string state;                    // "done", "interrupted", "running", ...
  bool ended_well = false;              // exit code 0
  ReportTexts facts;                    // titles and values: device, started, versions
  std::vector<ReportSeries> steps;      // a point per log period
  std::vector<ReportSeries> evaluated;  // a point per evaluation
  ReportValues last;                    // of the last evaluation; may be NaN
  std::string best_metric;              // empty: none is watched
  double best_value = 0;
  double best_step = 0;
  double step = 0;                    // optimiser steps made, as far as is known
  double seconds = 0;                 // from start to end; 0: not known
  double samples_per_second = 0;      // mean of the log periods; 0: not known
  std::vector<NamedTable> tables;     // of the last evaluation
  std::vector<ReportSample> samples;  // of the validation split, or a part of them
  double samples_of = 0;              // how many that split has
  std::vector<std::string> classes;   // names; none where samples have numbers
  std::string recipe;                 // as resolved, YAML
  ReportTexts options;                // of the recipe: "optimizer.lr", "0.1"
  ReportTexts sources;                // files as written, with their text
  std::string command;                // as typed; may be empty
  std::vector<std::string> warnings;  // each once
  std::vector<std::string> damages;   // files that are missing or torn, in words
};

/// Reads a run folder. An Error (Exit::data) where it is no run's folder; what is missing or torn
/// within is in `damages`.
ReportRun read_report_run(const std::string& folder);

}  // namespace ddptrain
