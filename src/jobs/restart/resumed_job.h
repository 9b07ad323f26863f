// A run that continues, on the devices that it had or on others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "jobs/saved_run.h"

namespace ddptrain {

/// A run as it continues on the devices of this machine.
struct Resumed {
  SavedRun run;
  Job job;
};

/// Where the devices of before are not there, or share the batch in another way, what the recipe
/// had left open is decided again.
Resumed on_devices_here(SavedRun run, const std::vector<std::string>& given,
                        const std::string& which, const Topology& outer);

/// The recipe of the run folder says what was `auto` when the run began.
void keep_marks(Job& job, const std::string& folder);

/// What differs from the recipe of the run folder; on other devices also what stays as it was.
void log_changes(const std::string& folder, const Job& job);

/// The newest unfinished run of this recipe that ran on other devices, as it continues on those of
/// `outer` and this machine: its global batch stays, and what each device has of it follows, also
/// where the recipe wrote that down. Nothing where there is no such run. An Error (Exit::recipe)
/// where these devices cannot share the batch.
std::optional<Resumed> unfinished_on_other_devices(const Recipe& recipe, const Node& tree,
                                                   const Topology& outer);

}  // namespace ddptrain
