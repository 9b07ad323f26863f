// What a run reports of its classes: the confusion matrix, and the scores of each class.
#pragma once

#include <vector>

#include "base/output/named_table.h"
#include "report/report_run.h"

namespace ddptrain {

/// The tables of the last evaluation. Where no metric made a confusion matrix, or scores of
/// classes, the one that follows from the samples (`file` is then empty); of more than 1,000
/// classes none does.
std::vector<NamedTable> class_tables(const ReportRun& run);

}  // namespace ddptrain
