// What a person reads where devices are missing, of another kind than asked for, or fail; and that
// nothing is lost by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "end_to_end/ranks/machines.h"

namespace ddptrain::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Variables failing(const std::string& fault) {
  return simulating({{"DDPTRAIN_SIMULATED_FAIL", fault}});
}

/// Ten steps with a checkpoint after every fourth, and an evaluation of five batches at the end.
std::vector<std::string> ten_steps(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run",
                                 "small.yaml",
                                 kSmallModel,
                                 "parallel.device=simulated",
                                 "batch.micro=8",
                                 "eval.batch=8",
                                 "output.dir=runs",
                                 "train.duration=10 steps",
                                 "eval.every=10 steps",
                                 "checkpoint.every=4 steps"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const char* const kRun = "runs/small/001";

class DeviceFaults : public testing::Test {
 protected:
  DeviceFaults() { write(folder_ / "small.yaml", small_recipe()); }
  Ended call(const std::vector<std::string>& words, const Variables& variables) {
    return Program(words, folder_.path(), variables).wait();
  }
  Ended refused(const Variables& variables, int code, const std::string& sentence,
                const std::vector<std::string>& more = {}) {
    auto ended = call(ten_steps(more), variables);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(sentence), Not(HasSubstr("frame #")),
                                 Not(HasSubstr("bug in ddptrain"))));
    return ended;
  }
  void expect_no_run(const Variables& variables, int code, const std::string& sentence,
                     const std::vector<std::string>& more = {}) {
    refused(variables, code, sentence, more);
    EXPECT_FALSE(exists(folder_ / kRun));
  }

  Folder folder_;
};

std::string last_weights(const Folder& folder) {
  return read(folder / (kRun + std::string("/checkpoints/step-00000010/model.safetensors")));
}

/// What a run without faults comes to.
std::string undisturbed(const std::vector<std::string>& more) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended = Program(ten_steps(more), folder.path(), simulating()).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  return last_weights(folder);
}

struct Fault {
  const char* name;
  const char* fault;
  int code;
  const char* sentence;
  std::vector<std::string> more = {};
};

class InMidRun : public DeviceFaults, public testing::WithParamInterface<Fault> {};

// All faults come after the checkpoint of step 4.
TEST_P(InMidRun, EndsWithASentenceAndGoesOnFromTheLastCheckpoint) {
  const auto& fault = GetParam();
  refused(failing(fault.fault), fault.code, fault.sentence, fault.more);
  EXPECT_TRUE(exists(folder_ / (kRun + std::string("/checkpoints/step-00000004/MANIFEST.json"))));
  const auto resumed = call({"resume", kRun}, simulating());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, Not(HasSubstr("is not used")));
  EXPECT_TRUE(last_weights(folder_) == undisturbed(fault.more));
}

constexpr const char* kNeedsLess =
    " more were asked for; 'batch.micro=auto batch.accumulate=auto' finds what fits with the same "
    "result, and 'train.precision=bf16' needs less";

const std::vector<Fault> kFaults{
    {"LosesADevice", "lost@convolution_backward:25", 4,
     "error: CUDA error: unspecified launch failure\n"},
    {"LosesTheDeviceOfOneRank",
     "lost@convolution_backward:13/1",
     4,
     "rank 1: CUDA error: unspecified launch failure\n",
     {"parallel.mode=ddp", "parallel.devices=2", "train.graph=false"}},
    {"LosesTheDeviceOfOneRankWhichReplays",
     "lost@replay:9/1",
     4,
     "rank 1: CUDA error: unspecified launch failure\n",
     {"parallel.mode=ddp", "parallel.devices=2"}},
    {"LacksMemoryForward", "memory@convolution_forward:31", 7,
     "error: batch.micro: out of memory in the forward pass, where 2.00 GiB more were asked for"},
    {"LacksMemoryBackward", "memory@convolution_backward:25", 7,
     "error: batch.micro: out of memory in the backward pass, where 2.00 GiB"},
    {"LacksMemoryInTheOptimizer", "memory@_fused_sgd_:9", 7,
     "error: batch.micro: out of memory in the optimizer's step, where 2.00 GiB"},
    {"LacksMemoryInEvaluation", "memory@convolution_forward:47", 7,
     "error: eval.batch: out of memory in evaluation, where 2.00 GiB more were asked for; a "
     "smaller one needs less"},
};

INSTANTIATE_TEST_SUITE_P(ADevice, InMidRun, testing::ValuesIn(kFaults),
                         [](const auto& fault) { return std::string(fault.param.name); });

