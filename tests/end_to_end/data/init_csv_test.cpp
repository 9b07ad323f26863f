// `init FILE.csv` with files as people have them: what is recognized, what is left out, and that
// the recipe trains a step and predicts the file it came from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using Cells = std::vector<std::string>;

/// Rows that do not repeat soon: 48 of flats, with the number of the row from 0.
struct Flat {
  int id, area, rooms, price;
  std::string town, agent, date;
};

Flat flat(int i) {
  const char* towns[] = {"Kiel", "Ulm", "Köln"};
  const char* agents[] = {"Meyer", "Schulz", "Nord Immo", "Süd Immo"};
  const int area = 30 + i * 37 % 90, day = 1 + i % 28, month = 1 + i % 12;
  char date[16];
  std::snprintf(date, sizeof date, "%02d.%02d.%d", day, month, 2020 + i % 4);
  return {1000 + i,     area,          1 + i % 4, 1000 * (50 + 3 * area + i % 7),
          towns[i % 3], agents[i % 4], date};
}

std::string sentence(int i) {
  return "Bright flat number " + std::to_string(i) + " with a balcony and a view of the " +
         (i % 2 ? "harbor" : "garden");
}

constexpr int kSheetRows = 48;

/// A header and rows, joined by a separator.
std::string sheet(const Cells& header, const std::function<Cells(int)>& row,
                  const std::string& separator = ",", const std::string& end = "\n") {
  const auto joined = [&](const Cells& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i ? separator : "") + cells[i];
    return line + end;
  };
  std::string text = header.empty() ? "" : joined(header);
  for (int i = 0; i < kSheetRows; ++i) text += joined(row(i));
  return text;
}

/// "1.234.567" with such a sign.
std::string grouped(int number, const std::string& sign) {
  auto digits = std::to_string(number);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), sign);
  return digits;
}

/// UTF-8 text of characters up to U+00FF and the euro sign in windows-1252.
std::string in_windows_1252(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      bytes += text[i];
    } else if (c == 0xe2) {
      bytes += '\x80';
      i += 2;
    } else {
      bytes += static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    }
  }
  return bytes;
}

/// The same characters in UTF-16, low bytes first, with a byte order mark.
std::string in_utf_16(const std::string& text) {
  std::string bytes = "\xff\xfe";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const int code =
        c < 0x80 ? c : (c & 0x1f) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f);
    bytes += static_cast<char>(code & 0xff);
    bytes += static_cast<char>(code >> 8);
  }
  return bytes;
}

struct CsvCase {
  std::string name, text;
  Cells output;  // parts of what init prints
  Cells recipe;  // parts of what it writes
  Cells flags{};
};

Cells flats_header() {
  return {"id", "town", "area", "rooms", "agent", "description", "country", "price_eur"};
}
Cells flats_row(int i) {
  const auto f = flat(i);
  return {std::to_string(f.id), f.town, std::to_string(f.area), std::to_string(f.rooms), f.agent,
          sentence(i),          "DE",   std::to_string(f.price)};
}

std::vector<CsvCase> european() {
  const auto exported = [](int i) {
    const auto f = flat(i);
    return Cells{std::to_string(f.id), f.town,
                 std::to_string(f.area) + "," + std::to_string(i % 10),
                 grouped(f.price, ".") + ",50", f.date};
  };
  const Cells header{"Nr", "Ort", "Fläche", "Kaufpreis", "Datum"};
  return {
      {"german_excel",
       in_windows_1252(sheet(header, exported, ";", "\r\n")),
       {"target: column 'Kaufpreis'", "dates in 'Datum' are read as %d.%m.%Y", "rows apart: Nr"},
       {"csv: {separator: ;, decimal: \",\", thousands: ., encoding: windows-1252}",
        "format: \"%d.%m.%Y\"", "categories: [Ort]", "continuous: [Fläche]"}},
      {"utf8_bom_semicolon",
       "\xef\xbb\xbf" + sheet(header, exported, ";", "\r\n"),
       {"48 rows with a number each"},
       {"csv: {separator: ;, decimal: \",\", thousands: .}"}},
      {"excel_sep_line",
       "sep=;\r\n" + sheet(header, exported, ";", "\r\n"),
       {"48 rows with a number each"},
       {"csv: {separator: ;, decimal: \",\", thousands: .}"}},
      {"utf16_tabs",
       in_utf_16(sheet(header, exported, "\t", "\r\n")),
       {"separator 'tab', decimal ',', thousands '.', encoding 'utf-16'"},
       {"csv: {separator: tab, decimal: \",\", thousands: ., encoding: utf-16}"}},
      {"currency",
       sheet(
           {"town", "area", "discount", "price"},
           [](int i) {
             const auto f = flat(i);
             return Cells{f.town, std::to_string(f.area) + " m²", std::to_string(i % 9) + " %",
                          grouped(f.price, ".") + ",00 €"};
           },
           ";"),
       {"1 column of names, 2 columns of numbers", "units"},
       {"units: [\"%\", m², €]"}},
      {"swiss",
       sheet(
           {"Ort", "Miete"},
           [](int i) {
             return Cells{flat(i).town, "CHF " + grouped(flat(i).price, "'") + ".50"};
           },
           ";"),
       {"target: column 'Miete'"},
       {"thousands: \"'\"", "units: [CHF]"}},
      {"french",
       sheet(
           {"ville", "surface", "prix"},
           [](int i) {
             return Cells{flat(i).town, std::to_string(flat(i).area) + ",5",
                          grouped(flat(i).price, "\u202f") + ",00"};
           },
           ";"),
       {"target: column 'prix'"},
       {"decimal: \",\", thousands: \" \""}},
      {"round_thousands",
       sheet(
           {"area", "price"},
           [](int i) {
             return Cells{std::to_string(flat(i).area), grouped(flat(i).price, ".")};
           },
           ";"),
       {"140000 to"},
       {"thousands: ."}},
  };
}

