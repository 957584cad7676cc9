# find_package(Luminal) for the package of Python: Luminal::luminal-c, the C interface, and the program Luminal::luminal-run.
get_filename_component(_luminal "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Luminal::luminal-c)
  add_library(Luminal::luminal-c SHARED IMPORTED)
  set_target_properties(Luminal::luminal-c PROPERTIES
    IMPORTED_LOCATION "${_luminal}/lib/libluminal.so" INTERFACE_INCLUDE_DIRECTORIES "${_luminal}/include")
  add_executable(Luminal::luminal-run IMPORTED)
  set_target_properties(Luminal::luminal-run PROPERTIES IMPORTED_LOCATION "${_luminal}/bin/luminal-run")
endif()
unset(_luminal)
