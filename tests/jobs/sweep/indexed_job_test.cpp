// Indexed Jobs with the fields of batch/v1's JobSpec and PodFailurePolicy in Kubernetes 1.29
// (staging/src/k8s.io/api/batch/v1/types.go).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/scripts/launch_plan.h"
#include "jobs/scripts/manifest_fields.h"
#include "jobs/sweep/array_job.h"

namespace ddptrain {
namespace {

ManifestFields indexed_job_fields() {
  using enum FieldType;
  const std::string rules = "spec.podFailurePolicy.rules[]";
  const auto codes = rules + ".onExitCodes", conditions = rules + ".onPodConditions";
  ManifestFields fields{
      {"apiVersion", {text, Need::required, {"batch/v1"}}},
      {"kind", {text, Need::required, {"Job"}}},
      {"metadata", {object, Need::required}},
      {"metadata.name", {text, Need::required}},
      {"spec", {object, Need::required}},
      {"spec.completionMode", {text, Need::required, {"Indexed"}}},
      {"spec.completions", {integer, Need::required}},
      {"spec.parallelism", {integer}},
      {"spec.backoffLimitPerIndex", {integer}},
      {"spec.podFailurePolicy", {object}},
      {"spec.podFailurePolicy.rules", {array, Need::required}},
      {rules, {object}},
      {rules + ".action", {text, Need::required, {"FailJob", "FailIndex", "Ignore", "Count"}}},
      {codes, {object}},
      {codes + ".containerName", {text}},
      {codes + ".operator", {text, Need::required, {"In", "NotIn"}}},
      {codes + ".values", {array, Need::required}},
      {codes + ".values[]", {integer}},
      {conditions, {array}},
      {conditions + "[]", {object}},
      {conditions + "[].type", {text, Need::required}},
      {conditions + "[].status", {text, Need::required, {"True", "False", "Unknown"}}},
      {"spec.template", {object, Need::required}},
  };
  add_pod_fields(fields, "spec.template.spec");
  return fields;
}

ArrayJob sweep_of_27() {
  return {"a b", 27, 4, "/data/my runs", {"build/ddptrain", "sweep", "a.yaml", "x=1, 2"}};
}

LaunchPlan run_on_two_gpus() {
  LaunchPlan plan;
  plan.ranks_per_node = 2;
  plan.gpus = true;
  plan.cores_per_rank = 8;
  return plan;
}

TEST(IndexedJob, RunsOneRunAPod) {
  EXPECT_EQ(
      indexed_job(sweep_of_27(), run_on_two_gpus()),
      R"--(# Needs Kubernetes 1.29 or later. Fill in IMAGE, which has ddptrain on its path, and CLAIM, a
# volume that all pods can write, with the recipe, the data and the runs. Then:
#   kubectl apply -f FILE
# When all have ended, this makes the table, and trains what failed again, where that volume is:
#   ddptrain sweep a.yaml 'x=1, 2'
apiVersion: batch/v1
kind: Job
metadata:
  name: a-b
spec:
  completionMode: Indexed
  completions: 27
  parallelism: 4
  backoffLimitPerIndex: 3
  podFailurePolicy:
    rules:
    - action: Ignore     # evicted: the run resumes
      onPodConditions: [{type: DisruptionTarget, status: "True"}]
    - action: FailIndex     # a wrong recipe, a loss that is not finite, expectations not met
      onExitCodes: {containerName: ddptrain, operator: In, values: [2, 5, 6]}
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 120     # in which an evicted pod saves
      containers:
      - name: ddptrain
        image: IMAGE
        workingDir: /workspace
        command: ["sh", "-c", "exec ddptrain sweep a.yaml 'x=1, 2' --run $((JOB_COMPLETION_INDEX + 1))"]
        resources:
          requests: {cpu: 16}
          limits: {nvidia.com/gpu: 2}
        volumeMounts:
        - {name: workspace, mountPath: /workspace}
        - {name: shared-memory, mountPath: /dev/shm}
      volumes:
      - name: workspace
        persistentVolumeClaim: {claimName: CLAIM}
      - name: shared-memory
        emptyDir: {medium: Memory}
)--");
}

TEST(IndexedJob, HasTheFieldsOfTheApi) {
  EXPECT_THAT(
      manifest_problems(indexed_job(sweep_of_27(), run_on_two_gpus()), indexed_job_fields()),
      testing::IsEmpty());
}

TEST(IndexedJob, WithoutALimitStartsAllRunsAtOnce) {
  auto job = sweep_of_27();
  job.at_once = 0;
  EXPECT_THAT(indexed_job(job, run_on_two_gpus()), testing::HasSubstr("\n  parallelism: 27\n"));
}

}  // namespace
}  // namespace ddptrain
