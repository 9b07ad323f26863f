// `doctor` lists what it finds, and advises where something is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/ranks/machines.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Doctor, TellsVersionsDevicesAndDisk) {
  const Folder folder;
  const auto output = Program({"doctor"}, folder.path()).wait();
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("with torch " + test::torch_version()));
  for (const std::string what :
       {"hardware thread", "GPUs", "/dev/shm", "open at once", "free for runs in this folder"})
    EXPECT_THAT(output.out, HasSubstr(what));
}

TEST(Doctor, MeasuresTheNetworkOfRanksThatItStarts) {
  const Folder folder;
  const auto output = Program({"doctor", "--network", "--devices", "3"}, folder.path()).wait();
  EXPECT_EQ(output.code, 0) << output.err;
  for (const std::string what :
       {"3 ranks, address 127.0.0.1 (lo)\n", "for 16.0 MiB over 3 ranks (shared memory, median)",
        "/dev/shm", "RLIMIT_MEMLOCK"})
    EXPECT_THAT(output.out, HasSubstr(what));
  EXPECT_THAT(output.out, Not(HasSubstr("slowest pair"))) << "there is no cable";
}

TEST(Doctor, MeasuresTheNetworkOfNodes) {
  const Folder folder;
  const auto node = [address = "127.0.0.1:" + free_port()](const std::string& rank) {
    return std::vector<std::string>{"doctor", "--network", "--devices", "1",           "--nodes",
                                    "2",      "--address", address,     "--node-rank", rank};
  };
  Program second(node("1"), folder.path());
  const auto output = Program(node("0"), folder.path()).wait();
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(second.wait().code, 0);
  EXPECT_THAT(output.out, HasSubstr("for 8 B over 2 ranks (gloo, median)"));
}

// RFC 2606 reserves the domain.
TEST(Doctor, NamesAHostThatIsNotKnownAtOnce) {
  const Folder folder;
  const auto output = Program({"doctor", "--network", "--nodes", "2", "--node-rank", "0",
                               "--address", "node0.invalid"},
                              folder.path())
                          .wait();
  EXPECT_EQ(output.code, 4);
  EXPECT_EQ(output.err,
            "error: this machine knows no host 'node0.invalid', where the ranks are to meet "
            "(--address); give an address instead of a name, or add it to DNS or /etc/hosts\n");
}

TEST(Doctor, RefusesFlagsOfTheNetworkWithoutIt) {
  const Folder folder;
  const auto output = Program({"doctor", "--devices", "3"}, folder.path()).wait();
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err, HasSubstr("--devices is for 'doctor --network'"));
}

TEST(Doctor, AdvisesOnAHalfSetLauncherAndAFolderThatIsNotThere) {
  const Folder folder;
  const auto output =
      Program({"doctor"}, folder.path(), {{"RANK", "1"}, {"DDPTRAIN_DATA", "/no/such/folder"}})
          .wait();
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("-> a half-set environment"));
  EXPECT_THAT(output.out, HasSubstr("-> there is no such folder"));
  EXPECT_THAT(output.out, Not(HasSubstr("nothing to do")));
}

Ended doctor_on(const Variables& machine) {
  const Folder folder;
  return Program({"doctor"}, folder.path(), machine).wait();
}

TEST(Doctor, NamesDriverLibrariesAndDevicesAndAddsUpOnThem) {
  const auto output = doctor_on(simulating(
      {{"DDPTRAIN_SIMULATED_MEMORY", "1073741824"}, {"DDPTRAIN_SIMULATED_TRAITS", "bf16"}}));
  EXPECT_EQ(output.code, 0) << output.err;
  for (const std::string what : {"plug-in        opens; simulated runtime 1.0\n",
                                 "GPU 0          simulated 0, 1.0 GiB, bf16\n",
                                 "GPU 1          simulated 1, 1.0 GiB, bf16\n",
                                 "peer access    not between 0-1: through the host's memory\n",
                                 "all-reduce     right over a tensor on 2 devices\n"})
    EXPECT_THAT(output.out, HasSubstr(what));
}

TEST(Doctor, AddsUpOnASingleDeviceToo) {
  const auto output = doctor_on(simulating({{"DDPTRAIN_SIMULATED_COUNT", "1"}}));
  EXPECT_THAT(output.out, HasSubstr("all-reduce     right over a tensor on 1 device\n"));
  EXPECT_THAT(output.out, Not(HasSubstr("peer access")));
}

TEST(Doctor, SaysWhatFailsOnADeviceAndWhatWouldDo) {
  const auto lost = doctor_on(simulating({{"DDPTRAIN_SIMULATED_FAIL", "lost@operator:1/1"}}));
  EXPECT_EQ(lost.code, 0) << lost.err;
  EXPECT_THAT(lost.out, HasSubstr("all-reduce     rank 1: CUDA error: unspecified launch failure\n"
                                  "               -> "));
  const auto old = doctor_on(simulating({{"DDPTRAIN_SIMULATED_FAULT", "the driver is too old"}}));
  EXPECT_THAT(old.out,
              HasSubstr("plug-in        opens; simulated runtime 1.0\n"
                        "devices        the simulated device cannot be used: the driver is "
                        "too old\n               -> no run can use a GPU; docs/gpu.md says "
                        "what a GPU needs\n"));
  EXPECT_THAT(old.out, Not(HasSubstr("all-reduce")));
}

// The driver of the fake shows a GPU; CUDA itself cannot be opened, or finds no device behind it.
TEST(Doctor, NamesTheDriverAndSaysWhyCudaDoesNotWorkWithIt) {
  const auto output = doctor_on(with_fake_gpu());
  EXPECT_THAT(output.out, HasSubstr("GPUs           1, driver 580.65.06\nplug-in        "));
  EXPECT_THAT(output.out, HasSubstr("-> no run can use a GPU; docs/gpu.md says what a GPU needs"));
  EXPECT_THAT(output.out, Not(HasSubstr("frame #")));
}

TEST(Doctor, SaysThatGpusAreHidden) {
  const auto output = doctor_on(with_fake_gpu({{"CUDA_VISIBLE_DEVICES", ""}}));
  EXPECT_THAT(output.out,
              HasSubstr("GPUs           none, driver 580.65.06, with CUDA_VISIBLE_DEVICES="
                        "\n               -> there is a driver, and no device is visible"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