TEST_F(DeviceFaults, OfMemorySayWhatWouldDoAndWhereItIsWritten) {
  const auto ended =
      refused(failing("memory@convolution_forward:31"), 7,
              std::string("out of memory in the forward pass, where 2.00 GiB") + kNeedsLess);
  EXPECT_THAT(
      ended.err,
      HasSubstr("command line:3: error: batch.micro: out of memory in the forward pass, where 2.00 "
                "GiB more were asked for; 'batch.micro=auto batch.accumulate=auto' finds what fits "
                "with the same result, and 'train.precision=bf16' needs less\n"));
}

TEST_F(DeviceFaults, OfADeviceSayHowTheRunGoesOn) {
  EXPECT_THAT(refused(failing("lost@convolution_backward:25"), 4, "CUDA error").err,
              HasSubstr("resume runs/small/001' continues this run"));
}

TEST_F(DeviceFaults, OfThePlugInNameItAndStartNothing) {
  auto variables = simulating();
  variables["DDPTRAIN_SIMULATED_DEVICE"] = folder_ / "libnone.so";
  const std::string asked = "parallel.device: 'simulated' was asked for, and ";
  expect_no_run(variables, 4, asked + "CUDA cannot be used: this ddptrain was built without it");
  const auto library = simulating().at("DDPTRAIN_SIMULATED_DEVICE");
  for (const auto* what : {"plug-in", "torch"})
    expect_no_run(failing(what), 4,
                  asked + "CUDA cannot be used: '" + library +
                      "' belongs to another version of ddptrain; 'parallel.device=cpu' runs "
                      "without one");
  expect_no_run(failing("NCCL"), 4,
                asked +
                    "CUDA cannot be used: NCCL here has version 22703, and this ddptrain was built "
                    "for 22809; install the version that torch names, or build here");
}

// The sentences are LibTorch's (c10/cuda/CUDAFunctions.cpp).
TEST_F(DeviceFaults, OfTheDriverNameItAndStartNothing) {
  for (const std::string why :
       {"Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
        "The NVIDIA driver on your system is too old (found version 12020)."})
    expect_no_run(simulating({{"DDPTRAIN_SIMULATED_FAULT", why + "\nframe #0: in a library"}}), 4,
                  why + "; 'parallel.device=cpu' runs without one");
}

TEST_F(DeviceFaults, OfAListThatHidesAllGpusNameIt) {
  const auto hidden = with_fake_gpu({{"CUDA_VISIBLE_DEVICES", "-1"}});
  expect_no_run(hidden, 4,
                "'cuda' was asked for, and CUDA_VISIBLE_DEVICES='-1' hides every GPU; "
                "'parallel.device=cpu' runs without one",
                {"parallel.device=cuda"});
  const std::string mig = "MIG-GPU-8932f937-d72c/1/0";
  expect_no_run(simulating({{"DDPTRAIN_SIMULATED_FAULT", "No CUDA GPUs are available"},
                            {"CUDA_VISIBLE_DEVICES", mig}}),
                4, "No CUDA GPUs are available (CUDA_VISIBLE_DEVICES='" + mig + "')");
}

TEST_F(DeviceFaults, OfTooManyOrTheSameDevicesSayWhatIsThere) {
  expect_no_run(simulating({{"DDPTRAIN_SIMULATED_COUNT", "1"}}), 4,
                "parallel.devices: there is no GPU 1; this machine shows 1; 'parallel.devices=1' "
                "takes what is there",
                {"parallel.mode=ddp", "parallel.devices=2"});
  expect_no_run(simulating(), 2, "error[device-twice]: parallel.devices: a device is listed twice",
                {"parallel.mode=ddp", "parallel.devices=[1, 1]"});
}

/// A run without an end that saves after every step and is sent a signal after the fifth.
class Signalled : public DeviceFaults {
 protected:
  Ended sent(int signal) {
    Program program(ten_steps({"checkpoint.every=1 step", "train.duration=100000 steps",
                               "eval.every=9 epochs"}),
                    folder_.path(), simulating());
    while (program.running() && reached_step(program.err()) < 5)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    program.signal(signal);
    return program.wait();
  }
  void expect_goes_on() {
    const auto resumed = call({"resume", kRun, "train.duration=40 steps"}, simulating());
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, AllOf(HasSubstr("resuming from "), Not(HasSubstr("is not used"))));
  }
};

