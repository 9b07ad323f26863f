// A run on one machine listens on nothing that another machine could reach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "end_to_end/program.h"
#include "support/listening.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

// They exchange in memory.
TEST(Network, ARunOnSeveralRanksListensOnNothing) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program({"run", "small.yaml", "parallel.mode=ddp", "parallel.devices=3",
                   "batch.global=15", "train.duration=20 steps"},
                  folder.path(), {{"SHAPES", shapes()}});
  while (program.running()) {
    for (const auto& listener : listening_sockets(program.pid()))
      ADD_FAILURE() << listener.address << ":" << listener.port;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Network, RanksThatMeetAtLoopbackListenOnNothingElse) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto port = free_port();
  const auto rank = [&](const std::string& number) {
    return std::map<std::string, std::string>{
        {"SHAPES", shapes()}, {"RANK", number},          {"LOCAL_RANK", number},
        {"WORLD_SIZE", "2"},  {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"},
        {"MASTER_PORT", port}};
  };
  const std::vector<std::string> words{"run", "small.yaml", kSmallModel, "parallel.mode=ddp",
                                       "parallel.devices=2"};
  Program first(words, folder.path(), rank("0"));
  Program second(words, folder.path(), rank("1"));
  bool store = false;
  while (first.running() || second.running()) {
    for (const auto pid : {first.pid(), second.pid()})
      for (const auto& listener : listening_sockets(pid)) {
        store = store || std::to_string(listener.port) == port;
        EXPECT_TRUE(listener.is_loopback()) << listener.address << ":" << listener.port;
      }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_EQ(second.wait().code, 0);
  EXPECT_TRUE(store) << "the store's own listener was expected";
}

TEST(Network, ARunOnOneRankListensOnNothing) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program({"run", "small.yaml"}, folder.path(), {{"SHAPES", shapes()}});
  while (program.running()) {
    EXPECT_TRUE(listening_sockets(program.pid()).empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(program.wait().code, 0);
}

// A host of its own, whose name is that of its outer address: the rest of the words runs there.
constexpr const char* kOuterHost = R"sh(set -e
ip link set lo up
ip link add outer type dummy 2>/dev/null || ip link add outer type veth peer name other
ip address add 10.9.8.7/24 dev outer
ip link set outer up
echo outer-host > /proc/sys/kernel/hostname
echo "10.9.8.7 outer-host" > hosts
mount --bind hosts /etc/hosts
getent ahosts "$(cat /proc/sys/kernel/hostname)" | grep -q 10.9.8.7
exec "$@")sh";

std::vector<std::string> on_outer_host(const std::vector<std::string>& words) {
  std::vector<std::string> all{"--user", "--map-root-user", "--net", "--uts", "--mount", "sh",
                               "-c",     kOuterHost,        "sh"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::string network_of(const std::string& process) {
  std::error_code gone;
  return std::filesystem::read_symlink("/proc/" + process + "/ns/net", gone).string();
}

TEST(Network, AHostWhoseNameIsAnOuterAddressListensOnNothing) {
  const Folder folder;
  const auto allowed = Program(on_outer_host({"true"}), folder.path(), {}, "unshare").wait();
  if (allowed.code != 0) GTEST_SKIP() << "no host of its own here: " << allowed.err;
  write(folder / "small.yaml", small_recipe());
  Program program(
      on_outer_host({test::program(), "run", "small.yaml", "parallel.mode=ddp",
                     "parallel.devices=2", "model={type: mnist_net, num_classes: auto}"}),
      folder.path(), {{"SHAPES", shapes()}}, "unshare");
  while (program.running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const auto network = network_of(std::to_string(program.pid()));
    if (network.empty() || network == network_of("self")) continue;
    for (const auto& socket : sockets_of_namespace(program.pid()))
      ADD_FAILURE() << socket.address << ":" << socket.port;
  }
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// Two hosts with one cable. Each knows its own name as 127.0.1.1, as Debian's /etc/hosts has it, so
// that a name says nothing about the cable. $1 is the program, $2 the folder; the rest its words.
constexpr const char* kTwoHosts = R"sh(set -e
program=$1; cd "$2"; shift 2
ip link set lo up
ip link add left type veth peer name right
unshare --net --uts --mount sleep 600 & other=$!
trap 'kill $other' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
ip link set right netns $other
ip address add 10.9.8.1/24 dev left; ip link set left up
there() { nsenter --net --uts --mount -t $other "$@"; }
there sh -c 'ip link set lo up; ip address add 10.9.8.2/24 dev right; ip link set right up'
echo 127.0.1.1 host-one > one; echo 10.9.8.2 host-two >> one
echo 127.0.1.1 host-two > two; echo 10.9.8.1 host-one >> two
echo host-one > /proc/sys/kernel/hostname; mount --bind one /etc/hosts
there sh -c "echo host-two > /proc/sys/kernel/hostname; mount --bind $PWD/two /etc/hosts"
getent hosts host-one | grep -q 127.0.1.1
[ "$program" != true ] || exit 0
export MASTER_ADDR=host-one MASTER_PORT=29500 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1
RANK=1 there sh -c 'cd "$0"; exec "$@"' "$PWD" "$program" "$@" 2> second.err & second=$!
)sh";

constexpr const char* kTrain = R"sh(
RANK=0 "$program" "$@" || { cat second.err >&2; exit 1; }
wait $second)sh";

// In the midst of training nothing goes over the cable any more, without a message to either side.
constexpr const char* kCut = R"sh(
RANK=0 "$program" "$@" 2> first.err & first=$!
until grep -q 'step 20/' first.err; do kill -0 $first; sleep 0.05; done
sleep 2
ip link set left down
wait $first || echo "first $?"
wait $second || echo "second $?")sh";

std::vector<std::string> on_two_hosts(const std::string& program, const std::string& folder,
                                      const std::vector<std::string>& words,
                                      const std::string& what = kTrain) {
  std::vector<std::string> all{"--user", "--map-root-user", "--net", "--uts", "--mount", "sh",
                               "-c",     kTwoHosts + what,  "sh",    program, folder};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

TEST(Network, HostsThatKnowTheirOwnNameAsLoopbackTrainTogether) {
  const Folder folder;
  const auto allowed =
      Program(on_two_hosts("true", folder.path(), {}), folder.path(), {}, "unshare").wait();
  if (allowed.code != 0) GTEST_SKIP() << "no hosts of their own here: " << allowed.err;
  write(folder / "small.yaml", small_recipe());
  const auto ended = Program(on_two_hosts(test::program(), folder.path(),
                                          {"run", "small.yaml", "parallel.mode=ddp", kSmallModel,
                                           "parallel.devices=2", "parallel.timeout.start=20s"}),
                             folder.path(), {{"SHAPES", shapes()}}, "unshare")
                         .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(exists(folder / "runs/small/001/metrics.csv")) << ended.err;
}

// Both sides end within the time-out, and each names the rank beyond the cable.
TEST(Network, ACableThatIsCutEndsBothHostsWithTheSameSentence) {
  const Folder folder;
  const auto allowed =
      Program(on_two_hosts("true", folder.path(), {}), folder.path(), {}, "unshare").wait();
  if (allowed.code != 0) GTEST_SKIP() << "no hosts of their own here: " << allowed.err;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> endless{"run",
                                         "small.yaml",
                                         kSmallModel,
                                         "parallel.mode=ddp",
                                         "parallel.devices=2",
                                         "train.threads=1",
                                         "train.duration=1000000 steps",
                                         "eval.every=1000000 steps",
                                         "checkpoint.every=1000000 steps",
                                         "parallel.timeout.step=6s"};
  const auto ended = Program(on_two_hosts(test::program(), folder.path(), endless, kCut),
                             folder.path(), {{"SHAPES", shapes()}}, "unshare")
                         .wait();
  const auto first = read(folder / "first.err"), second = read(folder / "second.err");
  EXPECT_EQ(ended.out, "first 4\nsecond 4\n") << first << second;
  const std::string place = " in phase '[a-z ]+' after step [0-9]+ on ";
  EXPECT_THAT(first, testing::ContainsRegex("error: rank 1: no sign of life since it was" + place +
                                            "host-two: it was killed or suspended, or its node is "
                                            "lost\n"));
  EXPECT_THAT(second, testing::ContainsRegex("error: rank 0: no answer from the meeting point, "
                                             "which it serves \\(MASTER_ADDR\\): it was last seen" +
                                             place +
                                             "host-one; it was killed or suspended, or its node is "
                                             "lost\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
