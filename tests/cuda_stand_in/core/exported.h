// What the stand-ins share with each other: everything else is hidden, so that nothing of theirs
// takes the place of a function of the program.
#pragma once

#define STAND_IN_API __attribute__((visibility("default")))
