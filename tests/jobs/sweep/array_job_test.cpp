#include "jobs/sweep/array_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(ArrayJob, RunsOneRunAnElement) {
  const auto script =
      slurm_script({"a b", 27, 4, "/data/my runs", {"ddptrain", "sweep", "a.yaml", "x=1, 2"}});
  EXPECT_TRUE(script.starts_with("#!/bin/bash\n#SBATCH --job-name='a b'\n#SBATCH --array=1-27%4\n"))
      << script;
  EXPECT_THAT(script, testing::HasSubstr("\ncd '/data/my runs' || exit 3\n"));
  EXPECT_TRUE(
      script.ends_with("\nexec ddptrain sweep a.yaml 'x=1, 2' --run \"$SLURM_ARRAY_TASK_ID\"\n"))
      << script;
}

}  // namespace
}  // namespace ddptrain
