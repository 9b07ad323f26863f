// `doctor` tells what is there, and advises where something is lacking.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Doctor, TellsVersionsDevicesAndDisk) {
  const Folder folder;
  const auto said = Program({"doctor"}, folder.path()).wait();
  EXPECT_EQ(said.code, 0) << said.err;
  for (const std::string what : {"with torch 2.11", "hardware thread", "GPUs", "/dev/shm",
                                 "open at once", "free for runs in this folder"})
    EXPECT_THAT(said.out, HasSubstr(what));
}

TEST(Doctor, AdvisesOnAHalfSetLauncherAndAFolderThatIsNotThere) {
  const Folder folder;
  const auto said =
      Program({"doctor"}, folder.path(), {{"RANK", "1"}, {"DDPTRAIN_DATA", "/no/such/folder"}})
          .wait();
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("-> a half-set environment"));
  EXPECT_THAT(said.out, HasSubstr("-> there is no such folder"));
  EXPECT_THAT(said.out, Not(HasSubstr("nothing to do")));
}

}  // namespace
}  // namespace ddptrain::end_to_end
