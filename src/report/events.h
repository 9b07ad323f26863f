// What events.jsonl holds of a run, as far as it can be read.
#pragma once

#include <string>

#include "report/report_run.h"

namespace ddptrain {

/// Adds series, tables, warnings and damages. Steps that a resumed run made again replace the
/// earlier ones; a last line that was cut is left out.
void add_events(ReportRun& run, const std::string& text);

}  // namespace ddptrain
