# Names that a library of NVIDIA exports, as functions that say which one was called (called_without).
# Those that the stand-in has are not taken: these are weak.
#   cmake -DLIBRARY=... -DOUTPUT=... -DVERSION=... -DMAP=... -DNM=nm -P exports.cmake
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[TWi] [A-Za-z_][A-Za-z0-9_]*" names "${table}")
list(TRANSFORM names REPLACE "^. " "")
list(REMOVE_DUPLICATES names)
set(text "extern \"C\" {\n[[noreturn]] int ddptrain_stand_in_lacks(const char* name);\n")
foreach(name IN LISTS names)
  if(NOT name MATCHES "^_(init|fini)$")
    string(APPEND text "__attribute__((weak, visibility(\"default\"))) int ${name}() {\n"
                       "  return ddptrain_stand_in_lacks(\"${name}\");\n}\n")
  endif()
endforeach()
file(WRITE ${OUTPUT} "${text}}\n")
file(WRITE ${MAP} "${VERSION} { global: *; };\n")
