// The status line on a terminal: what a person sees, after all that was written and rewritten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "base/output/log.h"
#include "base/output/terminal.h"
#include "callbacks/pace.h"
#include "callbacks/writers.h"
#include "support/terminal.h"

namespace ddptrain {
namespace {

using test::on_terminal;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// The rows of a terminal that wraps, and understands what the status line uses of ECMA-48.
class Screen {
 public:
  explicit Screen(std::size_t columns) : columns_(columns) {}

  void write(const std::string& text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '\033')
        at = control(text, at);
      else if (c == '\r')
        column_ = 0;
      else if (c == '\n')
        next_row();
      else
        put(c);
    }
  }

  /// Without blanks at the end, and without the rows below the last that is not empty.
  std::vector<std::string> rows() const {
    auto shown = rows_;
    for (auto& row : shown) row.erase(row.find_last_not_of(' ') + 1);
    while (!shown.empty() && shown.back().empty()) shown.pop_back();
    return shown;
  }
  bool wrapped() const { return wrapped_; }

 private:
  void put(char c) {
    if (column_ == columns_) {
      wrapped_ = true;
      next_row();
      column_ = 0;
    }
    auto& row = rows_[row_];
    row.resize(std::max(row.size(), column_ + 1), ' ');
    row[column_++] = c;
  }
  void next_row() {
    if (++row_ == rows_.size()) rows_.emplace_back();
  }
  std::size_t control(const std::string& text, std::size_t at) {
    std::size_t number = 0;
    for (at += 2; std::isdigit(text[at]) || text[at] == ';'; ++at)
      if (text[at] != ';') number = 10 * number + std::size_t(text[at] - '0');
    if (text[at] == 'A') row_ -= std::min(row_, std::max<std::size_t>(1, number));
    if (text[at] == 'J') {
      rows_.resize(row_ + 1);
      rows_[row_].resize(std::min(rows_[row_].size(), column_));
    }
    EXPECT_TRUE(text[at] == 'A' || text[at] == 'J' || text[at] == 'm') << text[at];
    return at;
  }

  std::size_t columns_;
  std::vector<std::string> rows_{""};
  std::size_t row_ = 0, column_ = 0;
  bool wrapped_ = false;
};

RunView at_step(std::int64_t step) {
  RunView run;
  run.step = step;
  run.total_steps = 300;
  run.per_epoch = 100;
  run.epoch = static_cast<double>(step) / 100;
  run.train_loss = 0.1234;
  run.lr = 0.00123;
  run.seconds = static_cast<double>(step);
  run.samples_per_second = 512.3;
  return run;
}

/// Ten steps with an evaluation of three batches and a checkpoint after the fifth.
void play_run() {
  const auto line = make_status_line([](const RunView&) { return false; });
  RunControl control;
  line->at(Moment::run_begin, at_step(0), control);
  for (std::int64_t step = 1; step <= 10; ++step) {
    auto run = at_step(step);
    line->at(Moment::step_end, run, control);
    if (step != 5) continue;
    run.evaluation_batches = 3;
    for (run.evaluation_batch = 1; run.evaluation_batch <= 3; ++run.evaluation_batch) {
      run.seconds += 0.2;
      line->at(Moment::evaluating, run, control);
    }
    run.metrics = {{"valid/a\033[31m", 0.5}};
    line->at(Moment::evaluated, run, control);
    line->at(Moment::saving, run, control);
    run.checkpoint = "step-5";
    line->at(Moment::saved, run, control);
  }
}

class StatusLineAtWidth : public testing::TestWithParam<int> {};

TEST_P(StatusLineAtWidth, NeverWrapsAndIsRewrittenInItsRow) {
  const auto columns = static_cast<std::size_t>(GetParam());
  Screen screen(columns);
  screen.write(on_terminal(static_cast<unsigned short>(columns), play_run));
  const auto rows = screen.rows();
  // Lines that stay, of which none is wrapped, and the status line.
  EXPECT_FALSE(screen.wrapped());
  const std::string loss = "valid/a\\x1b[31m 0.5000";
  ASSERT_THAT(rows, SizeIs(columns > 41 ? 3 : 4));
  EXPECT_EQ(rows[0], columns > 41 ? "step 5  epoch 0.05  " + loss : "step 5  epoch 0.05");
  if (columns <= 41) {
    EXPECT_EQ(rows[1], "  " + loss);
  }
  EXPECT_EQ(rows[rows.size() - 2], "step 5  saved step-5");
  EXPECT_THAT(rows.back(),
              testing::ContainsRegex("^(-{10}  )?step 10/300(  epoch 0\\.10)?  loss 0\\.1234"));
  EXPECT_LT(rows.back().size(), columns);
}

