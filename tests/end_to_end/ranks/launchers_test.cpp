// What `run --print` writes, under the launchers themselves where they are installed: Slurm
// (Debian's slurm-wlm), Open MPI (openmpi-bin), torchrun (DDPTRAIN_PEERS or PATH).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using Words = std::vector<std::string>;

Ended shell(const std::string& line, const std::string& folder) {
  return Program({"-c", line}, folder, environment(), "bash").wait();
}

bool is_installed(const std::string& program, const Folder& folder) {
  return shell("command -v " + program, folder.path()).code == 0;
}

/// The script of a launcher, in `folder`.
std::string printed(const std::string& launcher, const Folder& folder, const Words& more = {}) {
  write(folder / "small.yaml", small_recipe());
  Words words{"run",
              "small.yaml",
              "parallel.mode=ddp",
              "parallel.device=cpu",
              "parallel.devices=4",
              kSmallModel,
              "--print",
              launcher};
  words.insert(words.end(), more.begin(), more.end());
  const auto ended = run(words, folder.path(), environment());
  EXPECT_EQ(ended.code, 0) << ended.err;
  write(folder / "printed", ended.out);
  return ended.out;
}

const Words kTwo{"--nodes", "2", "--address", "127.0.0.1:29571"};

void expect_one_run_of_four_ranks(const Folder& folder) {
  EXPECT_FALSE(exists(folder / "runs/small/002"));
  EXPECT_THAT(read(folder / "runs/small/001/run.json"),
              testing::AllOf(testing::HasSubstr("\n  \"exit_code\": 0,\n"),
                             testing::HasSubstr("\"ranks\": 4")));
}

TEST(PrintedScripts, AreSoundForShellcheck) {
  const Folder folder;
  if (!is_installed("shellcheck", folder)) GTEST_SKIP() << "no shellcheck";
  for (const auto* launcher : {"slurm", "torchrun", "mpirun"})
    for (const auto& nodes : {Words{}, kTwo}) {
      printed(launcher, folder, nodes);
      const auto ended = shell("shellcheck --shell=bash printed", folder.path());
      EXPECT_EQ(ended.code, 0) << launcher << "\n" << ended.out;
    }
}

TEST(PrintedScripts, OfKubernetesAreYaml) {
  const Folder folder;
  if (shell("/usr/bin/python3 -c 'import yaml'", folder.path()).code != 0)
    GTEST_SKIP() << "no python3-yaml";
  for (const auto& nodes : {Words{}, Words{"--nodes", "2"}}) {
    printed("kubernetes", folder, nodes);
    const auto ended =
        shell(R"(/usr/bin/python3 -c 'import yaml; pod = yaml.safe_load(open("printed"))["spec"][)"
              R"("replicatedJobs"][0]["template"]["spec"]["template"]["spec"]; )"
              R"(print(pod["containers"][0]["command"][-2:], pod["volumes"][1]["emptyDir"])')",
              folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out,
              "['model={type: mnist_net, num_classes: auto}', '--auto-resume'] {'medium': "
              "'Memory'}\n");
  }
}

TEST(PrintedScripts, WhatTheClusterDecidesIsAskedFor) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const auto& [word, key] :
       {std::pair("parallel={mode: ddp, device: cpu}", "parallel.devices"),
        std::pair("parallel={mode: ddp, device: auto, devices: 2}", "parallel.device")}) {
    const auto ended = run({"run", "small.yaml", "parallel.devices=auto", word, "--print", "slurm"},
                           folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, testing::HasSubstr(std::string(key) + ": auto is decided by"));
    EXPECT_EQ(ended.out, "");
  }
}

TEST(PrintedScripts, AskForAllThatTheClusterDecidesAtOnce) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended =
      run({"run", "small.yaml", "parallel.device=auto", "--nodes", "2", "--print", "trainjob"},
          folder.path(), environment());
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            "error: parallel.mode: 2 nodes train together by ranks; write 'ddp'\n"
            "error: parallel.device: auto is decided by the machine that trains, and a script is "
            "written before; write 'parallel.device=cuda' or 'parallel.device=cpu'\n"
            "error: parallel.devices: auto is decided by the machine that trains, and a script is "
            "written before; write how many devices all nodes have together, as in "
            "'parallel.devices=16'\n");
}

