#include "sources/synthetic/houses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/random.h"
#include "sources/synthetic/new_file.h"

namespace ddptrain {
namespace {

constexpr std::array<std::string_view, 5> districts{"harbour", "hill", "market", "old town",
                                                    "station"};
constexpr std::array<int, 5> rates{42, 36, 27, 30, 19};  // hundreds for each square meter
constexpr std::array<std::string_view, 4> heatings{"district", "gas", "heat pump", "oil"};
constexpr std::array<int, 4> comforts{15, 0, 30, -20};

struct House {
  int area, rooms, year, garden;  // square meters, number, year built, square meters
  std::size_t district, heating;
};

House draw_house(Stream& random) {
  House house{};
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random.below(n)); };
  house.area = 30 + below(90) + below(90);
  house.rooms = 1 + house.area / 35 + below(2);
  house.year = 1900 + below(120);
  house.garden = below(3) == 0 ? 20 + below(400) : 0;
  house.district = random.below(districts.size());
  house.heating = random.below(heatings.size());
  return house;
}

/// In thousands.
int price_of(const House& house, Stream& random) {
  const int age = 2020 - house.year;
  const bool listed = house.district == 3 && age > 80;  // old ones of the old town
  int price = house.area * rates[house.district] / 10 + 12 * house.rooms + house.garden / 5;
  price += comforts[house.heating] + (listed ? 60 : -age * house.area / 150);
  for (int i = 0; i < 12; ++i) price += static_cast<int>(random.below(13)) - 6;
  return std::clamp(price, 50, 950);
}

std::string line_of(const House& house, int price, Stream& random) {
  const auto unless_lost = [&](auto text, std::uint64_t one_in) {
    return random.below(one_in) == 0 ? std::string() : std::string(text);
  };
  std::string line = fmt::format("{},{},", house.area, house.rooms);
  line += unless_lost(std::to_string(house.year), 15) + ",";
  line += fmt::format("{},{},", house.garden, districts[house.district]);
  return fmt::format("{}{},{}\n", line, unless_lost(heatings[house.heating], 25), price);
}

}  // namespace

std::string houses_csv(const HousesOptions& options) {
  std::string text = "area,rooms,year,garden,district,heating,price\n";
  const auto key = mix(options.seed, hash_text("houses"));
  for (int row = 0; row < options.rows; ++row) {
    Stream random(key, static_cast<std::uint64_t>(row));
    const auto house = draw_house(random);
    const int price = price_of(house, random);
    text += line_of(house, price, random);
  }
  return text;
}

bool make_houses(const std::string& folder, const HousesOptions& options) {
  return write_new(folder, "houses.csv", houses_csv(options));
}

}  // namespace ddptrain
