// Every kind of component in one place, for those who check, describe and list.
#pragma once

#include "config/catalog.h"

namespace ddptrain {

const Catalogs& all_catalogs();

}  // namespace ddptrain
