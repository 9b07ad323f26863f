#include "launch/signal_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "base/files/files.h"
#include "launch/child_process.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;

class Relay : public testing::Test {
 protected:
  Asked after(int signal) {
    ::kill(::getpid(), signal);
    return relay_.next(1, [this](int sent) { sent_.push_back(sent); });
  }

  SignalRelay relay_{SIGSTOP};
  std::vector<int> sent_;
};

TEST_F(Relay, AsksToStopOnceAndThenAtTheSecondCtrlCToEnd) {
  EXPECT_EQ(after(SIGTERM).what, Asked::stop);
  EXPECT_EQ(relay_.stop_signal(), SIGTERM);
  EXPECT_EQ(after(SIGTERM).what, Asked::nothing);
  const auto last = after(SIGINT);
  EXPECT_EQ(last.what, Asked::end_now);
  EXPECT_EQ(last.signal, SIGINT);
  EXPECT_EQ(relay_.stop_signal(), SIGTERM);
}

TEST_F(Relay, EndsAtOnceAfterSigquit) {
  EXPECT_EQ(after(SIGQUIT).what, Asked::end_now);
  EXPECT_EQ(relay_.stop_signal(), 0);
}

TEST_F(Relay, LeavesToTheCallerWhoSaves) {
  EXPECT_EQ(after(SIGUSR1).what, Asked::save);
  EXPECT_THAT(sent_, ElementsAre());
}

TEST_F(Relay, ContinuesItsChildren) {
  EXPECT_EQ(after(SIGCONT).what, Asked::resumed);
  EXPECT_THAT(sent_, ElementsAre(SIGCONT));
}

TEST_F(Relay, SuspendsItsChildrenAndItself) {
  const pid_t us = ::getpid();
  sigset_t none;
  ::sigemptyset(&none);
  ChildProcess continues({"a test", Tie::own_group, none, [us] {
                            const auto stat = "/proc/" + std::to_string(us) + "/stat";
                            while (read_text(stat).find(") T ") == std::string::npos)
                              ::usleep(1000);
                            return ::kill(us, SIGCONT);
                          }});
  EXPECT_EQ(after(SIGTSTP).what, Asked::resumed);
  EXPECT_THAT(sent_, ElementsAre(SIGSTOP, SIGCONT));
  continues.wait();
  EXPECT_EQ(continues.code(), 0);
}

}  // namespace
}  // namespace ddptrain
