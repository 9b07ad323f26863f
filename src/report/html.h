// HTML from text that others wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/output/named_table.h"

namespace ddptrain {

/// Text as HTML, in content and in quoted attributes: nothing in it is markup.
std::string escaped(std::string_view text);

/// A name from data (a class, a file, a key) as inline HTML of its own direction of writing.
/// Control characters are shown, not obeyed, and of a long name the middle is left out.
std::string name_html(std::string_view name);

/// A metric for people, 4 significant digits; "–" where it is not a number.
std::string number_html(double value);

/// 0 to 1 as a bar and in percent.
std::string share_html(double share);

/// A cell is HTML; numbers are aligned right.
struct HtmlTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> numeric;  // of each column; none: the first is text, the others are numbers
};

/// A table that scrolls within the page where it is wider.
std::string to_html(const HtmlTable& table);

std::string paragraph(std::string_view text);  // of plain text

/// "best weights, step 1200", "–" where they are not known.
std::string weights_html(const ScoredWeights& weights);

/// The name of a table and the weights that it is of.
std::string title_html(const NamedTable& table);

}  // namespace ddptrain
