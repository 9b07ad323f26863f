#include "runs/events_jsonl.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

TEST(EventsUntil, EndWithTheStep) {
  const std::string first = R"({"event":"begin","step":0})", later = R"({"event":"step","step":5})";
  EXPECT_EQ(events_until(first + "\n" + later + "\n" + R"({"event":"st)", 4), first + "\n");
}

RunEvent evaluation() {
  RunEvent event{"evaluation", "2026-01-01T00:00:00Z", 20, 2.5};
  event.values = {{"valid/loss", 0.5}, {"valid/f1", std::nan("")}};
  NamedTable table;
  table.kind = NamedTable::Kind::confusion;
  table.name = "valid/confusion_matrix";
  table.file = "confusion";
  table.rows = table.columns = {"a", "b"};
  table.cells = {1, 2, 3, 4};
  event.tables = {table};
  return event;
}

TEST(RunEvents, AreTheSameAfterTheyWereWrittenAndRead) {
  const auto line = to_line(evaluation());
  EXPECT_EQ(line, R"({"event":"evaluation","time":"2026-01-01T00:00:00Z","step":20,"epoch":2.5,)"
                  R"("valid/loss":0.5,"valid/f1":null,"tables":[{"name":)"
                  R"("valid/confusion_matrix.confusion","rows":["a","b"],"columns":["a","b"],)"
                  R"("cells":[[1.0,2.0],[3.0,4.0]]}]})"
                  "\n");
  const auto read = event_of(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_line(*read), line);
  EXPECT_EQ(read->tables.at(0).kind, NamedTable::Kind::confusion);
  EXPECT_EQ(read->tables.at(0).cells, evaluation().tables[0].cells);
}

TEST(RunEvents, HaveTheTextsOfAnEvaluation) {
  RunEvent event{"texts", "2026-01-01T00:00:00Z", 20, 2.5};
  event.texts = {{"valid", "The \"film\"", " was\n", 2, "length"}};
  const auto line = to_line(event);
  EXPECT_EQ(line, R"({"event":"texts","time":"2026-01-01T00:00:00Z","step":20,"epoch":2.5,)"
                  R"("texts":[{"weights":"valid","prompt":"The \"film\"","text":" was\n",)"
                  R"("tokens":2,"end":"length"}]})"
                  "\n");
  const auto read = event_of(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_line(*read), line);
}

TEST(RunEvents, OfOtherShapesAreNone) {
  for (const auto* line : {"", "[1]", "{\"event\":\"st", R"({"event":3})", R"({"step":"x"})"})
    EXPECT_FALSE(event_of(line)) << line;
}

TEST(RunEvents, TellOfACheckpointSinceTheRunLastBegan) {
  const TemporaryFolder folder;
  EXPECT_FALSE(has_saved(folder.path()));
  const std::string begin = "{\"event\":\"begin\",\"step\":0}\n",
                    saved = "{\"event\":\"checkpoint\",\"step\":4}\n";
  folder.write("events.jsonl", begin + saved);
  EXPECT_TRUE(has_saved(folder.path()));
  folder.write("events.jsonl", begin + saved + begin);
  EXPECT_FALSE(has_saved(folder.path()));
}

}  // namespace
}  // namespace ddptrain
