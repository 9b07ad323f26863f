// Indexed Jobs of Kubernetes. Failures are counted for each index from 1.29 on
// (backoffLimitPerIndex), so that a run that fails does not end the others.
#include <fmt/format.h>

#include "base/quoting.h"
#include "jobs/scripts/pods.h"
#include "jobs/sweep/array_job.h"

namespace ddptrain {
namespace {

/// Indexes count from 0, runs from 1.
std::string command_of_index(const std::string& command) {
  return fmt::format("exec {} --run $((JOB_COMPLETION_INDEX + 1))", command);
}

std::string introduction_of_job(const std::string& command) {
  return fmt::format(
      "# Needs Kubernetes 1.29 or later. Fill in IMAGE, which has ddptrain on its path, and CLAIM, "
      "a\n"
      "# volume that all pods can write, with the recipe, the data and the runs. Then:\n"
      "#   kubectl apply -f FILE\n"
      "# When all have ended, this makes the table, and trains what failed again, where that "
      "volume is:\n"
      "#   {}\n",
      command);
}

}  // namespace

std::string indexed_job(const ArrayJob& job, const LaunchPlan& run) {
  auto words = job.words;
  words[0] = "ddptrain";
  const auto command = shell_line(words);
  const Pod pod{
      "Never", "ddptrain", {"sh", "-c", command_of_index(command)}, {}, resources_of_node(run)};
  return introduction_of_job(command) +
         fmt::format(R"(apiVersion: batch/v1
kind: Job
metadata:
  name: {}
spec:
  completionMode: Indexed
  completions: {}
  parallelism: {}
  backoffLimitPerIndex: 3
  podFailurePolicy:
    rules:
    - action: Ignore     # evicted: the run resumes
      onPodConditions: [{{type: DisruptionTarget, status: "True"}}]
    - action: FailIndex     # a wrong recipe, a loss that is not finite, expectations not met
      onExitCodes: {{containerName: ddptrain, operator: In, values: [2, 5, 6]}}
  template:
    spec:
)",
                     object_name(job.name), job.runs, job.at_once > 0 ? job.at_once : job.runs) +
         indented(pod_spec(pod), 6);
}

}  // namespace ddptrain