std::vector<CsvCase> american() {
  return {
      {"flats",
       sheet(flats_header(), flats_row),
       {"48 rows with a number each", "target: column 'price_eur'; --target COLUMN takes another",
        "left out, since they only tell rows apart: id",
        "left out, since all rows are the same: country",
        "left out, since they are free text: description; --text description learns from it alone"},
       {"type: csv_table", "target: price_eur", "task: regression", "linear_skip: true, y_scale: [",
        "loss: {type: mse, scale: "}},
      {"dollars",
       sheet({"Sale Date", "Town", "Sqft", "SalePrice"},
             [](int i) {
               const auto f = flat(i);
               return Cells{std::to_string(1 + i % 12) + "/" + std::to_string(1 + i % 28) + "/2021",
                            f.town, "\"" + grouped(f.area * 10, ",") + "\"",
                            "\"$" + grouped(f.price, ",") + ".00\""};
             }),
       {"target: column 'SalePrice'", "dates in 'Sale Date' are read as %m/%d/%Y"},
       {"thousands: \",\"", "units: [$]"}},
      {"pipes",
       sheet(flats_header(), flats_row, "|"),
       {"target: column 'price_eur'"},
       {"csv: {separator: \"|\"}"}},
      {"booleans",
       sheet({"smoker", "age", "ill"},
             [](int i) {
               return Cells{i % 3 ? "true" : "false", std::to_string(20 + i % 50),
                            i % 2 ? "yes" : "no"};
             }),
       {"48 rows in 2 classes: no 24, yes 24"},
       {"categories: [smoker]", "task: classification"}},
      {"zip_codes",
       sheet({"zip", "area", "price"},
             [](int i) {
               return Cells{i % 2 ? "01067" : "80331", std::to_string(flat(i).area),
                            std::to_string(flat(i).price)};
             }),
       {"1 column of names, 1 column of numbers"},
       {"categories: [zip]"}},
      {"question_marks",
       sheet({"age", "job", "income"},
             [](int i) {
               return Cells{i % 9 == 4 ? "?" : std::to_string(20 + i), i % 5 ? "clerk" : "?",
                            i % 2 ? "high" : "low"};
             }),
       {"missing values are written '?' too"},
       {"continuous: [age]", "missing: ["}},
      {"dashes_and_gaps",
       sheet({"a", "b", "target"},
             [](int i) {
               return Cells{i % 7 == 3 ? "-" : std::to_string(i),
                            i % 8 == 5 ? "n/a" : std::to_string(i * i % 31),
                            i % 11 == 6 ? "" : std::to_string(2 * i) + ".5"};
             }),
       {"missing values are written '-' too", "4 rows without a 'target', which count in no loss"},
       {"target: [target]"}},
  };
}

