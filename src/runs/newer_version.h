// Run folders of versions to come: what they hold may mean something else.
#pragma once

#include <string>

namespace ddptrain {

/// An Error (Exit::data) where run.json of the folder has a newer format than ours, or was written
/// by a version whose first two numbers are higher than ours: 0.2.0 for 0.1.0, not 0.1.1. A folder
/// without a record, or with a torn one, passes.
void refuse_newer_run(const std::string& folder);

}  // namespace ddptrain
