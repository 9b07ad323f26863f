// Scripts as the launchers' manuals have them: sbatch(1) and srun(1) of Slurm 22.05, torchrun's
// --help, mpirun(1) of Open MPI 4.1, JobSet v1alpha2, TrainJob v1alpha1, PyTorchJob v1 and
// Kubeflow's PET_* variables.
#include "jobs/scripts/scripts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

LaunchPlan two_nodes() {
  LaunchPlan plan;
  plan.name = "resnet";
  plan.nodes = 2;
  plan.ranks_per_node = 8;
  plan.gpus = true;
  plan.cores_per_rank = 8;
  plan.meeting = HostPort{"gpu01", 29501};
  plan.variables = {"PATH", "DDPTRAIN_DATA"};
  plan.folder = "/shared/my work";
  plan.words = {"ddptrain", "run", "recipe.yaml", "data.root=/shared/my data"};
  return plan;
}

/// Where the cluster names them.
LaunchPlan two_pods() {
  auto plan = two_nodes();
  plan.meeting.reset();
  return plan;
}

LaunchPlan one_node() {
  auto plan = two_pods();
  plan.nodes = 1;
  return plan;
}

TEST(SlurmJob, StartsAProcessPerNodeAndQueuesAgainBeforeTheTimeLimit) {
  EXPECT_EQ(slurm_job(two_nodes()), R"(#!/bin/bash
# Submit with 'sbatch FILE'. Two minutes before its time limit the run saves and the job
# is queued again; it then resumes from its newest checkpoint.
#SBATCH --job-name=resnet
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=64
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
# What your cluster asks for: remove one # and fill in.
##SBATCH --time=24:00:00
##SBATCH --partition=PARTITION
##SBATCH --account=ACCOUNT
cd '/shared/my work' || exit 3
export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
srun --kill-on-bad-exit=1 ddptrain run recipe.yaml 'data.root=/shared/my data' --nodes 2 --auto-resume
code=$?
# 138: the warning came (SIGUSR1), and a checkpoint is saved.
if [ "$code" -eq 138 ]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit "$code"
)");
}

TEST(SlurmJob, WithoutGpusAsksForNone) {
  auto plan = two_nodes();
  plan.gpus = false;
  EXPECT_EQ(slurm_job(plan).find("gpus"), std::string::npos);
}

TEST(TorchrunCommands, AreOneForEachNode) {
  EXPECT_EQ(torchrun_commands(two_nodes()), R"(# A command for each node; node 0 is gpu01.
cd '/shared/my work' || exit 3

# on node 0
torchrun --no-python --nnodes=2 --node-rank=0 --nproc-per-node=8 --master-addr=gpu01 --master-port=29501 \
  ddptrain run recipe.yaml 'data.root=/shared/my data' --auto-resume

# on node 1
torchrun --no-python --nnodes=2 --node-rank=1 --nproc-per-node=8 --master-addr=gpu01 --master-port=29501 \
  ddptrain run recipe.yaml 'data.root=/shared/my data' --auto-resume
)");
}

TEST(TorchrunCommands, OfOneNodeNeedNoAddress) {
  EXPECT_THAT(torchrun_commands(one_node()),
              testing::HasSubstr("torchrun --no-python --standalone --nproc-per-node=8 \\\n"));
}

TEST(MpirunCommand, NamesHostsAndGivesRanksTheirMeetingPoint) {
  EXPECT_EQ(mpirun_command(two_nodes()),
            R"(# Replace NODE1 and further names by those of the other nodes.
cd '/shared/my work' || exit 3
mpirun -np 16 --host gpu01:8,NODE1:8 --map-by ppr:8:node --bind-to none -x MASTER_ADDR=gpu01 -x MASTER_PORT=29501 -x PATH -x DDPTRAIN_DATA \
  ddptrain run recipe.yaml 'data.root=/shared/my data' --auto-resume
)");
}

TEST(MpirunCommand, PassesOnlyVariablesThatAreSet) {
  auto plan = two_nodes();
  plan.variables = {"PATH"};
  EXPECT_THAT(mpirun_command(plan), testing::HasSubstr(" -x MASTER_PORT=29501 -x PATH \\\n"));
}

TEST(MpirunCommand, OfOneNodeNeedsNoHosts) {
  EXPECT_THAT(mpirun_command(one_node()), testing::HasSubstr("\nmpirun -np 8 --bind-to none \\\n"));
}