std::vector<CsvCase> odd() {
  const auto numbers = [](int i) {
    return Cells{std::to_string(i % 13) + ".5", std::to_string(i * 7 % 11), i % 2 ? "a" : "b"};
  };
  std::string titled = "Exported by Immo 3.1\n\n" + sheet({"area", "rooms", "kind"}, numbers);
  std::string wide_header = "y";
  for (int i = 0; i < 300; ++i) wide_header += ",f" + std::to_string(i);
  std::string wide = wide_header + "\n";
  for (int row = 0; row < kSheetRows; ++row) {
    wide += row % 2 ? "1" : "0";
    for (int i = 0; i < 300; ++i) wide += "," + std::to_string((row * 31 + i * 17) % 101);
    wide += "\n";
  }
  return {
      {"headless",
       sheet({}, numbers),
       {"no header: columns are column_1"},
       {"csv: {header: false}", "target: column_3"}},
      {"duplicate_names",
       sheet({"x", "x", "y"}, numbers),
       {"columns of one name are numbered"},
       {"duplicate_names: number", "continuous: [x, x.1]"}},
      {"trailing_separators",
       sheet(
           {"a", "b", "class", ""},
           [&](int i) {
             auto row = numbers(i);
             row.emplace_back();
             return row;
           },
           ";"),
       {"left out, since all rows are the same: "},
       {"continuous: [a, b]"}},
      {"quoted_newlines",
       sheet({"note", "size", "kind"},
             [](int i) {
               return Cells{"\"two\nlines, \"\"quoted\"\" " + std::to_string(i % 3) + "\"",
                            std::to_string(i), i % 2 ? "a" : "b"};
             }),
       {"48 rows in 2 classes"},
       {"categories: [note]"}},
      {"titles_before_the_header", titled, {"2 lines before the header"}, {"skip_lines: 2"}},
      {"comments_before_the_header",
       "# made by a machine\n# in 2024\n" + sheet({"a", "b", "kind"}, numbers),
       {"2 lines before the header"},
       {"skip_lines: 2"}},
      {"wide", wide, {"300 columns of numbers"}, {"target: y", "task: classification"}},
      {"tiny",
       "a,b,kind\n1,2,x\n2,1,y\n3,5,x\n4,4,y\n5,3,x\n6,9,y\n7,7,x\n8,2,y\n9,1,x\n3,2,y\n",
       {"10 rows in 2 classes"},
       {"task: classification"}},
      {"iso_times",
       sheet({"pickup_date", "distance", "fare"},
             [](int i) {
               return Cells{"2023-0" + std::to_string(1 + i % 9) + "-11 1" +
                                std::to_string(i % 10) + ":30:00",
                            std::to_string(i % 17), std::to_string(5 + 2 * (i % 17)) + ".25"};
             }),
       {"1 column of dates"},
       {"dates: [{column: pickup_date, time: true}]"}},
      {"reviews",
       sheet({"review", "stars"},
             [](int i) {
               return Cells{sentence(i), i % 2 ? "good" : "bad"};
             }),
       {"texts: column 'review'"},
       {"type: text_csv"}},
      {"text_by_flag",
       sheet(flats_header(), flats_row),
       {"texts: column 'description'", "left out: id, town, area, rooms, country, price_eur"},
       {"type: text_csv", "label: agent"},
       {"--text", "description", "--target", "agent"}},
      {"table_by_flag",
       sheet({"review", "length", "stars"},
             [](int i) {
               return Cells{sentence(i), std::to_string(i), i % 2 ? "good" : "bad"};
             }),
       {"left out, since they are free text: review"},
       {"type: csv_table"},
       {"--table"}},
  };
}

class InitOfCsv : public testing::TestWithParam<CsvCase> {};

TEST_P(InitOfCsv, TrainsAStepAndPredictsTheFile) {
  const auto& c = GetParam();
  const Folder folder;
  write(folder / "data.csv", c.text);
  Cells command{"init", "data.csv", "mine.yaml"};
  command.insert(command.end(), c.flags.begin(), c.flags.end());
  const auto output = run(command, folder.path());
  ASSERT_EQ(output.code, 0) << output.err;
  const auto recipe = read(folder / "mine.yaml");
  for (const auto& part : c.output)
    EXPECT_THAT(output.out, testing::HasSubstr(part)) << "no '" << part << "' in\n" << output.out;
  for (const auto& part : c.recipe)
    EXPECT_THAT(recipe, testing::HasSubstr(part)) << "no '" << part << "' in\n" << recipe;
  const auto checked = run({"validate", "--level", "data", "--strict", "mine.yaml"}, folder.path());
  EXPECT_EQ(checked.code, 0) << checked.err << checked.out << recipe;
  const auto ended = run({"run", "mine.yaml", "train.duration=1 steps"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err << recipe;
  const auto predicted = run({"predict", "runs/mine/latest", "data.csv"}, folder.path());
  EXPECT_EQ(predicted.code, 0) << predicted.err;
}

std::string name_of_case(const testing::TestParamInfo<CsvCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(European, InitOfCsv, testing::ValuesIn(european()), name_of_case);
INSTANTIATE_TEST_SUITE_P(American, InitOfCsv, testing::ValuesIn(american()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Odd, InitOfCsv, testing::ValuesIn(odd()), name_of_case);

}  // namespace
}  // namespace ddptrain::end_to_end
