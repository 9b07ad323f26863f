// report.html: one file that opens from disk and needs nothing else.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// The report of one run, of several side by side, or of one sweep with its best runs, as HTML.
/// Errors of read_report_run and read_sweep_results.
std::string report_html(const std::vector<std::string>& folders);

/// Writes FOLDER/report.html. No part of a run's or a sweep's result: what is wrong is a warning.
void write_report(const std::string& folder);

}  // namespace ddptrain