// A checkpoint is being written at any moment of this run.
TEST_F(Signalled, IsResumedFromAWholeCheckpointAfterAKill) {
  EXPECT_EQ(sent(SIGKILL).code, 128 + SIGKILL);
  expect_goes_on();
}

TEST_F(Signalled, WaitsForItsCheckpointBeforeItEnds) {
  const auto ended = sent(SIGTERM);
  EXPECT_EQ(ended.code, 128 + SIGTERM) << ended.err;
  const auto last = ended.err.substr(0, ended.err.rfind("/100000  epoch "));  // "...\nstep 7"
  EXPECT_THAT(ended.err, HasSubstr(last.substr(last.rfind("step ")) + "  saved "));
  expect_goes_on();
}

/// On devices with room for eight samples each: the trial is not repeated.
TEST_F(DeviceFaults, ARunThatStartsAgainKeepsTheMicroBatchThatItFound) {
  Program program(ten_steps({"parallel.mode=ddp", "parallel.devices=2", "batch.global=64",
                             "batch.micro=auto", "batch.accumulate=auto", "train.duration=16 steps",
                             "eval.every=16 steps", "policy.on_rank_failure=restart"}),
                  folder_.path(), simulating({{"DDPTRAIN_SIMULATED_MEMORY", "41000000"}}));
  while (program.running() && reached_step(program.err()) < 7)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto ranks = children_of(program.pid());
  ASSERT_EQ(ranks.size(), 2U) << program.err();
  ::kill(ranks[1], SIGKILL);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto again =
      ended.err.substr(std::min(ended.err.size(), ended.err.find("warning: starting again from ")));
  EXPECT_THAT(ended.err, HasSubstr("batch.micro auto: 32, 16 did not fit, 8 does: global 64 = "
                                   "micro 8 x accumulate 4 x 2 devices\n"));
  EXPECT_THAT(again,
              AllOf(testing::ContainsRegex(
                        "\nstep 16/16  epoch 16\\.00  loss [0-9.]+  lr 0\\.01  [0-9.]+ samples/s"),
                    Not(HasSubstr("did not fit"))));
  EXPECT_THAT(read(folder_ / (kRun + std::string("/recipe.yaml"))),
              HasSubstr("micro: 8, accumulate: 4}  # micro: auto, accumulate: auto"));
}

/// A run on two devices, whose resolved recipe names them.
class RunOfTwoDevices : public DeviceFaults {
 protected:
  RunOfTwoDevices() {
    const auto ended =
        call(ten_steps({"parallel.mode=ddp", "parallel.devices=2", "train.duration=4 steps"}),
             simulating());
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  void expect_needs(const std::vector<std::string>& words, const Variables& machine,
                    const std::vector<std::string>& overrides) {
    const auto without = call(words, machine);
    EXPECT_EQ(without.code, 4) << without.err;
    std::string quoted = "'";
    for (const auto& word : overrides) quoted += (quoted == "'" ? "" : " ") + word;
    EXPECT_THAT(without.err, HasSubstr(quoted + "'"));
    auto all = words;
    all.insert(all.end(), overrides.begin(), overrides.end());
    const auto ended = call(all, machine);
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  const Variables none_ = simulating({{"DDPTRAIN_SIMULATED_FAULT", "there is no driver"}});
  const Variables one_ = simulating({{"DDPTRAIN_SIMULATED_COUNT", "1"}});
};

TEST_F(RunOfTwoDevices, IsResumedWithoutOneByTheOverridesThatItNames) {
  expect_needs({"resume", kRun, "train.duration=6 steps"}, none_,
               {"parallel.device=cpu", "parallel.devices=2"});
}

TEST_F(RunOfTwoDevices, IsResumedOnOneByTheOverridesThatItNames) {
  expect_needs({"resume", kRun, "train.duration=6 steps"}, one_,
               {"parallel.devices=1", "batch.accumulate=auto"});
}

TEST_F(RunOfTwoDevices, IsEvaluatedByTheOverridesThatItNames) {
  expect_needs({"eval", kRun}, none_, {"parallel.device=cpu", "parallel.devices=2"});
  expect_needs({"eval", kRun}, one_, {"parallel.devices=1"});
}

TEST_F(RunOfTwoDevices, PredictsByTheOverrideThatItNames) {
  expect_needs({"predict", kRun, shapes() + "/val"}, none_, {"parallel.device=cpu"});
  EXPECT_EQ(call({"predict", kRun, shapes() + "/val"}, one_).code, 0);
}

}  // namespace
}  // namespace ddptrain::end_to_end
