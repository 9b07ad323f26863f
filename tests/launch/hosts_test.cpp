#include "launch/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace ddptrain {
namespace {

using Hosts = std::vector<std::string>;

// Expected values: `scontrol show hostnames LIST` of Slurm 22.05.
TEST(SlurmHosts, AreThoseOfScontrol) {
  EXPECT_EQ(slurm_hosts("gpu07"), Hosts{"gpu07"});
  EXPECT_EQ(slurm_hosts("gpu07,gpu09"), (Hosts{"gpu07", "gpu09"}));
  EXPECT_EQ(slurm_hosts("gpu[07-09,12],login1"),
            (Hosts{"gpu07", "gpu08", "gpu09", "gpu12", "login1"}));
  EXPECT_EQ(slurm_hosts("gpu[3,5]"), (Hosts{"gpu3", "gpu5"}));
  EXPECT_EQ(slurm_hosts("n[098-101]"), (Hosts{"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(slurm_hosts("n[9-11]"), (Hosts{"n9", "n10", "n11"}));
  EXPECT_EQ(slurm_hosts("gpu[1-2]-ib"), (Hosts{"gpu1-ib", "gpu2-ib"}));
  EXPECT_EQ(slurm_hosts("a-b-[01].example.org"), Hosts{"a-b-01.example.org"});
  EXPECT_EQ(slurm_hosts(""), Hosts{});
}

TEST(SlurmHosts, OfSeveralBracketsVaryInTheLastFirst) {
  EXPECT_EQ(slurm_hosts("rack[1-2]node[01-02]"),
            (Hosts{"rack1node01", "rack1node02", "rack2node01", "rack2node02"}));
  EXPECT_EQ(slurm_hosts("x[1,3]c[0-1]s[08-09]b0,y1"),
            (Hosts{"x1c0s08b0", "x1c0s09b0", "x1c1s08b0", "x1c1s09b0", "x3c0s08b0", "x3c0s09b0",
                   "x3c1s08b0", "x3c1s09b0", "y1"}));
}

TEST(SlurmHosts, RefuseWhatIsNoList) {
  for (const auto* list : {"gpu[1-2", "gpu1]", "gpu[[1]]", "gpu[]", "gpu[a-b]", "gpu[5-3]",
                           "gpu[-1]", "gpu[1-99999999999999999999]"})
    EXPECT_THROW(slurm_hosts(list), Error) << list;
}

TEST(SlurmHosts, RefuseMoreThanAnyClusterHas) {
  EXPECT_EQ(slurm_hosts("n[1-65536]").size(), 65'536u);
  for (const auto* list : {"n[1-65537]", "n[1-999999999]", "a[1-1000]b[1-1000]",
                           "a[0-99]b[0-99]c[0-99]d[0-99]e[0-99]", "a[1-60000],b[1-60000]"})
    EXPECT_THROW(slurm_hosts(list), Error) << list;
}

TEST(TasksOnNode, OfSlurmsShortForm) {
  EXPECT_EQ(tasks_on_node("4(x2),3", 0), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_on_node("4(x2),3", 3), 0);
  EXPECT_EQ(tasks_on_node("", 0), 0);
}

TEST(HostsInAList, AreNamesEachOnce) {
  EXPECT_EQ(hosts_in_list("hostA 4 hostB 4"), (Hosts{"hostA", "hostB"}));
  EXPECT_EQ(hosts_in_list("10.0.0.5\n10.0.0.6\n"), (Hosts{"10.0.0.5", "10.0.0.6"}));
  EXPECT_EQ(hosts_in_list("a;b,a"), (Hosts{"a", "b"}));
  EXPECT_EQ(hosts_in_list(""), Hosts{});
}

}  // namespace
}  // namespace ddptrain
