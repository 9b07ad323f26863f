// The JSON Schema of recipes as text, which the build takes from the program without it.

// NOLINTNEXTLINE: C++20 has no other way to take a file in
asm(".section .rodata\n"
    ".global ddptrain_schema\n"
    "ddptrain_schema: .incbin \"" DDPTRAIN_SCHEMA
    "\"\n"
    ".byte 0\n"
    ".section .text\n");