TEST(PrintedScripts, StartARunUnderMpirun) {
  const Folder folder;
  if (!is_installed("mpirun", folder)) GTEST_SKIP() << "no mpirun (Debian: openmpi-bin)";
  printed("mpirun", folder);
  const auto ended = shell(
      "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_rmaps_base_oversubscribe=1; bash printed",
      folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_one_run_of_four_ranks(folder);
}

std::string path_of_torchrun() {
  const char* peers = std::getenv("DDPTRAIN_PEERS");
  const char* path = std::getenv("PATH");
  return (peers ? std::string(peers) + "/bin:" : "") + (path ? path : "");
}

// Two agents in two network namespaces with one cable; $1 is the folder.
constexpr const char* kTwoAgents = R"sh(set -e
ip link set lo up
ip link add left type veth peer name right
unshare --net sleep 600 & other=$!
trap 'kill $other' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
ip link set right netns $other
ip address add 10.9.8.1/24 dev left; ip link set left up
nsenter --net -t $other sh -c 'ip link set lo up; ip address add 10.9.8.2/24 dev right; ip link set right up'
[ "$1" != try ] || exit 0
command_of() { grep "^cd " printed; sed -n "/^# on node $1/,/^$/p" printed; }
command_of 0 > first; command_of 1 > second
nsenter --net -t $other bash second > second.out 2>&1 & pid=$!
bash first
wait $pid)sh";

TEST(PrintedScripts, StartARunUnderTorchrunOnTwoNodes) {
  const Folder folder;
  const auto in_namespaces = [&](const std::string& word) {
    auto all = environment();
    all["PATH"] = path_of_torchrun();
    return Program({"--user", "--map-root-user", "--net", "--mount", "bash", "-c", kTwoAgents, "sh",
                    word},
                   folder.path(), all, "unshare")
        .wait();
  };
  if (shell("PATH=" + path_of_torchrun() + " command -v torchrun", folder.path()).code != 0)
    GTEST_SKIP() << "no torchrun; DDPTRAIN_PEERS=FOLDER names a Python environment with torch";
  if (const auto tried = in_namespaces("try"); tried.code != 0)
    GTEST_SKIP() << "no network namespaces here: " << tried.err;
  printed("torchrun", folder, {"--nodes", "2", "--address", "10.9.8.1:29572"});
  const auto ended = in_namespaces("run");
  ASSERT_EQ(ended.code, 0) << ended.err << read(folder / "second.out");
  expect_one_run_of_four_ranks(folder);
}

/// Warns a job, and lets it start again sooner than Slurm would: a credential that is made in the
/// second in which the job's old one was revoked is revoked with it.
constexpr const char* kOnSlurm = R"sh(set -e
wait_for() { for _ in $(seq 6000); do ! eval "$1" || return 0; sleep 0.1; done; echo "never: $1"; exit 1; }
sbatch --test-only printed
job=$(sbatch --parsable printed)
wait_for 'grep -q "step 5/" small-$job.log 2>/dev/null'
scancel --signal=USR1 $job
wait_for 'squeue -h -t PD | grep -q .'
sleep 3
scontrol update jobid=$job starttime=now
wait_for 'scontrol show job $job | grep -qE "JobState=(COMPLETED|FAILED)"')sh";

TEST(PrintedScripts, StartARunUnderSlurmThatIsQueuedAgainAndResumes) {
  const Folder folder;
  const auto cluster = "'" + test::in_source("tests/support/slurm_cluster") + "' slurm ";
  if (const auto tried = shell(cluster + "true", folder.path()); tried.code == 77)
    GTEST_SKIP() << tried.err;
  auto script = printed("slurm", folder,
                        {"--nodes", "2", "train.duration=200 steps", "log.every=1 step",
                         "eval.every=200 steps", "checkpoint.every=200 steps"});
  write(folder / "job", kOnSlurm);
  const auto ended = shell(cluster + "bash job", folder.path());
  std::string log;
  for (const auto& name : list(folder.path()))
    if (name.ends_with(".log")) log += read(folder / name);
  ASSERT_EQ(ended.code, 0) << ended.out << ended.err << log;
  EXPECT_THAT(log, testing::HasSubstr("Exited with exit code 138"));
  EXPECT_THAT(log, testing::HasSubstr("resuming the unfinished run in runs/small/001 from step-"));
  expect_one_run_of_four_ranks(folder);
}

}  // namespace
}  // namespace ddptrain::end_to_end
