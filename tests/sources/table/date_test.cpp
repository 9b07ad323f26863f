#include "sources/table/date.h"

#include <gmock/gmock.h>

#include <vector>

namespace ddptrain {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> parts_of(const std::string& text, const std::string& format = "") {
  const auto date = parse_date(text, format);
  if (!date) return {};
  std::vector<std::int64_t> values;
  for (const auto& part : date_parts()) values.push_back(part.value(*date));
  return values;
}

// Values of fastai 2.8.12's add_datepart(time=True), dates as datetime64[ns].
TEST(DateParts, AreThoseOfFastai) {
  EXPECT_THAT(parts_of("2024-02-29"),
              ElementsAre(2024, 2, 9, 29, 3, 60, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1709164800));
  EXPECT_THAT(parts_of("2021-01-03"),
              ElementsAre(2021, 1, 53, 3, 6, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1609632000));
  EXPECT_THAT(parts_of("2019-12-30"),
              ElementsAre(2019, 12, 1, 30, 0, 364, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1577664000));
  EXPECT_THAT(parts_of("2020-06-30"),
              ElementsAre(2020, 6, 27, 30, 1, 182, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1593475200));
  EXPECT_THAT(parts_of("2023-10-01"),
              ElementsAre(2023, 10, 39, 1, 6, 274, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1696118400));
  EXPECT_THAT(parts_of("1999-12-31"),
              ElementsAre(1999, 12, 52, 31, 4, 365, 1, 0, 1, 0, 1, 0, 0, 0, 0, 946598400));
  EXPECT_THAT(parts_of("2000-01-01 13:45:09"),
              ElementsAre(2000, 1, 52, 1, 5, 1, 0, 1, 0, 1, 0, 1, 13, 45, 9, 946734309));
  EXPECT_THAT(parts_of("1969-12-31T23:59:58Z"),
              ElementsAre(1969, 12, 1, 31, 2, 365, 1, 0, 1, 0, 1, 0, 23, 59, 58, -2));
}

TEST(DateParts, AreNamedAsFastaiNamesThem) {
  EXPECT_EQ(date_prefix("sale_date"), "sale_");
  EXPECT_EQ(date_prefix("SaleDate"), "Sale");
  EXPECT_EQ(date_prefix("sold"), "sold");
  EXPECT_EQ(date_parts().front().name, "Year");
  EXPECT_EQ(date_parts().back().name, "Elapsed");
}

TEST(Dates, AreReadInTheirFormat) {
  const auto same = [](const std::string& text, const std::string& format) {
    return parts_of(text, format) == parts_of("2024-03-05 17:06:00");
  };
  EXPECT_TRUE(same("05.03.2024 17:06", "%d.%m.%Y %H:%M"));
  EXPECT_TRUE(same("3/5/24 5:06 PM", "%m/%d/%y %I:%M %p"));
  EXPECT_TRUE(same("5. March 2024 17h06", "%d. %B %Y %Hh%M"));
  EXPECT_TRUE(same(" 05-MAR-24 17:06:00.25 ", "%d-%b-%y %H:%M:%S.%f"));
  EXPECT_TRUE(same("20240305 1706", "%Y%m%d %H%M"));
  EXPECT_EQ(parse_date("31.12.69", "%d.%m.%y")->year, 1969);
  EXPECT_EQ(parse_date("31.12.68", "%d.%m.%y")->year, 2068);
}

TEST(Dates, AreThoseOfTheCalendar) {
  for (const auto* text : {"2023-02-29", "2024-13-01", "2024-00-10", "2024-01-32", "24-01-01", "",
                           "2024-01-01x", "2024-01-01 24:00", "0000-01-01", "2024-01-01 1"})
    EXPECT_FALSE(parse_date(text, "")) << text;
  EXPECT_FALSE(parse_date("01.13.2024", "%d.%m.%Y"));
  EXPECT_FALSE(parse_date("13:00 PM", "%I:%M %p"));
}

TEST(Dates, NameADirectiveThatIsUnknown) {
  EXPECT_EQ(unknown_directive("%d.%m.%Y %%"), "");
  EXPECT_EQ(unknown_directive("%d %q"), "%q");
  EXPECT_EQ(unknown_directive("100 %"), "%");
}

}  // namespace
}  // namespace ddptrain
