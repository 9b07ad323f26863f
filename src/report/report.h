// report.html: one file that opens from disk and needs nothing else.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// The report of one run, or of several side by side, as HTML. Errors of read_report_run.
std::string report_html(const std::vector<std::string>& folders);

}  // namespace ddptrain