TEST(Jobset, GivesPodsNamesAndStartsThemAgainTogether) {
  EXPECT_EQ(
      jobset(two_pods()),
      R"(# Needs JobSet (https://jobset.sigs.k8s.io) in the cluster. Fill in IMAGE, which has ddptrain on its
# path, and CLAIM, a volume that all pods can write, with the recipe, the data and the runs. Then:
#   kubectl apply -f FILE
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: resnet
spec:
  network: {enableDNSHostnames: true, publishNotReadyAddresses: true}
  failurePolicy: {maxRestarts: 10}     # of all pods together, which resume the run
  replicatedJobs:
  - name: node
    replicas: 1
    template:
      spec:
        parallelism: 2
        completions: 2
        completionMode: Indexed
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            terminationGracePeriodSeconds: 120     # in which an evicted pod saves
            containers:
            - name: ddptrain
              image: IMAGE
              workingDir: /workspace
              command: ["ddptrain", "run", "recipe.yaml", "data.root=/shared/my data", "--auto-resume"]
              env:
              - {name: PET_NNODES, value: "2"}
              - name: PET_NODE_RANK
                valueFrom:
                  fieldRef:
                    fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']
              - {name: PET_NPROC_PER_NODE, value: "8"}
              - {name: PET_MASTER_ADDR, value: resnet-node-0-0.resnet}
              - {name: PET_MASTER_PORT, value: "29500"}
              resources:
                requests: {cpu: 64}
                limits: {nvidia.com/gpu: 8}
              volumeMounts:
              - {name: workspace, mountPath: /workspace}
              - {name: shared-memory, mountPath: /dev/shm}
            volumes:
            - name: workspace
              persistentVolumeClaim: {claimName: CLAIM}
            - name: shared-memory
              emptyDir: {medium: Memory}
)");
}

TEST(Jobset, HasANameThatHostNamesMayHave) {
  const auto name_for = [](const std::string& name) {
    auto plan = two_pods();
    plan.name = name;
    const auto text = jobset(plan);
    const auto begin = text.find("  name: ") + 8;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(name_for("CIFAR 10 (Wide)"), "cifar-10-wide");
  EXPECT_EQ(name_for("3_layers"), "run-3-layers");
  EXPECT_EQ(name_for("--"), "run");
  EXPECT_EQ(name_for(std::string(70, 'a')), std::string(40, 'a'));
}

TEST(Jobset, OfOnePodLeavesItsRanksToTheProgram) {
  EXPECT_EQ(jobset(one_node()).find("PET_"), std::string::npos);
}

TEST(Trainjob, HasARuntimeOfItsOwn) {
  EXPECT_EQ(
      trainjob(two_pods()),
      R"(# Needs Kubeflow Trainer 2 (https://trainer.kubeflow.org) in the cluster. Fill in IMAGE, which has
# ddptrain on its path, and CLAIM, a volume that all pods can write, with the recipe, the data and
# the runs. Then:
#   kubectl apply -f FILE
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata:
  name: resnet
  labels: {trainer.kubeflow.org/framework: torch}
spec:
  mlPolicy:
    numNodes: 2
    torch: {}
  template:
    spec:
      network: {enableDNSHostnames: true, publishNotReadyAddresses: true}
      failurePolicy: {maxRestarts: 10}     # of all pods together, which resume the run
      replicatedJobs:
      - name: node
        replicas: 1
        template:
          metadata:
            labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}
          spec:
            backoffLimit: 0
            template:
              spec:
                restartPolicy: Never
                terminationGracePeriodSeconds: 120     # in which an evicted pod saves
                containers:
                - name: node
                  workingDir: /workspace
                  volumeMounts:
                  - {name: workspace, mountPath: /workspace}
                  - {name: shared-memory, mountPath: /dev/shm}
                volumes:
                - name: workspace
                  persistentVolumeClaim: {claimName: CLAIM}
                - name: shared-memory
                  emptyDir: {medium: Memory}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: resnet
spec:
  runtimeRef: {kind: TrainingRuntime, name: resnet}
  trainer:
    numNodes: 2
    numProcPerNode: 8
    image: IMAGE
    command: ["ddptrain", "run", "recipe.yaml", "data.root=/shared/my data", "--auto-resume"]
    resourcesPerNode:
      requests: {cpu: 64}
      limits: {nvidia.com/gpu: 8}
)");
}