INSTANTIATE_TEST_SUITE_P(Columns, StatusLineAtWidth, testing::Values(30, 40, 80, 200));

/// 290 steps are left. Of those made, the first is not counted, eight took 1 s, one 0.4 s, and 0.6
/// s went to the evaluation: 290 (8.4 / 9 + 0.6 / 10) s are 288 s, and of the epoch's 90 steps 89.4
/// s.
TEST(StatusLine, ShowsWhatMattersMostWhereThereIsLittleRoom) {
  const auto last_row = [](unsigned short columns) {
    Screen screen(columns);
    screen.write(on_terminal(columns, play_run));
    return screen.rows().back();
  };
  EXPECT_EQ(last_row(200),
            "----------  step 10/300  epoch 0.10  loss 0.1234  lr 0.00123  512.3 samples/s  "
            "left 4 min 48 s  epoch 1 min 29 s");
  EXPECT_EQ(last_row(80), "----------  step 10/300  loss 0.1234  512.3 samples/s  left 4 min 48 s");
  EXPECT_EQ(last_row(40), "step 10/300  loss 0.1234");
  EXPECT_EQ(last_row(20), "step 10/300");
}

/// On x86 inf - inf is -nan.
TEST(StatusLine, ShowsALossThatIsNoNumberWithoutASign) {
  Screen screen(40);
  screen.write(on_terminal(40, [] {
    const auto line = make_status_line([](const RunView&) { return false; });
    RunControl control;
    line->at(Moment::run_begin, at_step(0), control);
    auto run = at_step(10);
    run.train_loss = -std::nan("");
    line->at(Moment::step_end, run, control);
  }));
  EXPECT_THAT(screen.rows().back(), testing::StartsWith("step 10/300  loss nan  "));
}

/// A device that counts its memory shows the most that was reserved, where there is room.
TEST(StatusLine, ShowsTheMemoryOfADevice) {
  const auto play = [] {
    const auto line = make_status_line([](const RunView&) { return false; });
    RunControl control;
    auto run = at_step(1);
    run.memory = {std::int64_t{12} << 30, std::int64_t{80} << 30};
    line->at(Moment::step_end, run, control);
  };
  EXPECT_THAT(on_terminal(200, play), HasSubstr("  memory 12.0 GiB of 80.0 GiB"));
  EXPECT_THAT(on_terminal(80, play), Not(HasSubstr("memory")));
}

TEST(StatusLine, ShowsEvaluationAndSaving) {
  const auto text = on_terminal(80, play_run);
  EXPECT_THAT(text, HasSubstr("step 5/300  evaluating, batch 2/3"));
  EXPECT_THAT(text, HasSubstr("step 5/300  writing a checkpoint"));
  // What follows the line about the checkpoint is as new as it.
  EXPECT_THAT(text.substr(text.find("saved step-5\r\n")),
              testing::StartsWith("saved step-5\r\n----------  step 5/300  loss"));
}

TEST(StatusLine, BeginsWithABarInTheCharactersOfTheLocale) {
  const auto play = [](std::int64_t step) {
    return [step] {
      const auto line = make_status_line([](const RunView&) { return false; });
      RunControl control;
      line->at(Moment::step_end, at_step(step), control);
    };
  };
  EXPECT_THAT(on_terminal(80, play(150), "LANG", "de_DE.UTF-8"),
              HasSubstr("█████░░░░░  step 150/300  loss 0.1234  512.3 samples/s  left 6 h 15 min"));
  EXPECT_THAT(on_terminal(80, play(150), "LC_ALL", "C.utf8"),
              HasSubstr("█████░░░░░  step 150/300  loss 0.1234  512.3 samples/s  left 6 h 15 min"));
  EXPECT_THAT(on_terminal(80, play(150)),
              HasSubstr("#####-----  step 150/300  loss 0.1234  512.3 samples/s  left 6 h 15 min"));
  EXPECT_THAT(
      on_terminal(80, play(300), "LC_CTYPE", "POSIX"),
      HasSubstr("##########  step 300/300  epoch 3.00  loss 0.1234  lr 0.00123  512.3 samples/s"));
}

TEST(StatusLine, LeavesNothingBehind) {
  Screen screen(40);
  screen.write(on_terminal(40, [] {
    const auto line = make_status_line([](const RunView&) { return false; });
    RunControl control;
    line->at(Moment::run_begin, at_step(0), control);
    line->at(Moment::step_end, at_step(1), control);
    line->at(Moment::run_end, at_step(1), control);
    log::info("done");
  }));
  EXPECT_THAT(screen.rows(), ElementsAre("done"));
}

TEST(StatusLine, IsNotThereWhereLessIsAskedFor) {
  EXPECT_EQ(on_terminal(80,
                        [] {
                          log::hide_status();
                          log::status("step 1");
                        }),
            "");
}

TEST(StatusLine, EndsWithAnError) {
  Screen screen(40);
  screen.write(on_terminal(40, [] {
    log::status("step 1");
    log::error("the loss is not finite");
  }));
  EXPECT_THAT(screen.rows(), SizeIs(1));
}

TEST(StatusLine, FollowsATerminalThatBecomesNarrower) {
  const auto text = on_terminal(80, [] {
    log::status(std::string(70, 'x'));
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 30;
    ::ioctl(STDERR_FILENO, TIOCSWINSZ, &size);
    log::status(std::string(70, 'y'));
  });
  // The 70 columns are three rows by now: two up, then everything below is erased.
  EXPECT_THAT(text, HasSubstr("\033[2A\r\033[J" + std::string(26, 'y') + "..."));
  EXPECT_THAT(text, Not(HasSubstr(std::string(30, 'y'))));
}

TEST(StatusLine, IsPlainLinesWhereATerminalIsDumbOrNoColorsAreWanted) {
  const auto play = [] {
    const auto line = make_status_line([](const RunView& run) { return run.step % 2 == 0; });
    RunControl control;
    line->at(Moment::run_begin, at_step(0), control);
    for (std::int64_t step = 1; step <= 4; ++step)
      line->at(Moment::step_end, at_step(step), control);
    line->at(Moment::run_end, at_step(4), control);
  };
  for (const auto& [variable, value] :
       std::vector<std::pair<std::string, std::string>>{{"TERM", "dumb"}, {"NO_COLOR", "1"}}) {
    const auto text = on_terminal(40, play, variable, value);
    EXPECT_THAT(text, Not(HasSubstr("\033"))) << variable;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << variable << text;
    EXPECT_THAT(text, testing::StartsWith("step 2/300  epoch 0.02  loss")) << variable;
  }
}

TEST(StatusLine, WritesNumbersOfTokensWithoutDecimals) {
  const auto text = on_terminal(200, [] {
    const auto line = make_status_line([](const RunView&) { return false; });
    RunControl control;
    auto run = at_step(5);
    run.metrics = {{"valid/perplexity", 1234.5}, {"valid/perplexity/tokens", 78640}};
    line->at(Moment::evaluated, run, control);
  });
  EXPECT_THAT(text, HasSubstr("valid/perplexity 1234.50  valid/perplexity/tokens 78640"));
  EXPECT_THAT(text, Not(HasSubstr("78640.")));
}

TEST(Pace, CountsWithTheStepsOfLateAndWithPauses) {
  Pace pace;
  pace.begin(0);
  EXPECT_FALSE(pace.left(10));
  pace.stepped(20);  // warms up
  for (int i = 1; i < 10; ++i) pace.stepped(20 + 2 * i);
  EXPECT_DOUBLE_EQ(*pace.left(5), 10);
  pace.paused(38 + 30);
  EXPECT_DOUBLE_EQ(*pace.left(5), 5 * (2 + 3));
  EXPECT_DOUBLE_EQ(*pace.left(0), 0);
}

}  // namespace
}  // namespace ddptrain