TEST(Pytorchjob, HasAMasterAndWorkers) {
  EXPECT_EQ(
      pytorchjob(two_pods()),
      R"(# Needs Kubeflow's training operator (1.7 to 1.9) in the cluster. Fill in IMAGE, which has ddptrain
# on its path, and CLAIM, a volume that all pods can write, with the recipe, the data and the runs.
# Then:
#   kubectl apply -f FILE
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: resnet
spec:
  nprocPerNode: "8"
  runPolicy: {backoffLimit: 20, cleanPodPolicy: Running}     # ten starts of each pod
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: OnFailure     # a pod whose peer was lost ends, starts again and resumes
      template:
        spec:
          terminationGracePeriodSeconds: 120     # in which an evicted pod saves
          containers:
          - name: pytorch
            image: IMAGE
            workingDir: /workspace
            command: ["ddptrain", "run", "recipe.yaml", "data.root=/shared/my data", "--auto-resume"]
            resources:
              requests: {cpu: 64}
              limits: {nvidia.com/gpu: 8}
            volumeMounts:
            - {name: workspace, mountPath: /workspace}
            - {name: shared-memory, mountPath: /dev/shm}
          volumes:
          - name: workspace
            persistentVolumeClaim: {claimName: CLAIM}
          - name: shared-memory
            emptyDir: {medium: Memory}
    Worker:
      replicas: 1
      restartPolicy: OnFailure     # a pod whose peer was lost ends, starts again and resumes
      template:
        spec:
          terminationGracePeriodSeconds: 120     # in which an evicted pod saves
          containers:
          - name: pytorch
            image: IMAGE
            workingDir: /workspace
            command: ["ddptrain", "run", "recipe.yaml", "data.root=/shared/my data", "--auto-resume"]
            resources:
              requests: {cpu: 64}
              limits: {nvidia.com/gpu: 8}
            volumeMounts:
            - {name: workspace, mountPath: /workspace}
            - {name: shared-memory, mountPath: /dev/shm}
          volumes:
          - name: workspace
            persistentVolumeClaim: {claimName: CLAIM}
          - name: shared-memory
            emptyDir: {medium: Memory}
)");
}

TEST(Pytorchjob, OfOneNodeHasNoWorker) {
  EXPECT_EQ(pytorchjob(one_node()).find("Worker"), std::string::npos);
}

TEST(Pods, OfReplicasHaveOneProcess) {
  auto plan = one_node();
  plan.has_replicas = true;
  EXPECT_THAT(trainjob(plan), testing::HasSubstr("\n    numProcPerNode: 1\n"));
  EXPECT_THAT(pytorchjob(plan), testing::HasSubstr("\n  nprocPerNode: \"1\"\n"));
}

TEST(LaunchScript, OfSeveralNodesNeedsTheirMeetingPointWhereTheLauncherHasNone) {
  const auto plan = two_pods();
  for (const auto* launcher : {"torchrun", "mpirun"}) try {
      launch_script(launcher, plan);
      ADD_FAILURE() << launcher;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "2 nodes meet at node 0, and nothing names it: add '--address HOST[:PORT]', or "
                   "'parallel.rendezvous: HOST:PORT'");
    }
  EXPECT_NO_THROW(launch_script("slurm", plan));
  EXPECT_NO_THROW(launch_script("jobset", plan));
}

TEST(LaunchScript, OfKubernetesIsAJobset) {
  EXPECT_EQ(launch_script("kubernetes", two_pods()), jobset(two_pods()));
}

TEST(LaunchScript, OfPodsRefusesAnAddress) {
  for (const auto* launcher : {"jobset", "kubernetes", "trainjob", "pytorchjob"})
    EXPECT_THAT([&] { launch_script(launcher, two_nodes()); },
                testing::ThrowsMessage<Error>(
                    "pods meet at the host name that the cluster gives the first of them; leave "
                    "'--address' and 'parallel.rendezvous' out"));
}

TEST(LaunchScript, OfReplicasIsNoneForLaunchersOfRanks) {
  auto plan = one_node();
  plan.has_replicas = true;
  EXPECT_THROW(launch_script("torchrun", plan), Error);
  EXPECT_THROW(launch_script("mpirun", plan), Error);
  EXPECT_NO_THROW(launch_script("slurm", plan));
}

}  // namespace
}  // namespace ddptrain
